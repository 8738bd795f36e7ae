"""Tests of plain numbers, for arguments of layers and models."""

import math
from numbers import Real
from typing import Any


def is_finite(value: Any) -> bool:
    """Tells whether a value is a number, of Python or of NumPy, and neither NaN nor infinite."""
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
