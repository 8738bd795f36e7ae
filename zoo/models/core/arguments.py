"""Checks of arguments and inputs; errors name the argument, what came and what was expected."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from zoo.ops.numbers import check_size


def check_sizes(**sizes: Any) -> None:
    """Raises a ValueError for the first of ``sizes`` that is not a positive integer."""
    for name, size in sizes.items():
        check_size(name, size)


def check_pair(name: str, value: Any) -> None:
    """Raises a ValueError if ``value`` is not a pair of positive integers, such as a grid's."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f"{name} must be a pair of positive integers, got {value!r}")
    check_sizes(**{f"{name}[0]": value[0], f"{name}[1]": value[1]})


def check_input_shape(name: str, values: Any, shape: Sequence[int | None]) -> None:
    """Checks the sizes of an input that are known before it is computed.

    Args:
        name: the input's name, for the error.
        values: (B, *shape).
        shape: of one example, in which None matches any size.

    Raises:
        ValueError: if a known size, or the number of axes, is another one.
    """
    known = tuple(values.shape)
    if len(known) != len(shape) + 1 or any(
        None not in (size, wanted) and size != wanted
        for size, wanted in zip(known[1:], shape, strict=True)
    ):
        expected = ", ".join(map(str, ("batch", *shape)))
        raise ValueError(f"{name} must have the shape ({expected}), got {known}")


def without_numpy(value: Any) -> Any:
    """Replaces NumPy's numbers in a value, also in lists, tuples and dicts, by Python's."""
    if isinstance(value, np.generic):
        return value.item()
    if type(value) in (list, tuple):
        return type(value)(without_numpy(one) for one in value)
    if type(value) is dict:
        return {name: without_numpy(one) for name, one in value.items()}
    return value
