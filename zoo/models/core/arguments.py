"""Checks of arguments and inputs; errors name the argument, what came and what was expected."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from zoo.ops.numbers import is_finite


def check_sizes(**sizes: Any) -> None:
    """Raises a ValueError for the first of ``sizes`` that is not a positive integer."""
    for name, size in sizes.items():
        if not is_whole(size) or size < 1:
            raise ValueError(f"{name} must be a positive integer, got {size!r}")


def check_pair(name: str, value: Any) -> None:
    """Raises a ValueError if ``value`` is not a pair of positive integers, such as a grid's."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f"{name} must be a pair of positive integers, got {value!r}")
    check_sizes(**{f"{name}[0]": value[0], f"{name}[1]": value[1]})


def is_whole(value: Any) -> bool:
    """Tells whether a value is an integer, of Python or of NumPy."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_positive(**numbers: Any) -> None:
    """Raises a ValueError for the first of ``numbers`` that is no finite number above 0."""
    for name, number in numbers.items():
        if not is_finite(number) or not number > 0:
            raise ValueError(f"{name} must be positive and finite, got {number!r}")


def check_not_negative(**numbers: Any) -> None:
    """Raises a ValueError for the first of ``numbers`` that is no finite number from 0 on."""
    for name, number in numbers.items():
        if not is_finite(number) or not number >= 0:
            raise ValueError(f"{name} must be at least 0 and finite, got {number!r}")


def check_choice(name: str, value: Any, options: Sequence[Any]) -> None:
    """Raises a ValueError if ``value`` is none of ``options``."""
    # True is equal to 1, but no number of layers.
    if value not in options or (isinstance(value, bool) and all(value is not o for o in options)):
        raise ValueError(f"{name} must be one of {list(options)}, got {value!r}")


def check_table_dtype(name: str, value: Any) -> None:
    """Raises a ValueError if ``value`` is neither None nor the name of a type of floats."""
    if value is not None:
        check_choice(name, value, ("float16", "bfloat16", "float32", "float64"))


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
