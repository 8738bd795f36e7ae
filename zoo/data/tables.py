r"""Tables of a user's own as pandas frames: CSV, TSV and JSON lines, by columns' names or numbers.

    question,context,answer
    Who sang?,"Ada sang, and Bo danced.",Ada

- `.csv`: separated by commas, with double quotes around values that hold commas, quotes or line
  breaks. `.tsv` and `.txt`: separated by tabs, quotes being ordinary text. Both begin with a line
  of names, unless the columns are given by numbers, from 0.
- `.jsonl`: one object per line. Numbers are taken as they are written.

Any of them may end in `.gz`. A table is read as it is or refused with the line: no value is
guessed, dropped or filled in.
"""

import csv
import io
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from zoo.text_files import read_text, split_lines

ENDINGS = (".csv", ".tsv", ".txt", ".jsonl")

_SHOWN = 60
_Row = tuple[int, list[str] | dict[str, Any]]


def ending(path: str | os.PathLike[str]) -> str:
    """Returns the ending of a name, such as ".csv", that of `.gz` left out."""
    name = Path(path).name.lower().removesuffix(".gz")
    return Path(name).suffix


def read_table(
    path: str | os.PathLike[str],
    columns: Mapping[str, str],
    optional: Collection[str] = (),
    convert: Mapping[str, Callable[[str], Any]] | None = None,
) -> pd.DataFrame:
    """Reads columns of a table.

    Args:
        path: The file; its ending tells the format.
        columns: Name in the frame -> name in the file, or number, from 0, of tables without names.
        optional: Names in the frame that the file may lack; so does the frame then.
        convert: Name in the frame -> what makes its values of the texts; its `ValueError` gets the
            line and the column in front.

    Returns:
        A column of strings, or of what `convert` makes of them, for each name, and a row for each
        of the file, in its order.

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
        values = _columns(rows, columns, optional, convert or {})
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return pd.DataFrame(values)


def json_objects(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Reads an object per line, and counts the lines from 1.

    Raises:
        ValueError: A line is no object; says which.
    """
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number} is not valid JSON: {error}") from None
        if not isinstance(row, dict):
            raise ValueError(f"line {number} must be an object, got {shown(row)}")
        yield number, row


def _cells(text: str, quoted: bool) -> Iterator[_Row]:
    if not quoted:
        yield from ((n, line.split("\t")) for n, line in enumerate(split_lines(text), start=1))
        return
    reader, first = csv.reader(io.StringIO(text, newline=""), strict=True), 1
    try:
        for row in reader:
            if row:
                yield first, row
            first = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(f"line {first}: not valid CSV: {error}") from None


def _columns(
    rows: Iterator[_Row],
    columns: Mapping[str, str],
    optional: Collection[str],
    convert: Mapping[str, Callable[[str], Any]],
) -> dict[str, list[Any]]:
    """Collects the wanted columns."""
    number, first = next(rows, (0, None))
    if first is None:
        raise ValueError("the file must be a table, got an empty one")
    if isinstance(first, dict):
        names: list[str] = list(first)
    elif all(column.isdecimal() for column in columns.values()):
        names = [str(index) for index in range(len(first))]
    else:
        names = first
        number, first = next(rows, (0, None))
    found = {name: column for name, column in columns.items() if column in names}
    if missing := [c for name, c in columns.items() if name not in {*found, *optional}]:
        raise ValueError(
            f"a column must be named {missing[0]!r}, got {', '.join(map(shown, names))}; name "
            "others by the flags of the columns, or give numbers, from 0, if no line has names"
        )
    if first is None:
        raise ValueError("holds no line besides the names of the columns")
    values: dict[str, list[Any]] = {name: [] for name in columns if name in found}
    for line, row in ((number, first), *rows):
        cells = row if isinstance(row, dict) else _named(names, row, line)
        for name, kept in values.items():
            text = _value(cells, found[name], line)
            kept.append(
                _converted(convert[name], text, found[name], line) if name in convert else text
            )
    return values


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
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"line {number}: half of a surrogate pair: {error}") from None
    return value


def _converted(make: Callable[[str], Any], text: str, column: str, number: int) -> Any:
    try:
        return make(text)
    except ValueError as error:
        raise ValueError(f"line {number}: {column!r} {error}") from None


def one_of(names: Sequence[str]) -> Callable[[str], int]:
    """Returns a function from a name, in capitals or not, to its index, for `read_table`."""

    def index(text: str) -> int:
        if text.lower() not in names:
            raise ValueError(f"must be one of {list(names)}, got {shown(text)}")
        return names.index(text.lower())

    return index


def shown(value: object) -> str:
    """Returns a value as errors show it, cut off if it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
