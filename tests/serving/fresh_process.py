"""Asks SavedModels for their answers in a process that has only TensorFlow and tensorflow-text."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

_CHILD = Path(__file__).with_name("child.py")


class Request(NamedTuple):
    """Request to a SavedModel."""

    folder: Path
    inputs: dict[str, Any]
    """Lists or arrays of str or bytes, or numbers."""
    signature: str = "serving_default"


def serve_in_fresh_process(
    requests: Sequence[Request], scratch: Path
) -> list[dict[str, dict[str, np.ndarray]]]:
    """Loads each folder with both loaders and runs the signature; one process for all requests.

    Args:
        requests: What to ask.
        scratch: Folder for the files by which the processes talk.

    Returns:
        For each request, "current" and "v1" -> name of an output -> value.
    """
    asked = [
        {
            "folder": str(request.folder),
            "inputs": {name: _plain(value) for name, value in request.inputs.items()},
            "signature": request.signature,
        }
        for request in requests
    ]
    (scratch / "request.json").write_text(json.dumps(asked))
    child = subprocess.run(
        [sys.executable, "-I", _CHILD, scratch / "request.json", scratch / "answer.json"],
        cwd=scratch,
        env={k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "KERAS", "ZOO"))},
        capture_output=True,
        text=True,
        timeout=600,
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
    if isinstance(value, list):
        value = np.array([*value, None], object)[:-1]
    array = np.asarray(value)
    if all(isinstance(item, (str, bytes)) for item in array.ravel()):
        texts = [item.encode() if isinstance(item, str) else item for item in array.ravel()]
        return {"strings": [text.decode("latin-1") for text in texts], "shape": array.shape}
    return {"numbers": array.tolist(), "dtype": array.dtype.name}


def _array(value: dict[str, Any]) -> np.ndarray:
    if "strings" in value:
        texts = [text.encode("latin-1") for text in value["strings"]]
        return np.array([*texts, None], dtype=object)[:-1].reshape(value["shape"])
    return np.array(value["numbers"], value["dtype"]).reshape(value["shape"])
