"""Word vectors in text files: the format of GloVe and that of word2vec.

A line is a word and its values, separated by single spaces; word2vec writes the number of words and
of dimensions on a line before them. Words may hold spaces themselves, as some of GloVe's do: the
values are counted from the end of the line.

Pennington, Socher and Manning, "GloVe: Global Vectors for Word Representation", EMNLP 2014.
Mikolov et al., "Distributed Representations of Words and Phrases and their Compositionality",
NeurIPS 2013.
"""

import gzip
import os
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from zoo.files import whole_text
from zoo.text.vocabulary import SPECIAL_WORDS

_LINES_TO_GUESS_FROM = 100
_CHUNK = 4096  # lines whose values are parsed in one call

Line = tuple[int, bytes]  # number from 1, text without the line break


class WordVectors(NamedTuple):
    """Words and their vectors.

    Attributes:
        words: n distinct words.
        matrix: (n, dimensions) float32.
    """

    words: list[str]
    matrix: np.ndarray


def read_vectors(path: str | os.PathLike[str], keep: Collection[str] | None = None) -> WordVectors:
    """Reads word vectors in text format.

    Args:
        path: File in GloVe's or word2vec's text format, compressed if it ends in `.gz`.
        keep: If given, only these words are returned; the values of others are not parsed.

    Returns:
        The vectors in the order of the file. Of a word that occurs twice the first one counts.

    Raises:
        ValueError: If the file is empty, a line is broken (the message says which), or there are
            fewer or more vectors than the header says.
    """
    path = Path(path)
    keep = None if keep is None else frozenset(keep)
    words: list[str] = []
    seen: set[str] = set()
    blocks: list[np.ndarray] = []
    with _open(path) as file:
        lines = _numbered_lines(file)
        head = list(islice(lines, _LINES_TO_GUESS_FROM))
        expected, dimensions, head = _dimensions(path, head)
        count = 0
        rest = chain(head, lines)
        while chunk := list(islice(rest, _CHUNK)):
            count += len(chunk)
            values: list[Line] = []
            for number, line in chunk:
                word, text = _split(path, number, line, dimensions)
                if word in seen or (keep is not None and word not in keep):
                    continue
                seen.add(word)
                words.append(word)
                values.append((number, text))
            blocks.append(_parse(path, values, dimensions))
    if expected is not None and count != expected:
        raise ValueError(f"{path}: the header announces {expected} vectors, the file has {count}")
    return WordVectors(words, np.concatenate(blocks))


def write_vectors(path: str | os.PathLike[str], vectors: WordVectors) -> None:
    """Writes vectors in word2vec's text format, values with six significant digits.

    Args:
        path: The file to write. It appears whole or not at all.
        vectors: What to write.

    Raises:
        ValueError: If a word is empty or holds a line break, or if the number of words differs
            from the number of rows.
    """
    words, matrix = vectors
    if matrix.ndim != 2 or len(matrix) != len(words):
        raise ValueError(f"matrix must have shape ({len(words)}, dimensions), got {matrix.shape}")
    for word in words:
        if not word or "\n" in word or "\r" in word:
            raise ValueError(f"words must be non-empty and on one line, got {word!r}")
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
        dtype: Of the result.

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
    """Gives every vector the same Euclidean norm; a vector of zeros stays one.

    Args:
        vectors: The vectors.
        norm: The norm, positive.

    Raises:
        ValueError: If `norm` is not positive.
    """
    if norm <= 0:
        raise ValueError(f"norm must be positive, got {norm}")
    norms = np.linalg.norm(vectors.matrix, axis=1, keepdims=True)  # (words, 1)
    scaled = vectors.matrix * (norm / np.where(norms > 0, norms, 1.0))
    return WordVectors(vectors.words, scaled.astype(vectors.matrix.dtype))


def _open(path: Path) -> BinaryIO | gzip.GzipFile:
    """Opens a file for reading bytes, decompressed if its name ends in .gz."""
    return gzip.GzipFile(path) if path.suffix == ".gz" else path.open("rb")


def _numbered_lines(file: Iterable[bytes]) -> Iterator[Line]:
    """Yields the lines with their numbers; some tools leave a space at the end of each."""
    for number, line in enumerate(file, start=1):
        yield number, line.rstrip(b" \r\n")


def _dimensions(path: Path, head: list[Line]) -> tuple[int | None, int, list[Line]]:
    """Returns the number of vectors (None without a header), of dimensions, and other lines."""
    if not head:
        raise ValueError(f"{path}: line 1: expected a word and its values, got an empty file")
    header = re.fullmatch(rb"(\d+) (\d+)", head[0][1])
    if header:
        expected, dimensions, head = int(header[1]), int(header[2]), head[1:]
    else:
        # Most words hold no space, and their lines have the right number of fields.
        fields = Counter(line.count(b" ") for _, line in head)
        expected, dimensions = None, fields.most_common(1)[0][0]
    if dimensions < 1:
        raise ValueError(f"{path}: line 1: expected a word and its values, got no value")
    return expected, dimensions, head


def _split(path: Path, number: int, line: bytes, dimensions: int) -> tuple[str, bytes]:
    """Splits a line into the word and the text of its values."""
    word, _, values = line.partition(b" ")
    if values.count(b" ") != dimensions - 1:
        # A word with spaces in it, or a broken line.
        word, *fields = line.rsplit(b" ", dimensions)
        values = b" ".join(fields)
        if len(fields) < dimensions:
            raise ValueError(
                f"{path}: line {number}: expected a word and {dimensions} values, "
                f"got {line.count(b' ') + 1 if line else 0} fields"
            )
    try:
        text = word.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: line {number}: word is not valid UTF-8: {error}") from None
    if not text:
        raise ValueError(f"{path}: line {number}: the word is empty")
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
                f"{path}: line {number}: expected {dimensions} finite values, got {text[:80]!r}"
            )
    raise AssertionError("lines that parse one by one must parse together")


def _floats(text: bytes) -> np.ndarray | None:
    """Parses numbers separated by spaces; None if one of them is no finite number."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            # Parsing float64 is faster than parsing float32.
            values = np.fromstring(text, dtype=np.float64, sep=" ").astype(np.float32)
        except (ValueError, RuntimeWarning, DeprecationWarning):
            return None
    return values if np.isfinite(values).all() else None
