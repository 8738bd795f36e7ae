"""The data sets of translation and their codecs, as every translation recipe takes them."""

import logging
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd
import tensorflow as tf

from zoo.data.download import checksum, file_sha256
from zoo.data.multi30k import MULTI30K_FILES, find_multi30k, load_multi30k
from zoo.data.translation_sample import translation_sample
from zoo.serving.cards import DataRecord
from zoo.text.codecs import TextCodec
from zoo.text.subwords import SubwordCodec, train_subwords
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import choose_words, count_words, write_vocabulary
from zoo.text.words import WordCodec

DataName = Literal["sample", "multi30k"]
VocabularyKind = Literal["joint", "separate", "words"]
SPLITS = ("train", "val", "test_2016_flickr")
"""Parts of Multi30k for training, for choosing the weights, and for measuring."""


class TranslationData(NamedTuple):
    """Data of a translation recipe; frames of ``source`` and ``target``."""

    name: DataName
    training: pd.DataFrame
    validation: pd.DataFrame
    test: pd.DataFrame
    record: DataRecord


def resolve_data(
    name: Literal["auto", "sample", "multi30k"], source: str, target: str, data_dir: Path | None
) -> DataName:
    """Returns what ``auto`` stands for: Multi30k where all its files lie, else the sample."""
    if name != "auto":
        return name
    try:
        for split in SPLITS:
            for language in (source, target):
                find_multi30k(split, language, data_dir)
    except FileNotFoundError:
        return "sample"
    return "multi30k"


def load_translation_data(
    name: DataName, source: str, target: str, data_dir: Path | None, logger: logging.Logger
) -> TranslationData:
    """Reads Multi30k, downloading what is missing, or generates the sample.

    Args:
        name: the data set.
        source: language to translate from.
        target: language to translate to.
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets a line where the data is not what one might expect.

    Raises:
        DownloadError: a file is missing and could not be fetched.
        ValueError: a file is malformed, or the languages are the same.
    """
    if name == "sample":
        logger.info("data: the generated sample; --data multi30k downloads the real one")
        train, validation, test = map(translation_sample, ("train", "val", "test"))
        record = DataRecord("sample", "train", "test", remarks="generated dates to ISO dates")
        return TranslationData(name, train, validation, test, record)
    frames = [load_multi30k(split, source, target, data_dir, download=True) for split in SPLITS]
    for split, frame in zip(SPLITS, frames, strict=True):
        logger.info("Multi30k %s-%s %s: %d pairs", source, target, split, len(frame))
    train, validation, test = frames
    record = _record(frames, source, target, logger)
    return TranslationData(name, train, validation, test, record)


def _record(
    frames: list[pd.DataFrame], source: str, target: str, logger: logging.Logger
) -> DataRecord:
    """Records the files, with a warning for those that are not the published ones."""
    sums, unofficial = {}, []
    for path in (Path(path) for frame in frames for path in frame.attrs["paths"]):
        name = path.name.removesuffix(".gz")
        if name not in MULTI30K_FILES:
            sums[name] = file_sha256(path, decompress=path.suffix == ".gz")
            continue
        check = checksum(path, MULTI30K_FILES[name])
        sums[name] = check.sha256
        if not check.official:
            unofficial.append(name)
    remarks = f"task 1, {source} to {target}"
    if unofficial:
        remarks += f"; changed, not the published file: {', '.join(unofficial)}"
        logger.warning("%s (sha256 differs)", remarks)
    return DataRecord("Multi30k", SPLITS[0], SPLITS[2], sums, remarks)


def make_codecs(
    data: TranslationData, folder: Path, kind: VocabularyKind, vocabulary_size: int
) -> tuple[TextCodec, TextCodec]:
    """Makes the codecs of source and target, from the training part alone.

    The files are written into the folder, and used again where they lie.

    Args:
        data: the data set.
        folder: where a run keeps its vocabularies.
        kind: ``"joint"``: one codec of subwords for both sides; ``"separate"``: one for each;
            ``"words"``: words of each.
        vocabulary_size: ids of the subwords, or at most so many words of either side.
    """
    sides = {side: list(data.training[side]) for side in ("source", "target")}
    if kind == "joint":
        codec = _subwords(
            [*sides["source"], *sides["target"]], folder / "subwords.model", vocabulary_size
        )
        return codec, codec
    source, target = (
        _subwords(texts, folder / f"subwords_{side}.model", vocabulary_size)
        if kind == "separate"
        else _words(texts, folder / f"words_{side}.txt", vocabulary_size)
        for side, texts in sides.items()
    )
    return source, target


def _subwords(texts: list[str], path: Path, size: int) -> SubwordCodec:
    if not path.exists():
        train_subwords(texts, path, size)
    return SubwordCodec(path)


def _words(texts: list[str], path: Path, size: int) -> WordCodec:
    if not path.exists():
        tokens = WordTokenizer(case_fold=False)(tf.constant(texts)).folded
        write_vocabulary(path, choose_words(count_words(tokens), size, 1))
    return WordCodec(path)
