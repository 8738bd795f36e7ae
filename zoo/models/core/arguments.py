"""Checks of constructor arguments; errors name the argument, what came and what was expected."""

from collections.abc import Sequence
from numbers import Real
from typing import Any


def check_sizes(**sizes: Any) -> None:
    """Raises a ValueError for the first of ``sizes`` that is not a positive integer."""
    for name, size in sizes.items():
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ValueError(f"{name} must be a positive integer, got {size!r}")


def check_rate(name: str, value: Any) -> None:
    """Raises a ValueError if ``value`` is not a number in [0, 1)."""
    if not isinstance(value, Real) or not 0 <= float(value) < 1:
        raise ValueError(f"{name} must be at least 0 and less than 1, got {value!r}")


def check_choice(name: str, value: Any, options: Sequence[Any]) -> None:
    """Raises a ValueError if ``value`` is none of ``options``."""
    if value not in options:
        raise ValueError(f"{name} must be one of {list(options)}, got {value!r}")
