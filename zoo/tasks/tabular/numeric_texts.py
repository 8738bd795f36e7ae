"""Numbers as tables and users write them. Without TensorFlow and pandas, for the command line."""

import math
import re

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "<NA>"})
"""Strings that stand for a missing value."""
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
"""A finite number in decimal digits, in Python and in the graph."""


def read_number(text: str) -> float:
    """Reads a number, NaN where it is missing.

    `float` alone would take `1_000` and digits of all scripts, which columns of tables do not.

    Raises:
        ValueError: it is no finite number in decimal digits.
    """
    stripped = text.strip()
    if stripped in MISSING:
        return math.nan
    if not re.fullmatch(NUMBER, stripped) or math.isinf(number := float(stripped)):
        raise ValueError(f"text must be a finite number in decimal digits, got {text!r}")
    return number
