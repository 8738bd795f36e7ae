"""`python -m runner TEXT [TEXT]`: answers as JSON, from the model in the folder above this one."""

import json
import sys
from pathlib import Path

import numpy as np

from .model import load_model


def main() -> None:
    """Reads the inputs from the command line, in the order of the model's manifest."""
    model = load_model(Path(__file__).resolve().parent.parent)
    names, given = model.inputs, sys.argv[1:]
    if len(given) != len(names):
        sys.exit(f"error: texts must be {len(names)}, {', '.join(names)}, got {len(given)}")
    answer = model.answer(**dict(zip(names, given, strict=True)))
    shown = {k: v for k, v in answer.items() if not (isinstance(v, np.ndarray) and v.ndim > 1)}
    sys.stdout.write(json.dumps(shown, ensure_ascii=False, default=_plain) + "\n")


def _plain(value: np.ndarray | np.generic) -> object:
    """Numbers of NumPy as JSON knows them."""
    return value.tolist()


if __name__ == "__main__":
    main()
