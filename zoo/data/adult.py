"""Adult ("Census Income"): persons, and whether they earn more than 50,000 dollars, as a frame.

Becker and Kohavi, UCI Machine Learning Repository, 1996. The files `adult.data` and `adult.test`
have a row per line without names, values after a comma and a space. `?` is a missing value. In
`adult.test` the first line is a comment and labels end in a full stop.
"""

import os
from pathlib import Path

import pandas as pd

from zoo.data.choice import DataSet
from zoo.data.download import data_directories, locate_any, not_found
from zoo.data.rows import read_cells

SPLITS = ("train", "test")
FILES = {"train": "adult.data", "test": "adult.test"}
DATA_SET = DataSet("adult", ("tabular", "adult"), tuple((name,) for name in FILES.values()))
PUBLISHED = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}
"""Checksums by file name."""

TARGET = "income"
LABELS = ("<=50K", ">50K")
FEATURES = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
)
"""Columns, in the order of the files; `fnlwgt` is the weight of a person in the census."""


def find_adult(split: str, data_dir: str | Path | None = None) -> Path:
    """Finds a file of the data set on this machine.

    Args:
        split: one of `SPLITS`.
        data_dir: folder that holds `tabular/`, `adult/` or the files, `.gz` or not; by default
            `$ZOO_DATA`, then the Keras cache.

    Raises:
        ValueError: there is no such split.
        FileNotFoundError: the file is missing; says where it was expected.
    """
    if split not in FILES:
        raise ValueError(f"split must be one of {list(SPLITS)}, got {split!r}")
    if path := locate_any(DATA_SET.folders, (FILES[split],), data_dir):
        return path
    advice = (
        "unpack https://archive.ics.uci.edu/static/public/2/adult.zip in "
        f"{data_directories(data_dir)[0] / DATA_SET.name}"
    )
    raise not_found(FILES[split], DATA_SET.folders, data_dir, advice)


def read_adult(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Reads persons.

    Args:
        path: a file of the data set.

    Returns:
        A column of strings for each of `FEATURES` and for `TARGET`, whose values are `LABELS`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is empty, not UTF-8, or has a line with another number of values or
            another label; names it.
    """
    return read_cells(
        path,
        (*FEATURES, TARGET),
        TARGET,
        {label + stop: label for label in LABELS for stop in ("", ".")},
        comment="|",
    )
