"""Parallel text as a pandas frame, from two files aligned line by line or from a table.

A missing or additional line in one file shifts all later pairs, and a model would train on them
without complaint. So every mismatch is reported with its place: different numbers of lines, empty
lines, bytes that are not UTF-8, table rows with another number of columns than the first.

`zoo.text_files` defines lines.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import pandas as pd

from zoo.text_files import read_lines

EmptyLines: TypeAlias = Literal["error", "drop"]

_SHOWN_LINES = 5
_SHOWN_CHARACTERS = 40


def read_parallel(
    source_path: str | os.PathLike[str],
    target_path: str | os.PathLike[str],
    *,
    empty: EmptyLines = "error",
) -> pd.DataFrame:
    """Reads two files in which line i of one translates line i of the other.

    Args:
        source_path: UTF-8 text, compressed if the name ends in `.gz`.
        target_path: The same.
        empty: Treatment of a pair with an empty side: "error" refuses the files, "drop" leaves the
            pair out.

    Returns:
        One row per pair, `source` and `target` (strings without line break), in the order of the
        files. `frame.attrs["dropped"]` lists the dropped lines, from 1.

    Raises:
        ValueError: The files have different numbers of lines, no line at all, an empty line, or
            bytes that are not UTF-8; names the files and the line.
    """
    _check_empty(empty)
    source_path, target_path = Path(source_path), Path(target_path)
    sources, targets = read_lines(source_path), read_lines(target_path)
    if len(sources) != len(targets):
        longer, lines = (
            (source_path, sources) if len(sources) > len(targets) else (target_path, targets)
        )
        first = min(len(sources), len(targets))
        raise ValueError(
            f"{target_path} must have {_count(len(sources))}, as {source_path} has, got "
            f"{_count(len(targets))}. The first without a partner is line {first + 1} of {longer}: "
            f"{_shown(lines[first])}"
        )
    numbers = list(range(1, len(sources) + 1))
    places = (str(source_path), str(target_path))
    return _frame(sources, targets, numbers, places, empty)


def read_parallel_tsv(
    path: str | os.PathLike[str],
    columns: tuple[int, int] | tuple[str, str] = (0, 1),
    *,
    empty: EmptyLines = "error",
) -> pd.DataFrame:
    """Reads a tab-separated table with one pair per line; quotes are ordinary text.

    Args:
        path: UTF-8 text, compressed if the name ends in `.gz`.
        columns: Source and target column. With numbers, from 0, the first line is a pair; names are
            looked up in the first line.
        empty: As in `read_parallel`.

    Returns:
        As `read_parallel`; lines count from the first line of the file.

    Raises:
        ValueError: The table has no such column, a line has more or fewer columns than the first,
            or as `read_parallel`; names the file and the line.
    """
    _check_empty(empty)
    path = Path(path)
    rows = [line.split("\t") for line in read_lines(path)]
    width = len(rows[0])
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise ValueError(
                f"{path}: line {number} must have {width} columns, as line 1 has, got {len(row)}"
            )
    source, target = (_column(path, rows[0], column) for column in columns)
    first = 1 if isinstance(columns[0], str) else 0
    pairs = rows[first:]
    if not pairs:
        raise ValueError(f"{path} must have a line after the names of the columns, got none")
    numbers = list(range(first + 1, len(rows) + 1))
    places = tuple(f"column {column!r} of {path}" for column in columns)
    return _frame(
        [row[source] for row in pairs], [row[target] for row in pairs], numbers, places, empty
    )


def _frame(
    sources: Sequence[str],
    targets: Sequence[str],
    numbers: Sequence[int],
    places: Sequence[str],
    empty: EmptyLines,
) -> pd.DataFrame:
    """Makes the frame, after refusing or dropping pairs with an empty side.

    Args:
        sources: One side of the pairs.
        targets: The other side.
        numbers: The pairs' line numbers.
        places: Names of the two sides in errors.
        empty: As in `read_parallel`.
    """
    if empty == "error":
        for texts, place in zip((sources, targets), places, strict=True):
            found = [n for n, text in zip(numbers, texts, strict=True) if not text.strip()]
            if found:
                shown = ", ".join(map(str, found[:_SHOWN_LINES]))
                more = ", ..." if len(found) > _SHOWN_LINES else ""
                raise ValueError(
                    f"{place} must have text in every line, got {len(found)} of "
                    f"{_count(len(texts))} empty (line {shown}{more}): "
                    "leave such pairs out, which empty='drop' does in scripts"
                )
    triples = zip(sources, targets, numbers, strict=True)
    kept = [pair for pair in triples if pair[0].strip() and pair[1].strip()]
    if not kept:
        raise ValueError(f"{places[0]} and {places[1]} must have a pair with text on both sides")
    source, target, whole = map(list, zip(*kept, strict=True))
    frame = pd.DataFrame({"source": source, "target": target})
    frame.attrs["dropped"] = sorted(set(numbers).difference(whole))
    return frame


def _column(path: Path, first: list[str], column: int | str) -> int:
    """Returns the index of a column, given by number or by its name in the first line."""
    if isinstance(column, str):
        if first.count(column) != 1:
            raise ValueError(f"{path}: line 1 must have one column named {column!r}, got {first}")
        return first.index(column)
    if not 0 <= column < len(first):
        raise ValueError(f"{path}: columns must be from 0 to {len(first) - 1}, got {column}")
    return column


def _check_empty(empty: str) -> None:
    if empty not in ("error", "drop"):
        raise ValueError(f"empty must be 'error' or 'drop', got {empty!r}")


def _count(lines: int) -> str:
    return f"{lines:,} line{'' if lines == 1 else 's'}"


def _shown(text: str) -> str:
    """Returns the beginning of a line, quoted."""
    return repr(text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 3]}...")
