"""Asks SavedModels for their answers in a process that has only TensorFlow and tensorflow-text."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

_CHILD = Path(__file__).with_name("child.py")
_OURS = ("PYTHON", "KERAS", "ZOO")
"""Beginnings of variables of the environment that the process does not get."""


class Request(NamedTuple):
    """Request to a SavedModel."""

    folder: Path
    inputs: dict[str, Any]
    """Lists or arrays of str or bytes, or numbers."""
    signature: str = "serving_default"


class FreshProcess:
    """The process, which imports TensorFlow once and answers as often as it is asked.

    Args:
        scratch: Folder for what it says of errors.
    """

    def __init__(self, scratch: Path) -> None:
        self._errors = scratch / "fresh_process.txt"
        with open(self._errors, "w") as errors:
            self._child = subprocess.Popen(
                [sys.executable, "-I", _CHILD],
                cwd=scratch,
                env={k: v for k, v in os.environ.items() if not k.startswith(_OURS)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def ask(self, requests: Sequence[Request]) -> list[dict[str, dict[str, np.ndarray]]]:
        """Loads each folder with both loaders and runs the signature.

        Args:
            requests: What to ask; those to one folder come one after another.

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
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, and has said why
            print(json.dumps(asked), file=self._child.stdin, flush=True)
        line = self._child.stdout.readline()
        assert line, self._errors.read_text()
        answer = json.loads(line)
        assert not answer["imports_zoo"]
        return [
            {
                loader: {name: _array(value) for name, value in outputs.items()}
                for loader, outputs in outputs_of.items()
            }
            for outputs_of in answer["answers"]
        ]

    def __enter__(self) -> "FreshProcess":
        return self

    def __exit__(self, *_: object) -> None:
        with self._child:
            self._child.kill()


def serve_in_fresh_process(
    requests: Sequence[Request], scratch: Path
) -> list[dict[str, dict[str, np.ndarray]]]:
    """Asks a process of its own, once; see `FreshProcess`."""
    with FreshProcess(scratch) as process:
        return process.ask(requests)


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
