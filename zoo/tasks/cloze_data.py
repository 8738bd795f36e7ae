"""The data sets of cloze questions, as every cloze recipe takes them."""

import logging
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd

from zoo.data.cloze import SPLITS, find_cloze
from zoo.data.cloze_books import Kind
from zoo.data.cloze_format import read_cbt
from zoo.data.cloze_sample import cloze_sample
from zoo.data.download import file_sha256
from zoo.serving.cards import DataRecord

DataName = Literal["sample", "cloze", "cbt"]

_TITLES = {"cloze": "cloze questions on children's books", "cbt": "Children's Book Test"}
_KINDS = {"ne": "named entities", "cn": "common nouns"}


class ClozeData(NamedTuple):
    """What a cloze recipe trains on."""

    training: pd.DataFrame
    validation: pd.DataFrame
    test: pd.DataFrame
    record: DataRecord


def resolve_data(
    name: Literal["auto", "sample", "cloze", "cbt"], kind: Kind, data_dir: Path | None
) -> DataName:
    """Returns what ``auto`` stands for: the first set of which all three files lie here.

    The Children's Book Test comes before the other books; without either it is the sample.
    """
    if name != "auto":
        return name
    sets: tuple[Literal["cbt", "cloze"], ...] = ("cbt", "cloze")
    for dataset in sets:
        try:
            for split in SPLITS:
                find_cloze(dataset, kind, split, data_dir)
        except FileNotFoundError:
            continue
        return dataset
    return "sample"


def load_cloze_data(
    name: DataName, kind: Kind, data_dir: Path | None, logger: logging.Logger
) -> ClozeData:
    """Reads a set, or generates the sample.

    Args:
        name: the data set.
        kind: "ne", named entities, or "cn", common nouns; the sample has but one.
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets a line with what the data is.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is malformed.
    """
    if name == "sample":
        logger.info("data: the generated sample; --data cloze or cbt takes real questions")
        record = DataRecord("sample", "train", "test", remarks="generated questions")
        training, validation, test = map(cloze_sample, SPLITS)
        return ClozeData(training, validation, test, record)
    paths = [find_cloze(name, kind, split, data_dir) for split in SPLITS]
    frames = [read_cbt(path) for path in paths]
    counts = ", ".join(f"{s} {len(f)}" for s, f in zip(SPLITS, frames, strict=True))
    logger.info("data: %s, %s: %s questions", _TITLES[name], _KINDS[kind], counts)
    sums = {
        path.name.removesuffix(".gz"): file_sha256(path, decompress=path.suffix == ".gz")
        for path in paths
    }
    remarks = "" if name == "cbt" else "not the Children's Book Test: other books, own splits"
    record = DataRecord(f"{_TITLES[name]}, {_KINDS[kind]}", "train", "test", sums, remarks)
    training, validation, test = frames
    return ClozeData(training, validation, test, record)
