"""The Stanford Natural Language Inference corpus, as a pandas frame.

Bowman, Angeli, Potts and Manning, "A large annotated corpus for learning natural language
inference", EMNLP 2015, arXiv 1508.05326. Each pair of sentences has a gold label, the majority of
five. Pairs without a majority have the label `-` and are left out, as is usual. Two formats are
published, `snli_1.0_<split>.jsonl` and `snli_1.0_<split>.txt` (columns separated by tabs).
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from zoo.data.choice import DataSet
from zoo.data.download import data_directories, locate_any, not_found
from zoo.data.tables import json_objects, shown
from zoo.text_files import read_lines

SPLITS = ("train", "dev", "test")


def _names(split: str) -> tuple[str, ...]:
    """Names of the file of a split, the preferred one first."""
    return tuple(f"snli_1.0_{split}.{ending}" for ending in ("jsonl", "txt"))


DATA_SET = DataSet("snli", ("snli_1.0",), tuple(map(_names, SPLITS)))
LABELS = ("entailment", "neutral", "contradiction")
"""The classes, in the order of the labels 0, 1, 2."""

_NO_MAJORITY = "-"
_FIELDS = ("gold_label", "sentence1", "sentence2")


class _Pair(NamedTuple):
    """Values of `_FIELDS` and the line number."""

    gold_label: str
    sentence1: str
    sentence2: str
    line: int


def find_snli(split: str, data_dir: str | Path | None = None) -> Path:
    """Finds a file of the data set on this machine, in either format.

    Args:
        split: one of `SPLITS`.
        data_dir: folder that holds `snli_1.0/` or the files, `.gz` or not; by default `$ZOO_DATA`,
            then the Keras cache.

    Raises:
        ValueError: there is no such split.
        FileNotFoundError: the file is missing; says where it was expected.
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {list(SPLITS)}, got {split!r}")
    if path := locate_any(("snli_1.0",), _names(split), data_dir):
        return path
    advice = (
        "unpack https://nlp.stanford.edu/projects/snli/snli_1.0.zip in "
        f"{data_directories(data_dir)[0]}"
    )
    raise not_found(_names(split)[0], ("snli_1.0",), data_dir, advice)


def read_snli(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Reads pairs of sentences.

    Args:
        path: a file whose name contains `.jsonl` (one object per line), or else a table with column
            names in its first line; compressed if the name ends in `.gz`.

    Returns:
        One row per pair, in the order of the file: `premise`, `hypothesis` (strings) and `label`,
        an index of `LABELS`. `frame.attrs["dropped"]` is the number of pairs without a majority.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is empty, not UTF-8, or has a malformed line; names it.
    """
    lines = read_lines(path)
    is_json = ".jsonl" in Path(path).suffixes
    try:
        pairs = list(_from_json(lines) if is_json else _from_table(lines))
        kept = [pair for pair in pairs if pair.gold_label != _NO_MAJORITY]
        for pair in kept:
            _check_pair(pair)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not kept:
        raise ValueError(f"{path} must hold a pair with a gold label, got none")
    frame = pd.DataFrame(
        {
            "premise": [pair.sentence1 for pair in kept],
            "hypothesis": [pair.sentence2 for pair in kept],
            "label": [LABELS.index(pair.gold_label) for pair in kept],
        }
    )
    frame.attrs["dropped"] = len(pairs) - len(kept)
    return frame


def _from_json(lines: list[str]) -> Iterator[_Pair]:
    for number, row in json_objects(lines):
        for field in _FIELDS:
            if not isinstance(row.get(field), str):
                got = shown(row[field]) if field in row else "none"
                raise ValueError(f"line {number} must have a string {field!r}, got {got}")
        label, premise, hypothesis = (row[field] for field in _FIELDS)
        yield _Pair(label, premise, hypothesis, number)


def _from_table(lines: list[str]) -> Iterator[_Pair]:
    names = lines[0].split("\t")
    for field in _FIELDS:
        if names.count(field) != 1:
            raise ValueError(f"line 1 must have one column named {field!r}, got {names}")
    columns = [names.index(field) for field in _FIELDS]
    for number, line in enumerate(lines[1:], start=2):
        row = line.split("\t")
        if len(row) != len(names):
            raise ValueError(
                f"line {number} must have {len(names)} columns, as line 1 has, got {len(row)}"
            )
        label, premise, hypothesis = (row[column] for column in columns)
        yield _Pair(label, premise, hypothesis, number)


def _check_pair(pair: _Pair) -> None:
    if pair.gold_label not in LABELS:
        raise ValueError(
            f"line {pair.line}: gold_label must be one of "
            f"{[*LABELS, _NO_MAJORITY]}, got {pair.gold_label!r}"
        )
    for field in _FIELDS[1:]:
        text = getattr(pair, field)
        if not text.strip():
            raise ValueError(f"line {pair.line}: {field} must be a sentence, got an empty one")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            message = f"line {pair.line}: {field} has half of a surrogate pair: {error}"
            raise ValueError(message) from None
