"""Tables of strings that a pipeline is trained and scored on, checked row by row."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from zoo.pipelines.arguments import is_number, read_list

_SHOWN = 60  # characters of a text in an error


def read_table(data: Any, columns: Sequence[str], optional: Sequence[str] = ()) -> pd.DataFrame:
    """Reads columns of strings.

    Args:
        data: As in `read_columns`.
        columns: Names of the columns that must be there, strings all of them.
        optional: Further columns that are kept where they are there. All others are ignored.

    Returns:
        The columns, with rows numbered from 0.

    Raises:
        ValueError: As `read_columns`, or a value is no string, or none that UTF-8 can hold; names
            column and row, which counts from 0.
    """
    kept = read_columns(data, columns, optional)
    for name in columns:
        check_rows(name, kept[name], lambda value: isinstance(value, str), "a string")
        check_rows(name, kept[name], has_encoding, "text that UTF-8 can hold")
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in kept.items()})


def read_columns(
    data: Any, columns: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, list[Any]]:
    """Reads the columns of a table.

    Args:
        data: A pandas DataFrame, or a mapping from names to columns of equal length.
        columns: Names of the columns that must be there.
        optional: Further columns that are kept where they are there. All others are ignored.

    Returns:
        Name -> values.

    Raises:
        ValueError: Something else, a column that is missing or there twice, or is no list, columns
            of different lengths, or no row.
    """
    if not isinstance(data, pd.DataFrame | Mapping):
        raise ValueError(
            "data must be a pandas DataFrame or a dict of columns with the names"
            f" {', '.join(columns)}, got {type(data).__name__}"
        )
    missing = [name for name in columns if name not in data]
    if missing:
        raise ValueError(
            f"data must have the columns {', '.join(columns)}, got"
            f" {', '.join(map(str, data)) or 'none'}: {', '.join(missing)} is missing"
        )
    names = [name for name in (*columns, *optional) if name in data]
    if isinstance(data, pd.DataFrame):
        check_once("data", data, names)
    kept = {name: read_list(f"column {name}", "a list", data[name]) for name in names}
    lengths = {name: len(values) for name, values in kept.items()}
    if len({*lengths.values()}) > 1:
        raise ValueError(f"columns of data must have the same length, got {lengths}")
    if not lengths[columns[0]]:
        raise ValueError("data must have at least one row, got none")
    return kept


def check_once(name: str, frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """Raises ValueError for a column that a table has more than once: pandas gives all of them.

    Args:
        name: Of the table, for the error.
        frame: The table.
        columns: Those that are used.
    """
    for column in columns:
        if (count := [*frame].count(column)) > 1:
            raise ValueError(f"{name} must have column {column} once, got {count}")


def has_encoding(text: str) -> bool:
    """Tells whether UTF-8 can hold a text: not one with half of a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_missing(value: Any) -> bool:
    """Tells whether a cell is empty: None, NaN, NA or NaT."""
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def wrong(column: str, row: int, expected: str, value: Any) -> ValueError:
    """Makes the error of a value."""
    text = repr(value)
    shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    return ValueError(f"{column} of row {row} must be {expected}, got {shown}")


def check_rows(column: str, values: Iterable[Any], right: Callable[[Any], bool], told: str) -> None:
    """Raises ValueError for the first value that is not right.

    Args:
        column: Its name.
        values: Of each row.
        right: Whether a value is.
        told: What was expected.
    """
    for row, value in enumerate(values):
        if not right(value):
            raise wrong(column, row, told, value)


def split_table(
    frame: pd.DataFrame, share: float, seed: int, together: str | None = None
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Holds out a share of the rows, drawn at random.

    Args:
        frame: The rows.
        share: Of the rows, 0 for none.
        seed: Of the draw.
        together: Column of which rows with the same value stay together, so that what is held out
            is not known from the training; the share is then one of the different values. None:
            each row is drawn by itself.

    Returns:
        The rows to train on, and those held out, one at least; None if none is wanted.

    Raises:
        ValueError: The share is not from 0 to 1, or nothing would be left to train on.
    """
    if not is_number(share) or not 0 <= share < 1:
        raise ValueError(f"validation_split must be at least 0 and below 1, got {share!r}")
    if not share:
        return frame, None
    groups = np.arange(len(frame)) if together is None else pd.factorize(frame[together])[0]
    distinct = int(groups.max()) + 1
    count = max(1, round(share * distinct))
    if count >= distinct:
        of = f"{len(frame)} rows" if together is None else f"{distinct} texts of {together}"
        raise ValueError(f"validation_split must leave a row to train on, got {share} of {of}")
    order = np.random.default_rng(seed).permutation(distinct)
    held = np.isin(groups, order[:count])
    training, held_out = (frame[rows].reset_index(drop=True) for rows in (~held, held))
    return training, held_out


def lists_column(rows: Sequence[list[Any]]) -> pd.Series:
    """Makes a column of lists."""
    return pd.Series([*rows], dtype=object)
