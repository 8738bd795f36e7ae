"""The data sets of cloze questions, as every cloze recipe takes them."""

import logging
from itertools import product
from pathlib import Path
from typing import Literal, NamedTuple, cast

import pandas as pd

from zoo.data.choice import DataSet, choose, sample_reason
from zoo.data.cloze import PUBLISHED, SPLITS, ClozeSet, data_set, find_cloze
from zoo.data.cloze_books import Kind
from zoo.data.cloze_format import read_cbt
from zoo.data.cloze_sample import cloze_sample
from zoo.data.cloze_windows import cut_questions
from zoo.serving.cards import DataRecord
from zoo.tasks.shared.records import record_files

DataName = Literal["sample", "cloze", "cbt"]
Kinds = Literal["ne", "cn", "both"]
"""Kinds of questions of a training: "ne", named entities, "cn", common nouns, or both."""

_TITLES = {"cloze": "cloze questions on children's books", "cbt": "Children's Book Test"}
_KINDS = {
    "ne": "named entities",
    "cn": "common nouns",
    "both": "named entities and common nouns",
}

OWN_FILES = "python -m recipes.cloze"
"""The command for files in any layout."""


class ClozeData(NamedTuple):
    """Data of a cloze recipe; the column ``kind`` of the frames is "ne" or "cn"."""

    training: pd.DataFrame
    validation: pd.DataFrame
    test: pd.DataFrame
    record: DataRecord
    texts: pd.DataFrame
    """Training questions as the files have them, from which the vocabulary is chosen."""


def kinds_of(kinds: Kinds) -> tuple[Kind, ...]:
    """The kinds of questions of a training."""
    return ("ne", "cn") if kinds == "both" else (kinds,)


def resolve_data(
    name: Literal["auto", "sample", "cloze", "cbt"], kinds: Kinds, data_dir: Path | None
) -> DataName:
    """Returns what ``auto`` stands for: the first set of which all files lie here.

    The Children's Book Test comes before the other books; without either it is the sample.

    Raises:
        FileNotFoundError: ``auto``, and the folder has no whole set; see `zoo.data.choice.choose`.
    """
    return (
        name
        if name != "auto"
        else cast(DataName, choose(_preferred(kinds), data_dir, own=OWN_FILES))
    )


def _preferred(kinds: Kinds) -> list[DataSet]:
    return [data_set("cbt", kinds_of(kinds)), data_set("cloze", kinds_of(kinds))]


def load_cloze_data(
    name: DataName, kinds: Kinds, data_dir: Path | None, logger: logging.Logger
) -> ClozeData:
    """Reads a set, or generates the sample.

    Args:
        name: the data set.
        kinds: of the questions; the sample has but one, whatever it is called.
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets a line with what the data is.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is malformed, or both kinds of the sample are asked for.
    """
    if name == "sample":
        if kinds == "both":
            raise ValueError("kind must be 'ne' or 'cn' with the generated sample, got 'both'")
        reason = sample_reason(_preferred(kinds))
        logger.info(
            "data: the generated sample%s; --data cloze or cbt takes real questions", reason
        )
        record = DataRecord("sample", "train", "test", remarks="generated questions")
        training, validation, test = (cloze_sample(split).assign(kind=kinds) for split in SPLITS)
        return ClozeData(training, validation, test, record, training)
    paths = _find(name, kinds, data_dir)
    frames = []
    for split in SPLITS:
        parts = [read_cbt(paths[split, kind]).assign(kind=kind) for kind in kinds_of(kinds)]
        frames.append(pd.concat(parts, ignore_index=True))
    counts = ", ".join(f"{s} {len(f)}" for s, f in zip(SPLITS, frames, strict=True))
    logger.info("data: %s, %s: %s questions", _TITLES[name], _KINDS[kinds], counts)
    record = _record(name, kinds, [*paths.values()], logger)
    training, validation, test = frames
    return ClozeData(training, validation, test, record, training)


def _find(name: ClozeSet, kinds: Kinds, data_dir: Path | None) -> dict[tuple[str, Kind], Path]:
    """Finds the files of a set by split and kind."""
    wanted = product(SPLITS, kinds_of(kinds))
    return {(split, kind): find_cloze(name, kind, split, data_dir) for split, kind in wanted}


def _record(name: ClozeSet, kinds: Kinds, files: list[Path], logger: logging.Logger) -> DataRecord:
    """Records all files read of a set."""
    remarks = "" if name == "cbt" else "not the Children's Book Test: other books, own splits"
    title = f"{_TITLES[name]}, {_KINDS[kinds]}"
    return record_files(title, ("train", "test"), files, PUBLISHED[name], logger, remarks)


def with_cut_questions(
    data: ClozeData, name: DataName, kinds: Kinds, data_dir: Path | None, logger: logging.Logger
) -> ClozeData:
    """Adds training questions, cut from the training windows of both kinds.

    Args:
        data: Of a set of books.
        name: The data set.
        kinds: Of its questions, and of those that are added.
        data_dir: As in `load_cloze_data`.
        logger: Gets a line with their number.

    Raises:
        ValueError: It is the generated sample, which has no windows of books.
        FileNotFoundError: There are no training questions of the other kind.
    """
    if name == "sample":
        raise ValueError("more_questions must be False with the generated sample, got True")
    others = sorted({*kinds_of("both")} - {*kinds_of(kinds)})
    paths = [find_cloze(name, other, "train", data_dir) for other in others]
    training, windows = data.training, [data.training, *map(read_cbt, paths)]
    files = [*_find(name, kinds, data_dir).values(), *paths]
    parts = [training]
    for kind in kinds_of(kinds):
        asked = training[training["kind"] == kind]
        cut = cut_questions(windows, {*asked["answer"]})
        parts.append(cut[~cut["query"].isin(asked["query"])].assign(kind=kind))
    logger.info("training questions cut from the same windows: %d", sum(map(len, parts[1:])))
    return data._replace(
        training=pd.concat(parts, ignore_index=True),
        record=_record(name, kinds, files, logger) if paths else data.record,
        texts=pd.concat(windows, ignore_index=True),
    )
