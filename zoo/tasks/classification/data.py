"""The data sets of classification, as the recipes take them."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import tensorflow as tf

from zoo.data import cad, imdb, labelled_lines, sick, snli, sst
from zoo.data.choice import DataSet, choose, sample_reason
from zoo.data.classification_sample import SAMPLE_ROWS, inference_sample, sentiment_sample
from zoo.serving.cards import DataRecord
from zoo.tasks.shared.own_data import by_groups
from zoo.tasks.shared.records import record_files, told_share
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import choose_words, count_words

_CHUNK = 2048  # strings tokenised at a time

OWN_FILES = "python -m recipes.classification"
"""The command for files in any layout."""


class ClassificationData(NamedTuple):
    """Data of a classifier: a column a side, and ``label``."""

    name: str
    sides: tuple[str, ...]
    labels: tuple[str, ...]
    training: pd.DataFrame
    validation: pd.DataFrame
    test: pd.DataFrame
    record: DataRecord

    def words(self, minimum_count: int, case_fold: bool) -> list[str]:
        """The vocabulary, most frequent words of the training part first."""
        tokenizer = WordTokenizer(case_fold=case_fold)
        texts = [text for side in self.sides for text in self.training[side].unique()]
        chunks = [texts[start : start + _CHUNK] for start in range(0, len(texts), _CHUNK)]
        counts = count_words(*(tokenizer(tf.constant(chunk)).folded for chunk in chunks))
        return choose_words(counts, minimum_count=minimum_count)


def load_texts(
    data: str, fold: int, held_out: float, data_dir: Path | None, logger: logging.Logger
) -> ClassificationData:
    """Reads texts without a validation part, of which a share is held out, or generates the sample.

    Args:
        data: ``"sample"``, ``"imdb"``, ``"trec"``, ``"mr"`` or ``"subj"``.
        fold: which tenth is the test part, of data without one.
        held_out: share of the training part that chooses the weights.
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets a line on what is read.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is malformed, there is no such fold, or a part is left without a text.
    """
    if data == "sample":
        train, dev, test = (sentiment_sample(split, 2) for split in SAMPLE_ROWS)
        record = _sample_record(logger, imdb.DATA_SET)
        return ClassificationData(data, ("text",), imdb.LABELS, train, dev, test, record)
    told = f"{told_share(held_out)} of the training part held out"
    labels: tuple[str, ...] = imdb.LABELS
    if data == "imdb":
        title, published = "IMDb", imdb.PUBLISHED
        paths = [imdb.find_imdb(split, data_dir) for split in imdb.SPLITS]
        frames = [imdb.read_imdb(path) for path in paths]
    else:
        title, _, labels, _, published = labelled_lines.SETS[data]
        paths = labelled_lines.find_lines(data, data_dir)
        frames = [labelled_lines.read_labelled_lines(path, data) for path in paths]
    record = _record(title, paths, frames, published, logger, told)
    if len(frames) == 1:
        frames = [*labelled_lines.fold_of(frames[0], fold)]
        parts = f"all but fold {fold}", f"fold {fold} of {labelled_lines.FOLDS}"
        record = replace(record, training=parts[0], evaluation=parts[1])
    divide = imdb.hold_out if data == "imdb" else by_groups("text")
    train, dev = divide(frames[0], held_out)
    if not len(train) or not len(dev):
        raise ValueError(
            f"held_out must leave some of the {len(frames[0])} training examples for both parts, "
            f"got {held_out}"
        )
    return ClassificationData(data, ("text",), labels, train, dev, frames[1], record)


def load_sst(
    data: str, classes: sst.Classes, phrases: bool, data_dir: Path | None, logger: logging.Logger
) -> ClassificationData:
    """Reads the Stanford Sentiment Treebank, or generates the sample.

    Args:
        data: ``"auto"``, ``"sample"`` or ``"sst"``.
        classes: 5 or 2.
        phrases: whether every phrase of the training part is an example.
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets a line on what is read.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is malformed.
    """
    labels = sst.LABELS[classes]
    if data == "sample":
        train, dev, test = (sentiment_sample(split, classes) for split in SAMPLE_ROWS)
        record = _sample_record(logger, sst.DATA_SET)
        return ClassificationData(data, ("text",), labels, train, dev, test, record)
    paths = [sst.find_sst(split, data_dir) for split in sst.SPLITS]
    frames = [
        sst.read_sst(path, classes, phrases=phrases and split == "train")
        for split, path in zip(sst.SPLITS, paths, strict=True)
    ]
    kind = f"{classes} classes, trained on {'phrases' if phrases else 'sentences'}"
    record = _record("SST", paths, frames, sst.PUBLISHED, logger, kind)
    train, dev, test = frames
    return ClassificationData(data, ("text",), labels, train, dev, test, record)


def load_snli(data: str, data_dir: Path | None, logger: logging.Logger) -> ClassificationData:
    """Reads SNLI, or generates the sample.

    Args:
        data: ``"sample"`` or ``"snli"``.
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets a line on what is read.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is malformed.
    """
    sides = ("premise", "hypothesis")
    if data == "sample":
        train, dev, test = map(inference_sample, SAMPLE_ROWS)
        record = _sample_record(logger, snli.DATA_SET)
        return ClassificationData(data, sides, snli.LABELS, train, dev, test, record)
    paths = [snli.find_snli(split, data_dir) for split in snli.SPLITS]
    frames = [snli.read_snli(path) for path in paths]
    record = _record("SNLI 1.0", paths, frames, {}, logger)
    train, dev, test = frames
    return ClassificationData(data, sides, snli.LABELS, train, dev, test, record)


def load_sick(data: str, data_dir: Path | None, logger: logging.Logger) -> ClassificationData:
    """Reads SICK, or generates the sample.

    Args:
        data: ``"sample"`` or ``"sick"``.
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets a line on what is read.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is malformed.
    """
    if data == "sample":
        record = _sample_record(logger, sick.DATA_SET)
        return load_snli(data, data_dir, logger)._replace(record=record)
    paths = [sick.find_sick(split, data_dir) for split in sick.SPLITS]
    frames = [sick.read_sick(path) for path in paths]
    record = _record("SICK", paths, frames, sick.PUBLISHED, logger)
    train, dev, test = frames
    sides = ("premise", "hypothesis")
    return ClassificationData(data, sides, snli.LABELS, train, dev, test, record)


def load_counterfactual(data_dir: Path | None, logger: logging.Logger) -> ClassificationData:
    """Reads SICK's training part and counterfactual pairs to train on, and SNLI to measure.

    Args:
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets a line on what is read.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is malformed.
    """
    paths = [sick.find_sick("train", data_dir), cad.find_cad(data_dir)]
    paths += [snli.find_snli(split, data_dir) for split in ("dev", "test")]
    dev, test = map(snli.read_snli, paths[2:])
    frames = [sick.read_sick(paths[0]), cad.read_cad(paths[1]), dev, test]
    remarks = "trained on SICK and counterfactual pairs; SNLI's training part is not used"
    published = sick.PUBLISHED | cad.PUBLISHED
    record = _record("SNLI 1.0, dev and test", paths, frames, published, logger, remarks)
    training = pd.concat(frames[:2], ignore_index=True)
    sides = ("premise", "hypothesis")
    return ClassificationData("cad-nli", sides, snli.LABELS, training, dev, test, record)


def resolve_data(name: str, real: str, data_dir: Path | None) -> str:
    """Returns what ``auto`` stands for: ``real``, the name of a set, where it lies, or the sample.

    Raises:
        FileNotFoundError: ``auto``, and the folder lacks a file; see `zoo.data.choice.choose`.
    """
    known = {module.DATA_SET.name: module.DATA_SET for module in (imdb, sst, snli, sick)}
    return name if name != "auto" else choose([known[real]], data_dir, own=OWN_FILES)


def _sample_record(logger: logging.Logger, other: DataSet) -> DataRecord:
    reason = sample_reason([other])
    logger.info("data: the generated sample%s; --data %s reads the real one", reason, other.name)
    return DataRecord("sample", "train", "test", remarks="generated sentences")


def _record(
    name: str,
    paths: list[Path],
    frames: list[pd.DataFrame],
    published: Mapping[str, str],
    logger: logging.Logger,
    remarks: str = "",
) -> DataRecord:
    for path, frame in zip(paths, frames, strict=True):
        dropped = frame.attrs.get("dropped", 0)
        logger.info("%s: %d examples, without a label: %d", path.name, len(frame), dropped)
    return record_files(name, ("train", "test"), paths, published, logger, remarks)
