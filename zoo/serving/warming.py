"""Asks a model once before others do: its first answers take up to a hundred times as long.

TensorFlow optimises a graph when it is first run, and makes the kernels of its operations.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from zoo.serving.servable import Servable, TensorInfo

_TEXT = "A man said that XXXXX was here ."
"""A text for every task: the blank is that of cloze questions."""
_ROWS_OF_TEXTS = "strings"
"""The signature whose texts may stand for numbers: "" is missing in any column of a table."""
_TIMES = 2
"""The first run makes a graph's plan, and the second one runs it as all later ones do."""


def warm_up(servable: "Servable") -> None:
    """Asks every signature of a model, for one example and for a batch.

    Args:
        servable: The model.

    Raises:
        ValueError: The model refuses what it is asked; names the signature.
    """
    limits = getattr(servable, "limits", {})
    for name, signature in servable.signatures.items():
        for rows in [1] * _TIMES + [2]:
            text = "" if name == _ROWS_OF_TEXTS else _TEXT
            inputs = {
                key: _example(key, info, rows, limits, text)
                for key, info in signature.inputs.items()
            }
            servable.ask(inputs, name)


def _example(
    name: str, info: "TensorInfo", rows: int, limits: Mapping[str, Any], text: str
) -> np.ndarray:
    """An input of a signature; what holds for all rows is as in the card, or else 1."""
    shape = [size or 1 for size in info.shape]
    if info.batched:
        shape[0] = rows
    if info.dtype == "string":
        return np.full(shape, text.encode(), object)
    value = limits.get(name, 1) if not shape else 0
    return np.full(shape, value, info.dtype)
