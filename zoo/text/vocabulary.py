"""Vocabularies: text files with one word per line, looked up inside the graph.

The line number is the id. A SavedModel contains the file as an asset.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from zoo.files import whole_text
from zoo.text_files import read_text, split_lines

PADDING, UNKNOWN, START, END = range(4)
SPECIAL_WORDS = ("<pad>", "<unk>", "<s>", "</s>")


def count_words(*tokens: tf.RaggedTensor | tf.Tensor) -> Counter[bytes]:
    """Counts the tokens of any number of string tensors.

    Args:
        *tokens: String tensors or ragged tensors of any shape.

    Returns:
        The count of each token, as bytes.
    """
    counts: Counter[bytes] = Counter()
    for batch in tokens:
        flat = batch.flat_values if isinstance(batch, tf.RaggedTensor) else tf.reshape(batch, [-1])
        words, _, occurrences = tf.unique_with_counts(flat, out_idx=tf.int64)
        pairs = zip(words.numpy().tolist(), occurrences.numpy().tolist(), strict=True)
        for word, occurrence in pairs:
            counts[word] += occurrence
    return counts


def choose_words(
    counts: Mapping[bytes, int],
    maximum_size: int | None = None,
    minimum_count: int = 1,
    keep: Collection[str] | None = None,
) -> list[str]:
    """Chooses the words of a vocabulary: the most frequent first, equal counts by alphabet.

    Args:
        counts: Count of each token, see `count_words`.
        maximum_size: Maximum number of words; None: all.
        minimum_count: Rarer words are left out.
        keep: If given, only these words are chosen, for example those with a vector.

    Returns:
        The words, without the special ones. Tokens are left out if they are empty, not valid UTF-8,
        contain a line break or equal a special word.

    Raises:
        ValueError: If `maximum_size` is negative.
    """
    if maximum_size is not None and maximum_size < 0:
        raise ValueError(f"maximum_size must not be negative, got {maximum_size}")
    candidates: list[tuple[int, str]] = []
    for token, count in counts.items():
        word = _as_line(token)
        if word is None or count < minimum_count or word in SPECIAL_WORDS:
            continue
        if keep is None or word in keep:
            candidates.append((-count, word))
    return [word for _, word in sorted(candidates)[:maximum_size]]


def is_ordinary(word: str) -> bool:
    """Tells whether a vocabulary can hold a word: not empty, not special, on one line."""
    return bool(word) and "\n" not in word and "\r" not in word and word not in SPECIAL_WORDS


def write_vocabulary(path: str | os.PathLike[str], words: Iterable[str]) -> None:
    """Writes a vocabulary file, one word per line: the four special words, then the given ones.

    Args:
        path: The file to write. It appears whole or not at all.
        words: The words from id 4 on, without the special ones.

    Raises:
        ValueError: If a word is empty, holds a line break, is special or occurs twice, or the name
            ends in `.gz`.
    """
    _refuse_compressed(path)
    lines = list(SPECIAL_WORDS)
    seen = set(lines)
    for word in words:
        if _as_line(word.encode("utf-8", "surrogatepass")) is None:
            raise ValueError(f"words must be valid non-empty text on one line, got {word!r}")
        if word in seen:
            raise ValueError(f"words must be distinct and not special, got {word!r} again")
        seen.add(word)
        lines.append(word)
    with whole_text(path) as file:
        file.writelines(f"{line}\n" for line in lines)


def write_longer_vocabulary(
    path: str | os.PathLike[str], words: Iterable[str], new_words: Iterable[str]
) -> None:
    """Writes a vocabulary file with additional words; existing ids stay the same.

    Args:
        path: The file to write.
        words: The existing words, `Vocabulary.words`, including the special ones.
        new_words: The words to append.

    Raises:
        ValueError: As `write_vocabulary`; also if a new word already exists.
    """
    known = [word for word in words if word not in SPECIAL_WORDS]
    write_vocabulary(path, [*known, *new_words])


class FileOfWords(tf.lookup.TextFileInitializer):
    """Table initialiser from a file, named after the file's content.

    TensorFlow names the table after the path. If two vocabularies were read from one path in turn,
    the second would look words up in the first one's table.
    """

    def __init__(self, path: str, words: Iterable[str], **kwargs: Any) -> None:
        super().__init__(path, **kwargs)
        self._content = hashlib.sha256("\n".join(words).encode()).hexdigest()

    @property
    def _shared_name(self) -> str:
        return f"{super()._shared_name}_{self._content}"


class Vocabulary(tf.Module):
    """Vocabulary file, looked up inside the graph."""

    def __init__(self, path: str | os.PathLike[str], name: str = "vocabulary") -> None:
        """Reads the file.

        Args:
            path: A file that `write_vocabulary` wrote.
            name: Name of the module.

        Raises:
            ValueError: If the file does not start with the special words, repeats a word, or has
                one that is empty or holds a carriage return; if its name ends in `.gz`.
        """
        super().__init__(name=name)
        _refuse_compressed(path)
        path = os.fspath(path)
        words = split_lines(read_text(path).text)
        if tuple(words[: len(SPECIAL_WORDS)]) != SPECIAL_WORDS:
            raise ValueError(f"{path}: must start with the lines {SPECIAL_WORDS}, got {words[:4]}")
        if len(set(words)) < len(words):
            word, _ = Counter(words).most_common(1)[0]
            raise ValueError(f"{path}: words must be distinct, got {word!r} more than once")
        for word in words[len(SPECIAL_WORDS) :]:
            # TensorFlow drops carriage returns, so the table would hold a different word.
            if not is_ordinary(word):
                raise ValueError(f"{path}: words must be non-empty and on one line, got {word!r}")
        # An array, because tf.Module would track a list and save it with the graph.
        self._words = np.array(words, dtype=object)
        self._table = tf.lookup.StaticHashTable(
            FileOfWords(
                path,
                words,
                key_dtype=tf.string,
                key_index=tf.lookup.TextFileIndex.WHOLE_LINE,
                value_dtype=tf.int64,
                value_index=tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            default_value=UNKNOWN,
        )

    @property
    def words(self) -> list[str]:
        """All words in order of id, including the special ones."""
        return self._words.tolist()

    def __len__(self) -> int:
        """Returns the number of ids, including the special ones."""
        return len(self._words)

    def ids(self, tokens: tf.Tensor | tf.RaggedTensor) -> tf.Tensor | tf.RaggedTensor:
        """Returns the ids of tokens.

        Args:
            tokens: String tensor or ragged tensor of any shape.

        Returns:
            int32 of the same shape and kind. Unknown tokens, and those equal to a special word, are
            1.
        """
        if isinstance(tokens, tf.RaggedTensor):
            return tokens.with_flat_values(self.ids(tokens.flat_values))
        ids = self._table.lookup(tf.convert_to_tensor(tokens, tf.string))
        return tf.cast(tf.where(ids < len(SPECIAL_WORDS), np.int64(UNKNOWN), ids), tf.int32)


def _refuse_compressed(path: str | os.PathLike[str]) -> None:
    """Refuses names that end in `.gz`: TensorFlow's table reads a file's bytes as they are."""
    if Path(path).suffix == ".gz":
        raise ValueError(f"path must name an uncompressed file, not .gz, got {os.fspath(path)!r}")


def _as_line(token: bytes) -> str | None:
    """Decodes a token, or returns None if it cannot be a line of its own."""
    try:
        word = token.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if not word or "\n" in word or "\r" in word else word
