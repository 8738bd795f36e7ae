"""Word vectors that a training begins with."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from zoo.data.download import file_sha256
from zoo.serving.cards import DataRecord
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vectors import embedding_matrix, read_vectors


class GivenVectors(NamedTuple):
    """The vectors that a vocabulary begins with."""

    matrix: np.ndarray
    """float32 (V, d)"""
    given: np.ndarray
    """bool (V,): whether the file has the word."""


def vectors_for(
    path: Path, words: list[str], seed: int, deviation: float | None = None
) -> GivenVectors:
    """Rows of a vocabulary, the special words first; those without a vector are random.

    By default they are about as long as the vectors that are given: longer ones would outweigh the
    known words of a text, and no training shortens those of words that it never sees.

    Args:
        path: word vectors in GloVe's or word2vec's text format.
        words: of the vocabulary, the special ones first; "" for a row that stands for no word.
        seed: of the rows of words without a vector, which are normal around zero.
        deviation: their standard deviation; None: that of the values of the vectors that are given.

    Raises:
        ValueError: the file is malformed, or has none of the words.
    """
    vectors = read_vectors(path, keep={*words} - {""})
    matrix = embedding_matrix(vectors, words)
    given: np.ndarray = np.any(matrix != 0, axis=1)
    if not given.any():
        raise ValueError(f"vectors must hold some of the {len(words)} words, got none in {path}")
    scale = float(matrix[given].std()) if deviation is None else deviation
    random = np.random.default_rng([seed, 300]).normal(scale=scale, size=matrix.shape)
    random[0] = 0.0  # padding
    return GivenVectors(np.where(given[:, np.newaxis], matrix, random).astype("float32"), given)


def frequent_words(path: Path, count: int, *, case_fold: bool) -> list[str]:
    """Lists words that have a vector: the first of a file, where the most frequent stand.

    Those that no text can have are left out: of folded texts, words with capitals.

    Args:
        path: word vectors in GloVe's or word2vec's text format.
        count: words of the file that are looked at, its first; 0: none.
        case_fold: whether words of texts are lower-cased.

    Raises:
        ValueError: the file is malformed.
    """
    if not count:
        return []
    words = read_vectors(path, maximum=count).words
    tokens = WordTokenizer(case_fold=case_fold)(tf.constant(words)).folded.to_list()
    return [word for word, found in zip(words, tokens, strict=True) if found == [word.encode()]]


def record_with_vectors(record: DataRecord, path: Path, norm: float | None = None) -> DataRecord:
    """The record of a data set with the file of word vectors in it.

    Args:
        record: of the data set.
        path: word vectors in GloVe's or word2vec's text format.
        norm: what they were scaled to, if they were.
    """
    told = f"word vectors: {path.name}" + (f", scaled to norm {norm:g}" if norm else "")
    name = path.name
    while name in record.sha256:  # a file of the data is called the same
        name = f"vectors/{name}"
    return replace(
        record,
        sha256=record.sha256 | {name: file_sha256(path)},
        remarks="; ".join(filter(None, (record.remarks, told))),
    )
