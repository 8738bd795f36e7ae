"""Sequences of vectors as a pipeline is given them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zoo.pipelines.arguments import is_list, no_list
from zoo.pipelines.questions import Questions


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
    if not single and not is_list(value):
        raise no_list("vectors", "a sequence of vectors or a list of these", value)
    rows = [value] if single else [*value]
    return Questions({"vectors": [_sequence(one, n) for n, one in enumerate(rows)]}, single)


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
    except (TypeError, ValueError, OverflowError):
        vectors = np.zeros(())
    if vectors.ndim != 2:
        raise ValueError(
            f"vectors[{number}] must be numbers of the shape (steps, size), got {str(value)[:60]!r}"
        )
    if not np.isfinite(vectors).all():  # one of them would stay in the memory for good
        step = int(np.argmin(np.isfinite(vectors).all(axis=1)))
        raise ValueError(f"vectors[{number}] must be finite numbers, got {vectors[step]} at {step}")
    return vectors
