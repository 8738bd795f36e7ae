"""The data sets of classification, as the recipes take them."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import tensorflow as tf

from zoo.data import cad, sick, snli, sst
from zoo.data.choice import DataSet, choose, sample_reason
from zoo.data.classification_sample import SAMPLE_ROWS, inference_sample, sentiment_sample
from zoo.serving.cards import DataRecord
from zoo.tasks.shared.records import record_files
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
    return ClassificationData(data, ("premise", "hypothesis"), snli.LABELS, *frames, record)


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
    frames = [sick.read_sick(paths[0]), cad.read_cad(paths[1]), *map(snli.read_snli, paths[2:])]
    remarks = "trained on SICK and counterfactual pairs; SNLI's training part is not used"
    published = sick.PUBLISHED | cad.PUBLISHED
    record = _record("SNLI 1.0, dev and test", paths, frames, published, logger, remarks)
    training = pd.concat(frames[:2], ignore_index=True)
    sides = ("premise", "hypothesis")
    return ClassificationData("cad-nli", sides, snli.LABELS, training, *frames[2:], record)


def resolve_data(name: str, real: str, data_dir: Path | None) -> str:
    """Returns what ``auto`` stands for: ``real``, such as "sst", where it lies, else the sample.

    Raises:
        FileNotFoundError: ``auto``, and the folder lacks a file; see `zoo.data.choice.choose`.
    """
    known = {module.DATA_SET.name: module.DATA_SET for module in (sst, snli, sick)}
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
