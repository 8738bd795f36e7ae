"""Runs the notebooks of this folder and writes their outputs into them.

    pip install -e '.[notebooks]'
    python docs/notebooks/execute.py                        # all of them, a minute or more each
    python docs/notebooks/execute.py attention_tutorial     # one of them

Each runs from top to bottom in a kernel of its own. Times and counts of executions are left out, so
that a notebook changes only where its text, its code or its results do.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from zoo.files import whole_text

FOLDER = Path(__file__).resolve().parent
_KEPT_OF_NOTEBOOK = ("kernelspec", "language_info")
_KEPT_OF_CELL = ("tags",)
_LANGUAGE = {"name": "python"}  # without the version of the machine


def notebook_names() -> list[str]:
    """Lists the notebooks of this folder."""
    return sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def execute(name: str) -> None:
    """Runs one notebook, and writes it with its outputs once all of it has run.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed; the file is as before.
    """
    import nbformat  # needed only here: the tests clean notebooks without it
    from nbclient import NotebookClient

    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"  # what TensorFlow logs depends on the machine
    path = FOLDER / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=1800,
        record_timing=False,
        resources={"metadata": {"path": str(FOLDER)}},
    ).execute()
    nbformat.validate(notebook)
    with whole_text(path) as file:
        file.write(as_text(clean(notebook)))


def clean(notebook: dict[str, Any]) -> dict[str, Any]:
    """Returns a notebook without the metadata that change from one machine or run to the next."""
    metadata = {key: notebook["metadata"][key] for key in _KEPT_OF_NOTEBOOK}
    cells = [_clean_cell(dict(cell)) for cell in notebook["cells"]]
    return dict(notebook) | {"cells": cells, "metadata": metadata | {"language_info": _LANGUAGE}}


def as_text(notebook: dict[str, Any]) -> str:
    """Writes a notebook as Jupyter does, with lists of lines, so that differences can be read."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _clean_cell(cell: dict[str, Any]) -> dict[str, Any]:
    old = cell["metadata"]
    kept = {key: old[key] for key in _KEPT_OF_CELL if key in old}
    cleaned = cell | {"metadata": kept, "source": _lines(cell["source"])}
    return cleaned | ({"outputs": _joined(cell["outputs"])} if "outputs" in cell else {})


def _joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Joins what one cell has printed: how it is cut depends on the speed of the machine."""
    found: list[dict[str, Any]] = []
    for output in outputs:
        cleaned = dict(output)
        if "data" in output:
            shown = output["data"].items()
            cleaned["data"] = {
                kind: _lines(value) if kind.startswith("text/") else value for kind, value in shown
            }
        if "text" in output:
            cleaned["text"] = _lines(output["text"])
            if found and found[-1].get("name") == output["name"]:
                cleaned["text"] = _lines([*found.pop()["text"], *cleaned["text"]])
        found.append(cleaned)
    return found


def _lines(text: str | list[str]) -> list[str]:
    return "".join(text).splitlines(keepends=True)


if __name__ == "__main__":
    for name in sys.argv[1:] or notebook_names():
        print(name, flush=True)
        execute(name)
