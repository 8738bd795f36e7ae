"""Notebooks as Markdown: their cells, with the outputs that are stored in them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def pages(docs: Path) -> Iterator[tuple[str, str]]:
    """Yields the path and the Markdown of the page of each notebook."""
    for path in sorted(docs.glob("notebooks/*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        title, _, text = "\n\n".join(map(_cell, cells)).partition("\n")
        download = f'<a href="../{path.name}" download>Download this notebook</a>'
        text = f"{title}\n\n{download}\n{text}\n"
        yield path.relative_to(docs).with_suffix(".md").as_posix(), text


def _cell(cell: dict[str, Any]) -> str:
    """Writes a cell, and the outputs below it."""
    text = "".join(cell["source"])
    if cell["cell_type"] != "code":
        return text
    return "\n\n".join([f"```python\n{text}\n```", *map(_output, cell["outputs"])])


def _output(output: dict[str, Any]) -> str:
    """Writes the best form of an output that was stored.

    Raises:
        ValueError: if the output is an error.
    """
    if output["output_type"] == "error":
        raise ValueError(f"outputs must not be errors, got {output['ename']}: {output['evalue']}")
    data = {kind: "".join(value) for kind, value in output.get("data", {}).items()}
    for kind in ("text/html", "image/svg+xml"):
        if kind in data:
            return f'<div class="output">{_one_block(data[kind])}</div>'
    if "image/png" in data:
        picture = "".join(data["image/png"].split())
        return f'<div class="output"><img alt="Output" src="data:image/png;base64,{picture}"></div>'
    text = data.get("text/plain", "".join(output.get("text", "")))
    return f"```text\n{text.rstrip()}\n```"


def _one_block(html: str) -> str:
    """Drops empty lines, at which Markdown would end the block."""
    return "\n".join(line for line in html.splitlines() if line.strip())
