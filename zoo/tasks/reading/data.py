"""The data sets of reading comprehension, as every reading recipe takes them."""

import logging
from pathlib import Path
from typing import Literal, NamedTuple, cast

import numpy as np
import pandas as pd
import tensorflow as tf

from zoo.data.choice import choose, sample_reason
from zoo.data.reading_sample import reading_sample, sample_vectors
from zoo.data.squad import DATA_SET, SQUAD_FILES, find_squad, read_squad
from zoo.serving.cards import DataRecord
from zoo.tasks.shared.given_vectors import record_with_vectors
from zoo.tasks.shared.records import record_files
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vectors import WordVectors, embedding_matrix, read_vectors, scale_to_norm
from zoo.text.vocabulary import choose_words, count_words

DataName = Literal["sample", "squad"]

_CHUNK = 2048  # strings tokenised at a time
_MINIMUM_COUNT = 2  # of a word whose vector is to be learned

OWN_FILES = "python -m recipes.reading"
"""The command for files in any layout."""


class ReadingData(NamedTuple):
    """Data of a reading recipe."""

    training: pd.DataFrame
    evaluation: pd.DataFrame
    words: list[str]
    """The vocabulary, the special words not included."""
    vectors: np.ndarray | None
    """float32 (words, d), row by row; None if they are to be learned."""
    record: DataRecord
    test: pd.DataFrame | None = None
    """The part that the trained model is measured on; None: the evaluation part."""

    def embedding_matrix(self, vocabulary_words: list[str]) -> np.ndarray | None:
        """Rows for a whole vocabulary, the special words' zero; None if they are to be learned."""
        if self.vectors is None:
            return None
        return embedding_matrix(WordVectors(self.words, self.vectors), vocabulary_words)


def resolve_data(name: Literal["auto", "sample", "squad"], data_dir: Path | None) -> DataName:
    """Returns what ``auto`` stands for: SQuAD where both its files lie, else the sample.

    Raises:
        FileNotFoundError: ``auto``, and the folder lacks a file; see `zoo.data.choice.choose`.
    """
    return name if name != "auto" else cast(DataName, choose([DATA_SET], data_dir, own=OWN_FILES))


def load_reading_data(
    name: DataName,
    data_dir: Path | None,
    vectors: Path | None,
    maximum_vocabulary: int,
    logger: logging.Logger,
    vector_norm: float | None = None,
) -> ReadingData:
    """Reads SQuAD, downloading what is missing, and word vectors; or generates the sample.

    Args:
        name: the data set.
        data_dir: folder of the data sets, into which nothing is downloaded; None: ``$ZOO_DATA``,
            then the Keras cache.
        vectors: word vectors in GloVe's or word2vec's text format; the sample has its own.
        maximum_vocabulary: words kept, the first of the file.
        logger: gets a line where the data is not what one might expect.
        vector_norm: what the vectors of the file are scaled to; None or 0: left as they are.

    Raises:
        FileNotFoundError: a file is missing from the folder.
        DownloadError: a file is missing and could not be fetched.
        ValueError: a file is malformed, or there are vectors for the sample.
    """
    if name == "sample":
        if vectors is not None:
            raise ValueError(
                f"vectors must be none with the generated sample, which has its own, got {vectors}"
            )
        reason = sample_reason([DATA_SET])
        logger.info("data: the generated sample%s; --data squad downloads the real one", reason)
        words, matrix = sample_vectors()
        record = DataRecord("sample", "train", "test", remarks="generated paragraphs and vectors")
        return ReadingData(reading_sample("train"), reading_sample("test"), words, matrix, record)
    paths = {split: find_squad(split, data_dir, download=True) for split in SQUAD_FILES}
    published = {file.name: file.sha256 for file in SQUAD_FILES.values()}
    record = record_files(
        "SQuAD 1.1",
        ("train", "dev"),
        [*paths.values()],
        published,
        logger,
        differing="reconstructed or changed, not the official file",
    )
    training, evaluation = read_squad(paths["train"]), read_squad(paths["dev"])
    for split, frame in (("train", training), ("dev", evaluation)):
        wrong = frame.attrs["wrong_answer_starts"]
        logger.info("SQuAD %s: %d questions, %d wrong answer_start", split, len(frame), wrong)
    return with_words(
        training, evaluation, record, vectors, maximum_vocabulary, logger, vector_norm
    )


def with_words(
    training: pd.DataFrame,
    evaluation: pd.DataFrame,
    record: DataRecord,
    vectors: Path | None,
    maximum_vocabulary: int,
    logger: logging.Logger,
    vector_norm: float | None = None,
) -> ReadingData:
    """Adds word vectors of a file, or the words of the training part, to questions.

    Args:
        training: training part.
        evaluation: the part that chooses the weights.
        record: of their files.
        vectors: as in `load_reading_data`, as all others.
        maximum_vocabulary: words kept, the first of the file.
        logger: gets a line if there are no vectors.
        vector_norm: what the vectors of the file are scaled to; None or 0: left as they are.

    Raises:
        ValueError: the file of vectors is malformed.
    """
    if vectors is None:
        logger.warning("no --vectors: they are learned, from the training questions alone")
        words = _frequent_words(training, maximum_vocabulary)
        return ReadingData(training, evaluation, words, None, record)
    read = read_vectors(vectors, maximum=maximum_vocabulary)
    words, matrix = scale_to_norm(read, vector_norm) if vector_norm else read
    record = record_with_vectors(record, vectors, vector_norm)
    return ReadingData(training, evaluation, words, matrix, record)


def _frequent_words(frame: pd.DataFrame, maximum: int) -> list[str]:
    """The most frequent words of contexts and questions."""
    texts = [*frame["context"].unique(), *frame["question"]]
    tokenizer = WordTokenizer()
    chunks = [texts[start : start + _CHUNK] for start in range(0, len(texts), _CHUNK)]
    counts = count_words(*(tokenizer(tf.constant(chunk)).folded for chunk in chunks))
    return choose_words(counts, maximum, _MINIMUM_COUNT)
