"""Spellings of values: white space around them, and numbers and truth values as categories."""

import re
from collections.abc import Collection
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
import tensorflow as tf

from zoo.serving.strict_json import shown
from zoo.tasks.tabular.numeric_texts import NUMBER

_WHOLE = r"([+-]?[0-9]+)\.0*"
_MOSTLY = 0.95
"""Share of the values of a column that are numbers, of which others are taken for mistakes."""
_MANY = 20
"""Different numbers that a column of numbers has at least; fewer may be codes."""
_NO_TEXT = (bytes, bytearray, list, tuple, dict, set, frozenset, np.ndarray)


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


def are_numbers(texts: Collection[str]) -> bool:
    """Tells whether all texts are numbers, and there is one."""
    return bool(texts) and all(re.fullmatch(NUMBER, text) for text in texts)


def spell_alike(strings: pd.Series) -> pd.Series:
    """Spells whole numbers without decimals where all values are numbers: ``1`` for ``1.0``.

    Zeros in front remain, as codes have them.

    Args:
        strings: the column, missing values among them.
    """
    if not are_numbers({*strings.dropna()}):
        return strings
    return strings.map(_without_decimals, na_action="ignore")


def spell_as(strings: pd.Series, known: Collection[str]) -> pd.Series:
    """Spells whole numbers as known categories, if all of those are numbers."""
    if not are_numbers(known):
        return strings
    spellings = {_without_decimals(one): one for one in known} | {one: one for one in known}

    def spell(text: str) -> str:
        return spellings.get(text) or spellings.get(_without_decimals(text), text)

    return strings.map(spell, na_action="ignore")


def spell_in_graph(strings: tf.Tensor, known: Collection[str]) -> tf.Tensor:
    """Spells whole numbers as `spell_as`, if no known category has decimals of zeros."""
    if not are_numbers(known) or any(_without_decimals(one) != one for one in known):
        return strings
    return tf.strings.regex_replace(strings, f"^{_WHOLE}$", r"\1")


def _without_decimals(text: str) -> str:
    whole = re.fullmatch(_WHOLE, text)
    return whole[1] if whole else text


def all_strange(strings: pd.Series, categories: Collection[str]) -> str:
    """Tells of a column that has values, of which none is a known category; empty: it is not so."""
    values = strings.dropna()
    if not len(values) or values.isin([*categories]).any():
        return ""
    return (
        f"{strings.name}: no value is a category that training knew, so that all are missing, such"
        f" as {shown(values.iloc[0])}; known: {shown([*categories])}"
    )


def refuse_no_text(values: pd.Series) -> None:
    """Refuses bytes and lists, which would be written out: b'red' is not the category red.

    Raises:
        ValueError: a value is one; names column and row, as the column's index does.
    """
    for row, value in values.items():
        if isinstance(value, _NO_TEXT) and not (isinstance(value, np.ndarray) and value.ndim == 0):
            raise ValueError(
                f"{values.name} of row {row} must be text, a number or a truth value, got"
                f" {type(value).__name__} {shown(value)}"
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
