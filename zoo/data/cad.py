"""Counterfactually revised pairs of SNLI, as a pandas frame.

Kaushik, Hovy and Lipton, "Learning the difference that makes a difference with
counterfactually-augmented data", ICLR 2020, arXiv 1909.12434. People changed one sentence of a pair
so that its label changes. `train.tsv` is a table with tabs and the names `sentence1`, `sentence2`
and `gold_label`.
"""

import os
from pathlib import Path

import pandas as pd

from zoo.data.choice import DataSet
from zoo.data.download import data_directories, locate_name, not_found
from zoo.data.snli import LABELS
from zoo.data.tables import number_labels, read_table

DATA_SET = DataSet("cad-nli", ("cad-nli",), (("train.tsv",),))
PUBLISHED = {"train.tsv": "b04c0e249b71949345afc20f8c31c355533a705a68805492f21cddc49d27234f"}
"""Checksum of the file."""

_COLUMNS = {"premise": "sentence1", "hypothesis": "sentence2", "label": "gold_label"}


def find_cad(data_dir: str | Path | None = None) -> Path:
    """Finds the training part on this machine.

    Args:
        data_dir: folder that holds `cad-nli/` or the file, `.gz` or not; by default `$ZOO_DATA`,
            then the Keras cache.

    Raises:
        FileNotFoundError: the file is missing; says where it was expected.
    """
    path = locate_name("cad-nli", "train.tsv", data_dir)
    if path is None:
        advice = (
            "put NLI/all_combined/train.tsv of https://github.com/acmi-lab/"
            "counterfactually-augmented-data in "
            f"{data_directories(data_dir)[0] / 'cad-nli'}"
        )
        raise not_found("train.tsv", ("cad-nli",), data_dir, advice)
    return path


def read_cad(path: str | os.PathLike[str]) -> pd.DataFrame:
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
    numbers = {label: number for number, label in enumerate(LABELS)}
    return number_labels(read_table(path, _COLUMNS), numbers, path, first=2)
