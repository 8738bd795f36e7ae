"""Mushroom: 8,124 mushrooms described by 22 letters each, edible or poisonous, as a frame.

Schlimmer, UCI Machine Learning Repository, 1987. The file `agaricus-lepiota.data` has a row per
line without names, the class first. `?` is a missing value, in one column. There is no test part:
`zoo.data.rows.divide` gives the same one on every machine.
"""

import os
from pathlib import Path

import pandas as pd

from zoo.data.choice import DataSet
from zoo.data.download import data_directories, locate_any, not_found
from zoo.data.rows import read_cells

FILE = "agaricus-lepiota.data"
DATA_SET = DataSet("mushroom", ("tabular", "mushroom"), ((FILE,),))
PUBLISHED = {FILE: "e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e"}
"""Checksum by file name."""

TARGET = "class"
LABELS = ("edible", "poisonous")
FEATURES = (
    "cap-shape",
    "cap-surface",
    "cap-color",
    "bruises",
    "odor",
    "gill-attachment",
    "gill-spacing",
    "gill-size",
    "gill-color",
    "stalk-shape",
    "stalk-root",
    "stalk-surface-above-ring",
    "stalk-surface-below-ring",
    "stalk-color-above-ring",
    "stalk-color-below-ring",
    "veil-type",
    "veil-color",
    "ring-number",
    "ring-type",
    "spore-print-color",
    "population",
    "habitat",
)
"""Columns behind the class, in the order of the file."""


def find_mushroom(data_dir: str | Path | None = None) -> Path:
    """Finds the file on this machine.

    Args:
        data_dir: folder that holds `tabular/`, `mushroom/` or the file, `.gz` or not; by default
            `$ZOO_DATA`, then the Keras cache.

    Raises:
        FileNotFoundError: it is missing; says where it was expected.
    """
    if path := locate_any(DATA_SET.folders, (FILE,), data_dir):
        return path
    advice = (
        "unpack https://archive.ics.uci.edu/static/public/73/mushroom.zip in "
        f"{data_directories(data_dir)[0] / DATA_SET.name}"
    )
    raise not_found(FILE, DATA_SET.folders, data_dir, advice)


def read_mushroom(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Reads mushrooms.

    Args:
        path: the file of the data set.

    Returns:
        A column of strings for each of `FEATURES` and for `TARGET`, whose values are `LABELS`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is empty, not UTF-8, or has a line with another number of values or
            another class; names it.
    """
    return read_cells(path, (TARGET, *FEATURES), TARGET, {label[0]: label for label in LABELS})
