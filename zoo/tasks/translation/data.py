"""The data sets of translation and their codecs, as every translation recipe takes them."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, cast

import pandas as pd
import tensorflow as tf

from zoo.data.choice import choose, sample_reason
from zoo.data.multi30k import LANGUAGES, MULTI30K_FILES, data_set, load_multi30k
from zoo.data.translation_sample import translation_sample
from zoo.serving.cards import DataRecord
from zoo.tasks.shared.records import record_files
from zoo.text.codecs import TextCodec
from zoo.text.subwords import SubwordCodec, VocabularySizeError, train_subwords
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import choose_words, count_words, write_vocabulary
from zoo.text.words import WordCodec

DataName = Literal["sample", "multi30k"]
VocabularyKind = Literal["joint", "separate", "words"]
SPLITS = ("train", "val", "test_2016_flickr")
"""Parts of Multi30k for training, for choosing the weights, and for measuring."""
DEFAULT_LANGUAGES = ("en", "de")
OWN_FILES = "python -m recipes.translation"
"""The command for files in any layout."""


class TranslationData(NamedTuple):
    """Data of a translation recipe; frames of ``source`` and ``target``."""

    name: str
    training: pd.DataFrame
    validation: pd.DataFrame
    test: pd.DataFrame
    record: DataRecord


def resolve_data(
    name: Literal["auto", "sample", "multi30k"], source: str, target: str, data_dir: Path | None
) -> DataName:
    """Returns what ``auto`` stands for: Multi30k where all its files lie, else the sample.

    Raises:
        FileNotFoundError: ``auto``, and files are missing although a folder, or other languages
            than the default ones, were named; see `zoo.data.choice.choose`.
        ValueError: the same of a language that was not published.
    """
    if name != "auto":
        return name
    languages = (source, target)
    named = None if languages == DEFAULT_LANGUAGES else f"the languages {source} and {target}"
    try:
        chosen = choose([data_set(SPLITS, languages)], data_dir, named, own=OWN_FILES)
    except FileNotFoundError as error:
        if not (unknown := [one for one in languages if one not in LANGUAGES]):
            raise
        raise ValueError(
            f"language must be one of {list(LANGUAGES)}, or one of which all files are there, "
            f"got {unknown[0]!r}. {error}"
        ) from None
    return cast(DataName, chosen)


def load_translation_data(
    name: DataName, source: str, target: str, data_dir: Path | None, logger: logging.Logger
) -> TranslationData:
    """Reads Multi30k, downloading what is missing, or generates the sample.

    Args:
        name: the data set.
        source: language to translate from.
        target: language to translate to.
        data_dir: folder of the data sets, into which nothing is downloaded; None: ``$ZOO_DATA``,
            then the Keras cache.
        logger: gets a line where the data is not what one might expect.

    Raises:
        FileNotFoundError: a file is missing from the folder.
        DownloadError: a file is missing and could not be fetched.
        ValueError: a file is malformed, or the languages are the same.
    """
    if name == "sample":
        reason = sample_reason([data_set(SPLITS, (source, target))])
        logger.info("data: the generated sample%s; --data multi30k downloads the real one", reason)
        return sample_data()
    frames = [load_multi30k(split, source, target, data_dir, download=True) for split in SPLITS]
    for split, frame in zip(SPLITS, frames, strict=True):
        logger.info("Multi30k %s-%s %s: %d pairs", source, target, split, len(frame))
    train, validation, test = frames
    record = multi30k_record(frames, (SPLITS[0], SPLITS[2]), source, target, logger)
    return TranslationData(name, train, validation, test, record)


def sample_data() -> TranslationData:
    """Generates the sample."""
    train, validation, test = map(translation_sample, ("train", "val", "test"))
    record = DataRecord("sample", "train", "test", remarks="generated dates to ISO dates")
    return TranslationData("sample", train, validation, test, record)


def multi30k_record(
    frames: Sequence[pd.DataFrame],
    parts: tuple[str, str],
    source: str,
    target: str,
    logger: logging.Logger,
) -> DataRecord:
    """Records frames of `load_multi30k`, with a warning for files that are not the published ones.

    Args:
        frames: parts of the data set.
        parts: the training and the evaluation part.
        source: language to translate from.
        target: language to translate to.
        logger: gets the warning.
    """
    paths = [Path(path) for frame in frames for path in frame.attrs["paths"]]
    published = {file.name: file.sha256 for file in MULTI30K_FILES.values()}
    remarks = f"task 1, {source} to {target}"
    return record_files("Multi30k", parts, paths, published, logger, remarks)


def make_codecs(
    data: TranslationData,
    folder: Path,
    kind: VocabularyKind,
    vocabulary_size: int,
    logger: logging.Logger | None = None,
) -> tuple[TextCodec, TextCodec]:
    """Makes the codecs of source and target, from the training part alone.

    The files are written into the folder, and used again where they lie.

    Args:
        data: the data set.
        folder: where a run keeps its vocabularies.
        kind: ``"joint"``: one codec of subwords for both sides; ``"separate"``: one for each;
            ``"words"``: words of each.
        vocabulary_size: ids of the subwords, or at most so many words of either side.
        logger: gets a line where so many subwords do not fit the texts, and the nearest number that
            does is taken; None: such a number is refused.

    Raises:
        VocabularySizeError: so many subwords do not fit the texts.
    """
    sides = {side: list(data.training[side]) for side in ("source", "target")}
    if kind == "joint":
        texts = [*sides["source"], *sides["target"]]
        codec = _subwords(texts, folder / "subwords.model", vocabulary_size, logger)
        return codec, codec
    source, target = (
        _subwords(texts, folder / f"subwords_{side}.model", vocabulary_size, logger)
        if kind == "separate"
        else _words(texts, folder / f"words_{side}.txt", vocabulary_size)
        for side, texts in sides.items()
    )
    return source, target


def _subwords(
    texts: list[str], path: Path, size: int, logger: logging.Logger | None
) -> SubwordCodec:
    if not path.exists():
        try:
            train_subwords(texts, path, size)
        except VocabularySizeError as error:
            if logger is None or error.fits is None:
                raise
            count = len(texts)
            logger.info("vocabulary_size: %d instead of %d, for %d texts", error.fits, size, count)
            train_subwords(texts, path, error.fits)
    return SubwordCodec(path)


def _words(texts: list[str], path: Path, size: int) -> WordCodec:
    if not path.exists():
        tokens = WordTokenizer(case_fold=False)(tf.constant(texts)).folded
        write_vocabulary(path, choose_words(count_words(tokens), size, 1))
    return WordCodec(path)
