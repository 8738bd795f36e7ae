"""Codec of whole words and punctuation marks, with a vocabulary file.

Models before subwords read words, and words are the most readable in pictures of attention. Words
outside the vocabulary are unknown; `zoo.text.subwords` has no unknown words.
"""

from pathlib import Path
from typing import Any, Literal

import tensorflow as tf

from zoo.text.codecs import (
    Ids,
    Strings,
    check_strings,
    dense_pieces,
    until_end,
    valid_utf8,
)
from zoo.text.detokenizer import detokenize
from zoo.text.tokenizer import SpaceTokenizer, WordTokenizer
from zoo.text.vocabulary import PADDING, SPECIAL_WORDS, UNKNOWN, FileOfWords, Vocabulary


class WordCodec(tf.Module):
    """Strings to ids and back by a vocabulary of words; a `zoo.text.codecs.TextCodec`.

    A SavedModel that tracks the codec contains the vocabulary file.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        case_fold: bool = False,
        language: str | None = None,
        split_on: Literal["words", "spaces"] = "words",
        name: str = "word_codec",
    ) -> None:
        """Reads the vocabulary.

        Args:
            path: A file that `zoo.text.vocabulary.write_vocabulary` wrote. Make its words with
                `choose_words` from the folded tokens of `WordTokenizer(case_fold=...)`.
            case_fold: Whether words are case-folded, as the vocabulary's must then be.
            split_on: "words" splits as `WordTokenizer`; "spaces" splits as `SpaceTokenizer`, for
                text that is already tokenised.
            language: Language of decoded text, as in `zoo.text.detokenizer.detokenize`.
            name: Name of the module.

        Raises:
            ValueError: If the file is no vocabulary, `split_on` is not one of its options, or words
                cut at spaces are to be case-folded.
        """
        super().__init__(name=name)
        self._path = str(path)
        self._language = language
        if split_on not in ("words", "spaces") or (split_on == "spaces" and case_fold):
            raise ValueError(
                "split_on must be 'words' or, without case_fold, 'spaces', got "
                f"{split_on!r} with case_fold {case_fold}"
            )
        spaces = split_on == "spaces"
        self._tokenizer = SpaceTokenizer() if spaces else WordTokenizer(case_fold=case_fold)
        self._vocabulary = Vocabulary(path)
        self._words = tf.lookup.StaticHashTable(
            FileOfWords(
                self._path,
                self._vocabulary.words,
                key_dtype=tf.int64,
                key_index=tf.lookup.TextFileIndex.LINE_NUMBER,
                value_dtype=tf.string,
                value_index=tf.lookup.TextFileIndex.WHOLE_LINE,
            ),
            default_value=SPECIAL_WORDS[UNKNOWN],
        )

    @property
    def vocabulary_size(self) -> int:
        """Number of ids, the four special ones included."""
        return len(self._vocabulary)

    @property
    def words(self) -> list[str]:
        """All words in order of id, the four special ones first."""
        return list(self._vocabulary.words)

    @property
    def files(self) -> tuple[Path, ...]:
        """The vocabulary file."""
        return (Path(self._path),)

    def encode(self, strings: Strings) -> tf.RaggedTensor:
        """Cuts strings into words.

        Args:
            strings: (batch,) tf.string, or what converts to it.

        Returns:
            (batch, tokens) int32, without start and end; words outside the vocabulary are 1.
        """
        return self._ids(self._tokenizer(check_strings(strings)).folded)

    def tokens(self, strings: Strings) -> tf.RaggedTensor:
        """Returns the words that `encode` numbers, as in the strings.

        Args:
            strings: (batch,) tf.string, or what converts to it.

        Returns:
            (batch, tokens) tf.string; bytes that are not UTF-8 are kept.
        """
        return self._tokenizer(check_strings(strings)).surface

    def read(self, strings: Strings) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Returns what `encode` and `tokens` return, of strings that are cut only once."""
        words = self._tokenizer(check_strings(strings))
        return self._ids(words.folded), words.surface

    def _ids(self, words: tf.RaggedTensor) -> tf.RaggedTensor:
        """Numbers words (batch, tokens) as the vocabulary has them."""
        return self._vocabulary.ids(words)

    def pieces(self, ids: Ids) -> tf.Tensor | tf.RaggedTensor:
        """Returns the words that ids stand for.

        Args:
            ids: Integers of any shape. Those outside the vocabulary are unknown.

        Returns:
            tf.string of the same shape and kind: "" for padding, otherwise the vocabulary's words.
        """
        if isinstance(ids, tf.RaggedTensor):
            return ids.with_flat_values(self.pieces(ids.flat_values))
        ids = tf.cast(ids, tf.int64)
        return tf.where(ids == PADDING, "", self._words.lookup(ids))

    def join(self, pieces: tf.Tensor | tf.RaggedTensor) -> Strings:
        """Puts words together, with spaces where they belong.

        Args:
            pieces: (rows, tokens) tf.string, of `pieces` or `tokens`.

        Returns:
            (rows,) tf.string, valid UTF-8, without the special words.
        """
        return detokenize(valid_utf8(dense_pieces(pieces)), self._language)

    def decode(self, ids: Ids) -> Strings:
        """Turns ids into text.

        Args:
            ids: (rows, tokens) integers, dense or ragged. Each row is cut at its first end or
                padding.

        Returns:
            (rows,) tf.string, valid UTF-8, without unknown words.
        """
        return self.join(self.pieces(until_end(ids)))

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's keywords except the path."""
        return {**self._tokenizer.get_config(), "language": self._language}
