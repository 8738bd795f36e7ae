r"""Tables of a user's own as pandas frames: CSV, TSV and JSON lines, by columns' names or numbers.

    question,context,answer
    Who sang?,"Ada sang, and Bo danced.",Ada

- `.csv`: separated by commas, with double quotes around values that hold commas, quotes or line
  breaks. `.tsv` and `.txt`: separated by tabs, quotes being ordinary text. Both begin with a line
  of names, unless the columns are given by numbers, from 0; a first line of the names that the
  columns have by default is refused then.
- `.jsonl`: one object per line, without a name twice. Numbers are finite, and taken as they are
  written: 1.10 is not 1.1.

Any of them may end in `.gz`. A table is read as it is or refused with the line: no value is
guessed, dropped or filled in.
"""

import csv
import io
import itertools
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import pandas as pd

from zoo.text_files import read_text, split_lines

ENDINGS = (".csv", ".tsv", ".txt", ".jsonl")

_SHOWN = 60
_Row = tuple[int, list[str] | dict[str, Any]]


class _Number(float):
    """Number that is shown as it was written."""

    text: str

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __repr__(self) -> str:
        return self.text


def ending(path: str | os.PathLike[str]) -> str:
    """Returns the ending of a name, such as ".csv", that of `.gz` left out."""
    name = Path(path).name.lower().removesuffix(".gz")
    return Path(name).suffix


def read_table(
    path: str | os.PathLike[str], columns: Mapping[str, str], optional: Collection[str] = ()
) -> pd.DataFrame:
    """Reads columns of a table.

    Args:
        path: The file; its ending tells the format.
        columns: Name in the frame -> name in the file, or number, from 0, of tables without names.
        optional: Names in the frame that the file may lack; so does the frame then.

    Returns:
        A column of strings for each name, and a row for each of the file, in its order. In JSON
        lines an optional value may be absent from some rows: it is None there.

    Raises:
        ValueError: The ending is none of `ENDINGS`, or the file is empty, not UTF-8, lacks a
            column, or has an empty value or a malformed line; names the file and the line.
    """
    if ending(path) not in ENDINGS:
        raise ValueError(f"{path}: the name must end in one of {', '.join(ENDINGS)}[.gz]")
    text = read_text(path).text
    try:
        if ending(path) == ".jsonl":
            rows: Iterator[_Row] = json_objects(split_lines(text))
        else:
            rows = _cells(text, quoted=ending(path) == ".csv")
        return collect(rows, columns, optional)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def collect(
    rows: Iterator[_Row], columns: Mapping[str, str], optional: Collection[str] = ()
) -> pd.DataFrame:
    """Makes a table of strings from rows in any format.

    Args:
        rows: Line number, and cells by name, or cells in order after a row of their names.
        columns: As of `read_table`.
        optional: Likewise.

    Raises:
        ValueError: As `read_table`; names the line.
    """
    found = _columns(rows, columns, optional)
    # A column of strings would make NaN of None.
    return pd.DataFrame(found, dtype=object if any(None in one for one in found.values()) else None)


def read_whole_table(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Reads all columns of a table, in which values may be missing, NaN of JSON lines too.

    Args:
        path: The file; its ending tells the format.

    Returns:
        A column of strings for each name, "" where there is no value.

    Raises:
        ValueError: The ending is none of `ENDINGS`, or the file is not UTF-8, has no row, or has a
            malformed line; names the file and the line.
    """
    if ending(path) not in ENDINGS:
        raise ValueError(f"{path}: the name must end in one of {', '.join(ENDINGS)}[.gz]")
    text = read_text(path).text
    try:
        if ending(path) == ".jsonl":
            objects = [*json_objects(split_lines(text), missing=True)]
            names = [*dict.fromkeys(name for _, row in objects for name in row)]
            rows = [
                {name: _text_of(row.get(name), line) for name in names} for line, row in objects
            ]
        else:
            cells: Iterator[Any] = _cells(text, quoted=ending(path) == ".csv")
            _, names = next(cells, (0, []))
            rows = [_named(names, row, number) for number, row in cells]
        if not rows:
            raise ValueError("the file must have a row at least, got none")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return pd.DataFrame(rows, columns=names, dtype=object)


def _text_of(value: Any, line: int) -> str:
    """Returns a value of JSON as a table of text has it.

    Raises:
        ValueError: UTF-8 cannot hold it; names the line.
    """
    if isinstance(value, str | _Number):
        return encodable(str(value), f"line {line}")
    return "" if value is None else json.dumps(value)


def number_labels(
    frame: pd.DataFrame, numbers: Mapping[str, int], path: str | os.PathLike[str], first: int = 1
) -> pd.DataFrame:
    """Replaces the labels of a data set by the numbers of its classes.

    Args:
        frame: A row for each line of the file, with a column `label` of strings.
        numbers: Label -> class.
        path: The file, for the error.
        first: Number of the first row's line.

    Raises:
        ValueError: A label is none of them; names the file and the line.
    """
    for line, label in enumerate(frame["label"], start=first):
        if label not in numbers:
            known = ", ".join(map(repr, numbers))
            raise ValueError(f"{path}: line {line}: label must be one of {known}, got {label!r}")
    return frame.assign(label=frame["label"].map(numbers).astype("int64"))


def json_objects(
    lines: Iterable[str], missing: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Reads an object per line, and counts the lines from 1.

    Args:
        lines: The lines.
        missing: Whether NaN stands for a missing value and is read as None; else it is refused.

    Raises:
        ValueError: A line is no object, has a name twice, or a number that is not finite; says
            which line.
    """

    def constant(name: str) -> None:
        if not missing or name != "NaN":
            raise ValueError(f"numbers must be finite, got {name}")

    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_float=_Number, parse_constant=constant
    )
    for number, line in enumerate(lines, start=1):
        try:
            row = decoder.decode(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number} is not valid JSON: {error}") from None
        if not isinstance(row, dict):
            raise ValueError(f"line {number} must be an object, got {shown(row)}")
        yield number, row


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Makes the dict of an object of JSON, of which the last of equal names would win."""
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"names must differ, got {shown(twice)} twice")
    return dict(pairs)


def _cells(text: str, quoted: bool) -> Iterator[_Row]:
    if not quoted:
        yield from ((n, line.split("\t")) for n, line in enumerate(split_lines(text), start=1))
        return
    reader, first = csv.reader(io.StringIO(text, newline=""), strict=True), 1
    while (row := _next_row(reader, len(text), first)) is not None:
        if row:
            yield first, row
        first = reader.line_num + 1


def _next_row(reader: Iterator[list[str]], longest: int, line: int) -> list[str] | None:
    """Reads a row whose cells may be long; None: there is no more."""
    # The limit holds for all readers of the process, so it is put back after each row.
    limit = csv.field_size_limit(longest)
    try:
        return next(reader, None)
    except csv.Error as error:
        raise ValueError(f"line {line}: not valid CSV: {error}") from None
    finally:
        csv.field_size_limit(limit)


def _columns(
    rows: Iterator[_Row], columns: Mapping[str, str], optional: Collection[str]
) -> dict[str, list[str | None]]:
    """Collects the wanted columns."""
    names, rows = _with_names(rows, columns)
    found = {name: column for name, column in columns.items() if column in names}
    if missing := [c for name, c in columns.items() if name not in {*found, *optional}]:
        raise ValueError(
            f"a column must be named {missing[0]!r}, got {', '.join(map(shown, names))}; name "
            "others by the flags of the columns, or give numbers, from 0, if no line has names"
        )
    values: dict[str, list[str | None]] = {name: [] for name in found}
    line = 0
    for line, row in rows:
        objects = isinstance(row, dict)
        cells = row if isinstance(row, dict) else _named(names, row, line)
        for name, kept in values.items():
            absent = objects and name in optional and cells.get(found[name]) is None
            kept.append(None if absent else _value(cells, found[name], line))
    if not line:
        raise ValueError("holds no line besides the names of the columns")
    return values


def _with_names(
    rows: Iterator[_Row], columns: Mapping[str, str]
) -> tuple[list[str], Iterator[_Row]]:
    """Returns the names of the columns, and the rows without a line of names.

    Args:
        rows: As of `collect`.
        columns: Likewise; if all are numbers, no line has names.
    """
    first = next(rows, None)
    if first is None:
        raise ValueError("the file must be a table, got an empty one")
    if isinstance(first[1], dict):
        # The first object need not have all that later ones have.
        every = [first, *rows]
        return [*dict.fromkeys(name for _, row in every for name in row)], iter(every)
    if all(column.isdecimal() for column in columns.values()):
        _refuse_names(first[0], first[1], columns)
        return [str(index) for index in range(len(first[1]))], itertools.chain([first], rows)
    return first[1], rows


def _refuse_names(line: int, row: list[str], columns: Mapping[str, str]) -> None:
    """Refuses names of columns where an example is expected.

    Raises:
        ValueError: All cells of the wanted columns are names that they have by default.
    """
    wanted = [row[int(column)] for column in columns.values() if int(column) < len(row)]
    names = {cell.strip().lower() for cell in wanted}
    if wanted and len(names) == len(wanted) and names <= columns.keys():
        raise ValueError(
            f"line {line} must be an example where columns are given by numbers, got the names "
            f"{', '.join(map(shown, wanted))}; leave the numbers out or that line"
        )


def _named(names: list[str], row: list[str], number: int) -> dict[str, Any]:
    if len(row) != len(names):
        raise ValueError(
            f"line {number} must have {len(names)} columns as line 1 has, got {len(row)}"
        )
    if len(set(names)) != len(names):
        raise ValueError(f"columns must have different names, got {names}")
    return dict(zip(names, row, strict=True))


def _value(cells: Mapping[str, Any], column: str, number: int) -> str:
    """Returns a value that is text: numbers as they are written."""
    value = cells.get(column)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        got = "nothing" if value in (None, "") else shown(value)
        raise ValueError(f"line {number}: {column!r} must be text, got {got}")
    return encodable(value, f"line {number}")


def encodable(text: str, place: str) -> str:
    """Returns a text, or raises a ValueError that names its place if UTF-8 cannot hold it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{place}: half of a surrogate pair: {error}") from None
    return text


def shown(value: object) -> str:
    """Returns a value as errors show it, cut off if it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
