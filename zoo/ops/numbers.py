"""Checks of numbers, flags and choices, for arguments of layers and models."""

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

_TABLE_DTYPES = ("float16", "bfloat16", "float32", "float64")


def is_finite(value: Any) -> bool:
    """Tells whether a value is a number, of Python or of NumPy, and neither NaN nor infinite."""
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


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


def check_rate(name: str, value: Any) -> float:
    """Returns ``value``, also of NumPy, as a float; raises a ValueError if it is not in [0, 1)."""
    if not is_finite(value) or not 0 <= float(value) < 1:
        raise ValueError(f"{name} must be at least 0 and less than 1, got {value!r}")
    return float(value)


def check_size(name: str, size: Any) -> int:
    """Returns ``size``, also of NumPy, as an int; raises a ValueError if it is not positive."""
    if not is_whole(size) or size < 1:
        raise ValueError(f"{name} must be a positive integer, got {size!r}")
    return int(size)


def check_count(name: str, value: Any) -> int:
    """Returns ``value``, also of NumPy, as an int; raises a ValueError if it is negative."""
    if not is_whole(value) or value < 0:
        raise ValueError(f"{name} must be an integer of at least 0, got {value!r}")
    return int(value)


def check_flag(name: str, value: Any) -> bool:
    """Returns ``value``, also of NumPy, as a bool; raises a ValueError if it is not one.

    Else ``"false"``, which is true, would be taken in silence.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_choice(name: str, value: Any, options: Sequence[Any]) -> None:
    """Raises a ValueError if ``value`` is none of ``options``."""
    # True is equal to 1, but no number of layers.
    if value not in options or (isinstance(value, bool) and all(value is not o for o in options)):
        raise ValueError(f"{name} must be one of {list(options)}, got {value!r}")


def check_table_dtype(name: str, value: Any) -> None:
    """Raises a ValueError if ``value`` is neither None nor the name of a type of floats."""
    if value is not None and value not in _TABLE_DTYPES:
        raise ValueError(f"{name} must be None or one of {list(_TABLE_DTYPES)}, got {value!r}")
