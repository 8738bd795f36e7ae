"""Asks SavedModels for their answers in a process that has only TensorFlow and tensorflow-text."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

_CHILD = Path(__file__).with_name("child.py")


def serve_in_fresh_process(
    requests: list[tuple[Path, dict[str, Any]]], scratch: Path
) -> list[dict[str, dict[str, np.ndarray]]]:
    """Loads each folder with both loaders and runs its `serving_default`; one process for all.

    Args:
        requests: Folder of a SavedModel and its inputs: lists of str or bytes, or numbers.
        scratch: Folder for the files by which the processes talk.

    Returns:
        For each request, "current" and "v1" -> name of an output -> value.
    """
    asked = [
        {"folder": str(folder), "inputs": {k: _plain(value) for k, value in inputs.items()}}
        for folder, inputs in requests
    ]
    (scratch / "request.json").write_text(json.dumps(asked))
    child = subprocess.run(
        [sys.executable, "-I", _CHILD, scratch / "request.json", scratch / "answer.json"],
        cwd=scratch,
        env={k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "KERAS", "ZOO"))},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    answer = json.loads((scratch / "answer.json").read_text())
    assert not answer["imports_zoo"]
    return [
        {
            loader: {name: _array(value) for name, value in outputs.items()}
            for loader, outputs in outputs_of.items()
        }
        for outputs_of in answer["answers"]
    ]


def _plain(value: Any) -> dict[str, Any]:
    """Strings as Latin-1, in which every byte is a character."""
    if isinstance(value, list) and all(isinstance(item, (str, bytes)) for item in value):
        texts = [item.encode() if isinstance(item, str) else item for item in value]
        return {"strings": [text.decode("latin-1") for text in texts]}
    array = np.asarray(value)
    return {"numbers": array.tolist(), "dtype": array.dtype.name}


def _array(value: dict[str, Any]) -> np.ndarray:
    if "strings" in value:
        texts = [text.encode("latin-1") for text in value["strings"]]
        return np.array([*texts, None], dtype=object)[:-1].reshape(value["shape"])
    return np.array(value["numbers"], value["dtype"]).reshape(value["shape"])
