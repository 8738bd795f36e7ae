"""Asks a model a few times before others do: its first answers take up to a hundred times as long.

TensorFlow optimises a graph when it is first run, and makes the kernels of its operations.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from zoo.serving.servable import Servable, TensorInfo

_TEXT = "A man said that XXXXX was here ."
"""A text where the card has no example: the blank is that of cloze questions."""
_ROWS_OF_TEXTS = "strings"
"""The signature whose texts may stand for numbers: "" is missing in any column of a table."""
_TIMES = 2
"""The first run makes a graph's plan, and the second one runs it as all later ones do."""


def warm_up(servable: "Servable") -> None:
    """Asks every signature of a model, for one example and for a batch.

    Inputs are those of the card's example; a text or zeros for those that it lacks.

    Args:
        servable: The model.

    Raises:
        ValueError: The model refuses what it is asked; names each signature, and all others are
            warm.
    """
    refused = []
    for name in servable.signatures:
        try:
            for rows in [1] * _TIMES + [2]:
                servable.ask(_inputs(servable, name, rows), name)
        except ValueError as error:
            refused.append(str(error))
    if refused:
        raise ValueError("; ".join(refused))


def _inputs(servable: "Servable", signature: str, rows: int) -> dict[str, np.ndarray]:
    """Inputs of a signature."""
    limits, given = getattr(servable, "limits", {}), getattr(servable, "example", {})
    text = _TEXT
    if signature == _ROWS_OF_TEXTS:
        text, given = "", {}
    infos = servable.signatures[signature].inputs
    return {
        name: _repeated(given[name], info, rows)
        if name in given and info.batched
        else _made_up(name, info, rows, limits, text)
        for name, info in infos.items()
    }


def _repeated(value: Any, info: "TensorInfo", rows: int) -> np.ndarray:
    """The input of an example, once for each row."""
    texts = info.dtype == "string"
    if texts and isinstance(value, (list, tuple)):
        one = np.array([*value, None], object)[:-1]
    else:
        one = np.asarray(value, object if texts else info.dtype)
    return np.repeat(one[None], rows, axis=0)


def _made_up(
    name: str, info: "TensorInfo", rows: int, limits: Mapping[str, Any], text: str
) -> np.ndarray:
    """An input without an example; what holds for all rows is as in the card, or else 1."""
    shape = [size or 1 for size in info.shape]
    if info.batched:
        shape[0] = rows
    if info.dtype == "string":
        return np.full(shape, text.encode(), object)
    value = limits.get(name, 1) if not shape else 0
    return np.full(shape, value, info.dtype)
