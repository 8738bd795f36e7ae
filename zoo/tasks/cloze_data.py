"""The data sets of cloze questions, as every cloze recipe takes them."""

import dataclasses
import logging
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd

from zoo.data.cloze import SPLITS, find_cloze
from zoo.data.cloze_books import Kind
from zoo.data.cloze_format import read_cbt
from zoo.data.cloze_sample import cloze_sample
from zoo.data.cloze_windows import cut_questions
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
    texts: pd.DataFrame
    """Training questions as the files have them, from which the vocabulary is chosen."""


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
        return ClozeData(training, validation, test, record, training)
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
    return ClozeData(training, validation, test, record, training)


def with_cut_questions(
    data: ClozeData, name: DataName, kind: Kind, data_dir: Path | None, logger: logging.Logger
) -> ClozeData:
    """Adds training questions, cut from the training windows of both kinds.

    Args:
        data: Of a set of books.
        name: The data set.
        kind: Of its questions, and of those that are added.
        data_dir: As in `load_cloze_data`.
        logger: Gets a line with their number.

    Raises:
        ValueError: It is the generated sample, which has no windows of books.
        FileNotFoundError: There are no training questions of the other kind.
    """
    if name == "sample":
        raise ValueError("more_questions is True, expected False with the generated sample")
    path = find_cloze(name, _other(kind), "train", data_dir)
    windows = [data.training, read_cbt(path)]
    cut = cut_questions(windows, set(data.training["answer"]))
    new = cut[~cut["query"].isin(data.training["query"])]
    logger.info("training questions cut from the same windows: %d", len(new))
    sums = {path.name.removesuffix(".gz"): file_sha256(path, decompress=path.suffix == ".gz")}
    return data._replace(
        training=pd.concat([data.training, new], ignore_index=True),
        record=dataclasses.replace(data.record, sha256=data.record.sha256 | sums),
        texts=pd.concat(windows, ignore_index=True),
    )


def _other(kind: Kind) -> Kind:
    return "cn" if kind == "ne" else "ne"
