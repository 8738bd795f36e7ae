"""Labelled sentences, one per line, the label first: TREC, MR and Subj, as pandas frames.

    0 How did serfdom develop in and then leave Russia ?
    DESC:manner How did serfdom develop in and then leave Russia ?

- TREC: questions by the kind of their answers. Li and Roth, "Learning Question Classifiers", COLING
  2002. Labels are numbers, or names before a colon and a finer class.
- MR: sentences of film reviews, negative or positive. Pang and Lee, "Seeing Stars", ACL 2005.
- Subj: sentences of reviews and of plots, subjective or objective. Pang and Lee, "A Sentimental
  Education", ACL 2004.

Files are Latin-1, in which byte 0x85 is a character of the sentence and no end of a line. MR and
Subj have no test part: they are measured by ten folds.
"""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from zoo.data.choice import DataSet
from zoo.data.download import data_directories, locate_any, not_found
from zoo.data.tables import collect, number_labels
from zoo.text_files import read_lines

FOLDS = 10
_SEED = 2002  # of the folds, which are the same whatever seed a training has
_FOLDER = "text-classification"


class LabelledSet(NamedTuple):
    """A data set of labelled lines."""

    title: str
    data_set: DataSet
    labels: tuple[str, ...]
    """Names of the classes."""
    numbers: dict[str, int]
    """Label, up to a colon -> class."""
    published: dict[str, str]
    """Checksums by file name."""


def _numbers(labels: tuple[str, ...], names: tuple[str, ...] = ()) -> dict[str, int]:
    digits = {str(number): number for number in range(len(labels))}
    return digits | {name: number for number, name in enumerate(names)}


_QUESTIONS = ("description", "entity", "abbreviation", "human", "location", "number")
_OPINIONS = ("negative", "positive")
_STYLES = ("subjective", "objective")
SETS = {
    "trec": LabelledSet(
        "TREC",
        DataSet(
            "trec",
            (_FOLDER, "trec"),
            (("TREC.train.all", "train_5500.label"), ("TREC.test.all", "TREC_10.label")),
        ),
        _QUESTIONS,
        _numbers(_QUESTIONS, ("DESC", "ENTY", "ABBR", "HUM", "LOC", "NUM")),
        {
            "TREC.train.all": "c8183fd8c2a5cc4a9a1c56548d7c6410a8b71ed7843df9ef1f0a05cd7cf2fb3e",
            "TREC.test.all": "92a6a3cede5678b447ef5f1d7ec474134fcda211e6590e6fa627b4a2c68e4566",
        },
    ),
    "mr": LabelledSet(
        "MR",
        DataSet("mr", (_FOLDER, "mr"), (("rt-polarity.all",),)),
        _OPINIONS,
        _numbers(_OPINIONS),
        {"rt-polarity.all": "b8846c3bbd59241f901efdc58f7c515e4b280ab3561fd1858caa5aa48da95a8a"},
    ),
    "subj": LabelledSet(
        "Subj",
        DataSet("subj", (_FOLDER, "subj"), (("subj.all",),)),
        _STYLES,
        _numbers(_STYLES),
        {"subj.all": "f3ffbe2aa8e4f3ba3e63e46dce51613854edbca122fb3aa758b9bce047ded23c"},
    ),
}
"""The data sets by the value of `--data`."""


def find_lines(name: str, data_dir: str | Path | None = None) -> list[Path]:
    """Finds the files of a data set on this machine: training, and test where there is one.

    Args:
        name: one of `SETS`.
        data_dir: folder that holds `text-classification/`, `<name>/` or the files, `.gz` or not; by
            default `$ZOO_DATA`, then the Keras cache.

    Raises:
        ValueError: there is no such data set.
        FileNotFoundError: a file is missing; says where it was expected.
    """
    if name not in SETS:
        raise ValueError(f"name must be one of {list(SETS)}, got {name!r}")
    return [_find(SETS[name].data_set, names, data_dir) for names in SETS[name].data_set.files]


def _find(data_set: DataSet, names: tuple[str, ...], data_dir: str | Path | None) -> Path:
    if path := locate_any(data_set.folders, names, data_dir):
        return path
    place = data_directories(data_dir)[0] / data_set.name
    raise not_found(" or ".join(names), data_set.folders, data_dir, f"put it at {place}")


def read_labelled_lines(path: str | os.PathLike[str], name: str) -> pd.DataFrame:
    """Reads the sentences of a file.

    Args:
        path: Latin-1 text, a label, a space and a sentence per line; compressed if its name ends in
            `.gz`.
        name: of the data set, one of `SETS`.

    Returns:
        One row per line: `text` and `label`, an index of the set's labels.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: there is no such data set, the file is empty, or a line lacks its text or has
            another label; names the line.
    """
    if name not in SETS:
        raise ValueError(f"name must be one of {list(SETS)}, got {name!r}")
    lines = enumerate(read_lines(path, "latin-1"), start=1)
    rows = ((number, _parts(line)) for number, line in lines)
    try:
        frame = collect(rows, {"text": "text", "label": "label"})
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return number_labels(frame, SETS[name].numbers, path)


def _parts(line: str) -> dict[str, str]:
    """Divides `DESC:manner How did ...`."""
    label, _, text = line.partition(" ")
    return {"label": label.partition(":")[0], "text": text.strip(" ")}


def fold_of(frame: pd.DataFrame, fold: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Divides sentences into nine folds to train on and one to test on.

    Args:
        frame: as `read_labelled_lines` returns it.
        fold: which of the ten is the test part, from 0; each has its share of every class.

    Raises:
        ValueError: there is no such fold.
    """
    if not 0 <= fold < FOLDS:
        raise ValueError(f"fold must be from 0 to {FOLDS - 1}, got {fold}")
    order = np.random.default_rng(_SEED).permutation(len(frame))
    by_class = order[np.argsort(frame["label"].to_numpy()[order], kind="stable")]
    test = np.zeros(len(frame), bool)
    test[by_class[fold::FOLDS]] = True
    return frame[~test].reset_index(drop=True), frame[test].reset_index(drop=True)
