"""Codec of words whose unknown words are told apart by a hash.

A word outside the vocabulary gets one of a fixed number of ids, always the same one. Two sentences
that share an unknown word therefore still share an id, as in Parikh et al. 2016, section 5.2 (arXiv
1606.01933).
"""

from pathlib import Path
from typing import Any

import tensorflow as tf

from zoo.text.vocabulary import UNKNOWN
from zoo.text.words import WordCodec


class HashedWordCodec(WordCodec):
    """Strings to ids and back; a `zoo.text.codecs.TextCodec`.

    The ids of hashed words follow those of the vocabulary.
    """

    def __init__(self, path: str | Path, *, hashed_words: int = 100, **options: Any) -> None:
        """Reads the vocabulary.

        Args:
            path: As for `WordCodec`.
            hashed_words: Number of ids for words outside the vocabulary.
            **options: As for `WordCodec`.

        Raises:
            ValueError: As for `WordCodec`; or if `hashed_words` is not positive.
        """
        if hashed_words < 1:
            raise ValueError(f"hashed_words must be positive, got {hashed_words}")
        super().__init__(path, **options)
        self._hashed_words = hashed_words

    @property
    def vocabulary_size(self) -> int:
        """Number of ids, the four special ones and those of hashed words included."""
        return super().vocabulary_size + self._hashed_words

    @property
    def words(self) -> list[str]:
        """All words in order of id, the four special ones first; "" for ids of hashed words."""
        return [*super().words, *[""] * self._hashed_words]

    def _ids(self, words: tf.RaggedTensor) -> tf.RaggedTensor:
        """Numbers words (batch, tokens); none has id 1."""
        ids = self._vocabulary.ids(words.flat_values)
        buckets = tf.strings.to_hash_bucket_fast(words.flat_values, self._hashed_words)
        hashed = len(self._vocabulary) + tf.cast(buckets, tf.int32)
        return words.with_flat_values(tf.where(ids == UNKNOWN, hashed, ids))

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's keywords except the path."""
        return super().get_config() | {"hashed_words": self._hashed_words}
