"""SICK, "Sentences Involving Compositional Knowledge": pairs of sentences as a pandas frame.

Marelli et al., "A SICK cure for the evaluation of compositional distributional semantic models",
LREC 2014. The files `SICK_train.txt`, `SICK_trial.txt` and `SICK_test_annotated.txt` are tables
with tabs and a line of names; the lines of the last end in CR LF. A pair has a relatedness, which
is not read, and a label in capitals.
"""

import os
from pathlib import Path

import pandas as pd

from zoo.data.choice import DataSet
from zoo.data.download import data_directories, locate_name, not_found
from zoo.data.snli import LABELS
from zoo.data.tables import number_labels, read_table

SPLITS = ("train", "trial", "test")
FILES = {
    "train": "SICK_train.txt",
    "trial": "SICK_trial.txt",
    "test": "SICK_test_annotated.txt",
}
DATA_SET = DataSet("sick", ("sick",), tuple((name,) for name in FILES.values()))
PUBLISHED = {
    "SICK_train.txt": "266cf8047149bd1d68138dd30439f3122bff30069740ac6705bb6197d9f1b48e",
    "SICK_trial.txt": "5a88cfb62f8c6bd2a3cce0f2421ba2cb8c2be5ab4a800f6f01e2c64aafb7db56",
    "SICK_test_annotated.txt": "2b8aa806658d6fc23c6824c83776c2d4fee7556000817b5ec0f982861413b7d0",
}
"""Checksums by file name."""

_COLUMNS = {
    "premise": "sentence_A",
    "hypothesis": "sentence_B",
    "label": "entailment_judgment",
}


def find_sick(split: str, data_dir: str | Path | None = None) -> Path:
    """Finds a file of the data set on this machine.

    Args:
        split: one of `SPLITS`.
        data_dir: folder that holds `sick/` or the files, `.gz` or not; by default `$ZOO_DATA`, then
            the Keras cache.

    Raises:
        ValueError: there is no such split.
        FileNotFoundError: the file is missing; says where it was expected.
    """
    if split not in FILES:
        raise ValueError(f"split must be one of {list(SPLITS)}, got {split!r}")
    path = locate_name("sick", FILES[split], data_dir)
    if path is None:
        advice = (
            "unpack the three parts of https://zenodo.org/records/2787612 in "
            f"{data_directories(data_dir)[0] / 'sick'}"
        )
        raise not_found(FILES[split], ("sick",), data_dir, advice)
    return path


def read_sick(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Reads pairs of sentences.

    Args:
        path: a file of the data set.

    Returns:
        One row per pair, in the order of the file: `premise`, `hypothesis` (strings) and `label`,
        an index of `zoo.data.snli.LABELS`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is empty, not UTF-8, lacks a column, or has an empty sentence, another
            label or a malformed line; names it.
    """
    numbers = {label.upper(): number for number, label in enumerate(LABELS)}
    return number_labels(read_table(path, _COLUMNS), numbers, path, first=2)
