"""Sequences of vectors as a servable takes them, and its answers without their padding."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zoo.models.core.axes import Axes, Steps
from zoo.pipelines.questions import Questions
from zoo.serving.padding import texts_of

_OF_STEPS = ("probabilities", "reads", "adds", "erases")
"""Outputs (batch, T, ...), whose axes are not declared."""


def read_sequences(name: str, positional: Sequence[Any], named: Mapping[str, Any]) -> Questions:
    """Reads the sequences of a call.

    Args:
        name: of the model, for errors.
        positional: one sequence of vectors, (T, d), an array or lists of numbers; or several: a
            list of these, or an array (n, T, d).
        named: the same as `vectors`.

    Returns:
        The sequences as float32 arrays.

    Raises:
        ValueError: there is no such input, or a sequence is not of the shape (T, d), or not finite.
    """
    given = [*positional, *(value for key, value in named.items() if key == "vectors")]
    if len(given) != 1 or named.keys() - {"vectors"}:
        raise ValueError(
            f"inputs of {name} must be vectors, got {len(positional)} and {sorted(named)}"
        )
    value = given[0]
    single = _rank(value) == 2
    rows = [value] if single else [*value]
    return Questions({"vectors": [_sequence(one, n) for n, one in enumerate(rows)]}, single)


def pad_sequences(sequences: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Pads sequences (T, d) with zeros: `vectors` (n, T, d) and `length` (n,).

    Raises:
        ValueError: their vectors have different sizes.
    """
    sizes = sorted({one.shape[1] for one in sequences})
    if len(sizes) > 1:
        raise ValueError(f"vectors must have the same size in all sequences, got {sizes}")
    length = np.array([len(one) for one in sequences], "int32")
    vectors = np.zeros((len(sequences), length.max(initial=0), sizes[0]), "float32")
    for row, one in enumerate(sequences):
        vectors[row, : len(one)] = one
    return {"vectors": vectors, "length": length}


def without_padding(
    outputs: Mapping[str, np.ndarray], length: int, axes: Mapping[str, Axes] | None
) -> dict[str, np.ndarray]:
    """Cuts the outputs (1, ...) of a sequence to its steps."""
    found = {}
    for name, value in outputs.items():
        texts = texts_of(tuple((axes or {}).get(name, ())))
        if name in _OF_STEPS:
            value = value[:, :length]
        for place, (_, axis) in enumerate(texts, value.ndim - len(texts)):
            if isinstance(axis, Steps):
                value = np.take(value, range(length), axis=place)
        found[name] = value
    return found


def _rank(value: Any) -> int:
    """Number of axes of an array, or of lists that need not be of one length."""
    if isinstance(value, np.ndarray):
        return value.ndim
    if not isinstance(value, list | tuple):
        return np.ndim(value)
    return 1 + max((_rank(one) for one in value), default=0)


def _sequence(value: Any, number: int) -> np.ndarray:
    try:
        vectors = np.asarray(value, "float32")
    except (TypeError, ValueError):
        vectors = np.zeros(())
    if vectors.ndim != 2:
        raise ValueError(
            f"vectors[{number}] must be numbers of the shape (steps, size), got {str(value)[:60]!r}"
        )
    if not np.isfinite(vectors).all():  # one of them would stay in the memory for good
        step = int(np.argmin(np.isfinite(vectors).all(axis=1)))
        raise ValueError(f"vectors[{number}] must be finite numbers, got {vectors[step]} at {step}")
    return vectors
