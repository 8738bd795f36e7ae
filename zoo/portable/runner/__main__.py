"""`python -m runner INPUT [INPUT]`: answers as JSON, from the model in the folder above this one.

An input is a text, the name of a file of an array that ends in `.npy`, or, where the model reads
numbers or rows, JSON.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .model import load_model

_OF_NUMBERS = ("image", "row", "vectors")


def main() -> None:
    """Reads the inputs from the command line, in the order of the model's manifest."""
    try:
        model = load_model(Path(__file__).resolve().parent.parent)
        names, given = model.inputs, sys.argv[1:]
        if len(given) != len(names):
            sys.exit(f"error: inputs must be {len(names)}, {', '.join(names)}, got {len(given)}")
        answer = model.answer(**{k: _read(k, v) for k, v in zip(names, given, strict=True)})
    except (OSError, ValueError, EOFError) as error:
        sys.exit(f"error: {error}")
    _write({k: v for k, v in answer.items() if not (isinstance(v, np.ndarray) and v.ndim > 1)})


def _write(answer: dict[str, Any]) -> None:
    """Writes an answer to standard output; ends with an error where that cannot be done."""
    if sys.stdout is None:
        sys.exit("error: standard output is closed")
    text = json.dumps(answer, ensure_ascii=False, default=_plain)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        text = json.dumps(answer, default=_plain)
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except OSError as error:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # else Python tries again at exit
        sys.exit(f"error: {error}")


def _read(name: str, value: str) -> Any:
    """An input as the model takes it."""
    if value.endswith(".npy"):
        return np.load(value)
    if name not in _OF_NUMBERS:
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError(f"{name} must be JSON or a file that ends in .npy, got {value}") from None


def _plain(value: np.ndarray | np.generic) -> object:
    """Numbers of NumPy as JSON knows them, None where they are not finite."""
    values = np.asarray(value).astype(object)
    if value.dtype.kind == "f":
        values[~np.isfinite(value)] = None
    return values.tolist()


if __name__ == "__main__":
    main()
