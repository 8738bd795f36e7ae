"""Spellings of values: white space around them, and numbers and truth values as categories."""

from collections.abc import Collection
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
import tensorflow as tf

from zoo.serving.strict_json import shown

_MOSTLY = 0.95
"""Share of the values of a column that are numbers, of which others are taken for mistakes."""
_MANY = 20
"""Different numbers that a column of numbers has at least; fewer may be codes."""
# All that `str.strip` takes for white space: in ASCII, and beyond.
_SPACE = r"\t-\r\x1c-\x20\x{85}\x{a0}"
_SPACE += r"\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_AROUND = f"^[{_SPACE}]+|[{_SPACE}]+$"


def strip(strings: tf.Tensor) -> tf.Tensor:
    """Strips white space in the graph as `str.strip` does.

    `tf.strings.strip` knows ASCII alone, and leaves the ideographic space for instance.
    """
    return tf.strings.regex_replace(strings, _AROUND, "")


def spelled(value: Any, known: Collection[str]) -> Any:
    """Spells a truth value or whole number as a known category, if there is one; others stay."""
    if isinstance(value, bool | np.bool_):
        text = str(value)
        spellings = [text, text.lower(), text.upper()]
    elif isinstance(value, Integral) or (
        isinstance(value, float | np.floating) and value.is_integer()
    ):
        text = str(int(value))
        spellings = [text, f"{text}.0"]
    else:
        return value
    return next((one for one in spellings if one in known), text)


def all_strange(strings: pd.Series, categories: Collection[str]) -> str:
    """Tells of a column that has values, of which none is a known category; empty: it is not so."""
    values = strings.dropna()
    if not len(values) or values.isin([*categories]).any():
        return ""
    return (
        f"{strings.name}: no value is a category that training knew, so that all are missing, such"
        f" as {shown(values.iloc[0])}; known: {shown([*categories])}"
    )


def refuse_misspelt(strings: pd.Series) -> None:
    """Refuses a column of numbers but for few values, which would make categories of all.

    Args:
        strings: the column, missing values among them.

    Raises:
        ValueError: it is one; names column, row and value.
    """
    values = strings.dropna()
    numbers = pd.to_numeric(values, errors="coerce")
    wrong = numbers.isna()
    if wrong.any() and 1 - wrong.mean() >= _MOSTLY and numbers.nunique() >= _MANY:
        place = int(wrong.to_numpy().argmax())
        raise ValueError(
            f"{strings.name} of row {values.index[place]} must be a number, as {_MOSTLY:.0%} of the"
            f" column are, got {shown(values.iloc[place])}: mend it, leave the cell empty, or name"
            " the column in --categorical"
        )
