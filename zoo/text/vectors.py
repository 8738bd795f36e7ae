"""Word vectors in the text formats of GloVe and word2vec.

A line is a word and its values, separated by single spaces; word2vec adds a first line with the
numbers of words and dimensions. Words may contain spaces, as some of GloVe's do, so values are
counted from the end of the line.

Pennington, Socher and Manning, "GloVe: Global Vectors for Word Representation", EMNLP 2014.
Mikolov et al., "Distributed Representations of Words and Phrases and their Compositionality",
NeurIPS 2013.
"""

import math
import os
import re
import warnings
from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, count, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from zoo.files import whole_text
from zoo.text.vocabulary import SPECIAL_WORDS, is_ordinary
from zoo.text_files import iterate_lines, open_content

_LINES_TO_GUESS_FROM = 100
_CHUNK = 4096  # lines whose values are parsed in one call
_HEADER_DIGITS = 20  # maximum digits of a number in the header

Line = tuple[int, bytes]  # number from 1, text without the line break


class WordVectors(NamedTuple):
    """Words and vectors.

    Attributes:
        words: n distinct words.
        matrix: (n, dimensions) float32.
    """

    words: list[str]
    matrix: np.ndarray


def read_vectors(
    path: str | os.PathLike[str], keep: Collection[str] | None = None, maximum: int | None = None
) -> WordVectors:
    """Reads word vectors in text format.

    The result leaves out words that no vocabulary can hold: special words (`</s>`, `<unk>`), which
    tools write for missing words, empty ones, and those with a line break. Memory use is a small
    multiple of the result, whatever the size of the file.

    Args:
        path: File in GloVe's or word2vec's text format, compressed if it ends in `.gz`.
        keep: If given, only these words are returned; the values of others are not parsed.
        maximum: If given, only the first so many words are returned. Later lines are counted but
            not parsed.

    Returns:
        The vectors in the order of the file. The first occurrence of a repeated word counts.

    Raises:
        ValueError: If the file is empty or truncated, a line is malformed (the message names it),
            no line has a word, there are fewer or more vectors than the header says, or `maximum`
            is not positive.
    """
    if maximum is not None and maximum < 1:
        raise ValueError(f"maximum must be positive, got {maximum}")
    path = Path(path)
    with open_content(path) as file:
        numbers = count(1)
        # Some tools end each line with a space.
        lines = ((next(numbers), line.rstrip(b" ")) for _, line in iterate_lines(file))
        head = list(islice(lines, _LINES_TO_GUESS_FROM))
        expected, dimensions, head = _dimensions(path, head)
        vectors = _read_words(path, chain(head, lines), dimensions, keep, maximum)
        deque(lines, maxlen=0)  # reads to the end, so that a truncated file is refused
    found = next(numbers) - 2  # without the header
    if expected is not None and found != expected:
        raise ValueError(f"{path} must have the {expected} vectors of its header, got {found}")
    if not vectors.words and keep is None:
        raise ValueError(f"{path} must hold words and their values, got none")
    return vectors


def write_vectors(path: str | os.PathLike[str], vectors: WordVectors) -> None:
    """Writes vectors in word2vec's text format, values with six significant digits.

    Args:
        path: The file to write. It appears whole or not at all.
        vectors: The vectors.

    Raises:
        ValueError: If a word is empty or holds a line break, if the number of words differs from
            the number of rows, or if a value is not finite, which is refused when it is read.
    """
    words, matrix = vectors
    if matrix.ndim != 2 or len(matrix) != len(words):
        raise ValueError(f"matrix must have shape ({len(words)}, dimensions), got {matrix.shape}")
    for word in words:
        if not word or "\n" in word or "\r" in word:
            raise ValueError(f"words must be non-empty and on one line, got {word!r}")
    _check_finite(vectors)
    row_format = "%s" + " %.6g" * matrix.shape[1] + "\n"
    with whole_text(path) as file:
        file.write(f"{len(words)} {matrix.shape[1]}\n")
        for word, row in zip(words, matrix, strict=True):
            file.write(row_format % (word, *row.tolist()))


def embedding_matrix(
    vectors: WordVectors, vocabulary_words: Sequence[str], dtype: npt.DTypeLike = np.float32
) -> np.ndarray:
    """Arranges vectors in the order of a vocabulary.

    Args:
        vectors: The vectors.
        vocabulary_words: All words of the vocabulary in the order of their ids.
        dtype: Dtype of the result.

    Returns:
        (vocabulary, dimensions); zeros for the special words and for words without a vector.
    """
    rows = {word: row for row, word in enumerate(vectors.words)}
    found = [
        (row, rows[word])
        for row, word in enumerate(vocabulary_words)
        if word in rows and word not in SPECIAL_WORDS
    ]
    matrix = np.zeros((len(vocabulary_words), vectors.matrix.shape[1]), dtype)
    if found:
        to_rows, from_rows = np.array(found).T
        matrix[to_rows] = vectors.matrix[from_rows]
    return matrix


def scale_to_norm(vectors: WordVectors, norm: float) -> WordVectors:
    """Scales every vector to the same Euclidean norm; zero vectors stay zero.

    Args:
        vectors: The vectors.
        norm: The norm, positive and finite.

    Raises:
        ValueError: If `norm` is not, or a vector has a value that is not finite.
    """
    if not 0 < norm < math.inf:
        raise ValueError(f"norm must be positive and finite, got {norm!r}")
    _check_finite(vectors)
    norms = np.linalg.norm(vectors.matrix, axis=1, keepdims=True)  # (words, 1)
    scaled = vectors.matrix * (norm / np.where(norms > 0, norms, 1.0))
    return WordVectors(vectors.words, scaled.astype(vectors.matrix.dtype))


def _check_finite(vectors: WordVectors) -> None:
    """Raises a ValueError that names the first word with a value that is not finite."""
    wrong = ~np.isfinite(vectors.matrix).all(axis=1)
    if wrong.any():
        word = vectors.words[int(wrong.argmax())]
        raise ValueError(f"matrix must hold finite numbers, but the vector of {word!r} does not")


def _read_words(
    path: Path,
    lines: Iterator[Line],
    dimensions: int,
    keep: Collection[str] | None,
    maximum: int | None,
) -> WordVectors:
    """Reads lines up to the last kept word; arguments as in `read_vectors`."""
    keep = None if keep is None else frozenset(keep)
    words: dict[str, None] = {}
    blocks: list[np.ndarray] = []
    while chunk := list(islice(lines, _CHUNK)):
        values: list[Line] = []
        for number, line in chunk:
            word, text = _split(path, number, line, dimensions)
            if word in words or (keep is not None and word not in keep) or not is_ordinary(word):
                continue
            words[word] = None
            values.append((number, text))
            if len(words) == maximum:
                break
        blocks.append(_parse(path, values, dimensions))
        if len(words) == maximum:
            break  # the rest of the chunk has been counted
    return WordVectors(list(words), np.concatenate(blocks))


def _dimensions(path: Path, head: list[Line]) -> tuple[int | None, int, list[Line]]:
    """Returns the numbers of vectors (None without a header) and dimensions, and other lines."""
    if not head:
        raise ValueError(f"{path}: line 1 must be a word and its values, got an empty file")
    header = re.fullmatch(rb"(\d+) (\d+)", head[0][1])
    if header and max(map(len, header.groups())) > _HEADER_DIGITS:
        raise ValueError(
            f"{path}: line 1 must have a possible number of vectors, got {head[0][1][:40]!r}"
        )
    if header:
        expected, dimensions, head = int(header[1]), int(header[2]), head[1:]
    else:
        # Fast path: most words contain no space, so their lines have the right number of fields.
        fields = Counter(line.count(b" ") for _, line in head)
        expected, dimensions = None, fields.most_common(1)[0][0]
    if dimensions < 1:
        raise ValueError(f"{path}: line 1 must be a word and its values, got no value")
    if not head:
        raise ValueError(f"{path}: line 2 must be a word and its values, got the end of the file")
    return expected, dimensions, head


def _split(path: Path, number: int, line: bytes, dimensions: int) -> tuple[str, bytes]:
    """Splits a line into the word and the text of its values."""
    word, _, values = line.partition(b" ")
    if values.count(b" ") != dimensions - 1:
        # A word with spaces, or a malformed line.
        word, *fields = line.rsplit(b" ", min(dimensions, len(line)))
        values = b" ".join(fields)
        if len(fields) < dimensions:
            raise ValueError(
                f"{path}: line {number} must be a word and {dimensions} values, "
                f"got {line.count(b' ') + 1 if line else 0} fields"
            )
    try:
        text = word.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: line {number}: word is not valid UTF-8: {error}") from None
    return text, values


def _parse(path: Path, lines: list[Line], dimensions: int) -> np.ndarray:
    """Parses the values of lines, (lines, dimensions) float32."""
    values = _floats(b" ".join(text for _, text in lines))
    if values is not None and values.size == len(lines) * dimensions:
        return values.reshape(len(lines), dimensions)
    for number, text in lines:
        row = _floats(text)
        if row is None or row.size != dimensions:
            raise ValueError(
                f"{path}: line {number} must have {dimensions} finite values, got {text[:80]!r}"
            )
    raise AssertionError("lines that parse one by one must parse together")


def _floats(text: bytes) -> np.ndarray | None:
    """Parses numbers separated by spaces; None if one of them is not a finite number."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            # Parsing float64 is faster than parsing float32.
            values = np.fromstring(text, dtype=np.float64, sep=" ").astype(np.float32)
        except (ValueError, RuntimeWarning, DeprecationWarning):
            return None
    return values if np.isfinite(values).all() else None
