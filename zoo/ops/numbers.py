"""Checks of plain numbers, for arguments of layers and models."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np


def is_finite(value: Any) -> bool:
    """Tells whether a value is a number, of Python or of NumPy, and neither NaN nor infinite."""
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def check_rate(name: str, value: Any) -> float:
    """Returns ``value``, also of NumPy, as a float; raises a ValueError if it is not in [0, 1)."""
    if not is_finite(value) or not 0 <= float(value) < 1:
        raise ValueError(f"{name} must be at least 0 and less than 1, got {value!r}")
    return float(value)


def check_size(name: str, size: Any) -> int:
    """Returns ``size``, also of NumPy, as an int; raises a ValueError if it is not positive."""
    if isinstance(size, bool) or not isinstance(size, Integral) or size < 1:
        raise ValueError(f"{name} must be a positive integer, got {size!r}")
    return int(size)


def check_count(name: str, value: Any) -> int:
    """Returns ``value``, also of NumPy, as an int; raises a ValueError if it is negative."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise ValueError(f"{name} must be an integer of at least 0, got {value!r}")
    return int(value)


def check_flag(name: str, value: Any) -> bool:
    """Returns ``value``, also of NumPy, as a bool; raises a ValueError if it is not one.

    Else ``"false"``, which is true, would be taken in silence.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)
