"""Checks of what callers give: columns of values, options, and numbers."""

from collections.abc import Iterable, KeysView, Mapping, Set
from numbers import Integral, Real
from typing import Any

import numpy as np

_SHOWN = 60  # characters of a value in an error


def read_list(name: str, expected: str, value: Any) -> list[Any]:
    """Lists the values of a list, an array, a Series, a generator, or the like.

    Args:
        name: Of the argument, for the error.
        expected: What it must be, likewise.
        value: What was given.

    Raises:
        ValueError: It is no list in the sense of `is_list`.
    """
    if not is_list(value):
        raise no_list(name, expected, value)
    return list(value)


def is_list(value: Any) -> bool:
    """Tells whether a value holds values one after the other; text is a single value."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return False
    return not is_misleading(value) and getattr(value, "ndim", 1) > 0


def is_misleading(value: Any) -> bool:
    """Tells whether a value can be gone through, but not for values in their order.

    Of mappings and tables that would give names, of sets any order; the keys of a dict have one.
    """
    unordered = isinstance(value, Set) and not isinstance(value, KeysView)
    return unordered or isinstance(value, Mapping) or _is_table(value)


def no_list(name: str, expected: str, value: Any) -> ValueError:
    """Makes the error of a value that is no list."""
    if _is_table(value):
        got = f"{type(value).__name__}: give one of its columns"
    else:
        got = described(value)
    return ValueError(f"{name} must be {expected}, got {got}")


def given_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Leaves out options that are None, and `heads` where they are not wanted.

    Raises:
        ValueError: `heads` is no truth value.
    """
    given = {key: value for key, value in options.items() if value is not None}
    if not isinstance(heads := given.get("heads", True), bool | np.bool_):
        raise ValueError(f"heads must be True or False, got {heads!r}")
    if not heads:
        del given["heads"]
    return given


def read_count(name: str, value: Any, least: int = 1, most: int | None = None) -> int:
    """Reads a whole number, Python's or NumPy's.

    Raises:
        ValueError: It is none, a truth value, too small or too large; names it.
    """
    whole = isinstance(value, Integral) and is_number(value)
    if not whole or value < least or (most is not None and value > most):
        limit = "" if most is None else f" and at most {most}"
        raise ValueError(f"{name} must be a whole number of at least {least}{limit}, got {value!r}")
    return int(value)


def is_number(value: Any) -> bool:
    """Tells whether a value is a real number, Python's or NumPy's; truth values are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def described(value: Any) -> str:
    """Describes a value for an error: its type and how it begins."""
    return f"{type(value).__name__} {str(value)[:_SHOWN]!r}"


def _is_table(value: Any) -> bool:
    """Tells whether a value is a DataFrame, of any library: a call need not import pandas."""
    return hasattr(type(value), "columns")  # of the type: a Series may have a row of that name
