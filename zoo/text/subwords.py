"""Subwords: SentencePiece models, trained on texts and applied inside the graph.

Kudo and Richardson, "SentencePiece: A simple and language independent subword tokenizer and
detokenizer for Neural Text Processing", EMNLP 2018; byte-pair encoding after Sennrich, Haddow and
Birch, "Neural Machine Translation of Rare Words with Subword Units", ACL 2016.

Several languages share a vocabulary if the model is trained on all of their texts. The model file
is an ordinary SentencePiece model: `keras_nlp.tokenizers.SentencePieceTokenizer(path)` gives the
same ids.
"""

import copy
import hashlib
import io
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import sentencepiece
import tensorflow as tf
import tensorflow_text as tf_text

from zoo.files import whole_file
from zoo.text.codecs import (
    Ids,
    Strings,
    check_strings,
    dense_pieces,
    until_end,
    valid_utf8,
)
from zoo.text.long_words import cut_words, spaces_of
from zoo.text.vocabulary import END, PADDING, SPECIAL_WORDS, START, UNKNOWN

MODEL_TYPES = ("bpe", "unigram")

_SPACE_MARK = "\u2581"  # SentencePiece's mark for the space before a word
_THREADS = 16  # fixed, because sums in unigram training depend on the division of work
_LOG_ERRORS_ONLY = 2
_LEAST_LIMIT = 10  # bytes of a sentence; SentencePiece takes no lower limit


class VocabularySizeError(ValueError):
    """Number of ids that does not fit the texts; `fits` is the nearest one that does, if known."""

    def __init__(self, message: str, fits: int | None) -> None:
        """Takes the message and that number."""
        super().__init__(message)
        self.fits = fits


def train_subwords(
    texts: Iterable[str],
    path: str | os.PathLike[str],
    vocabulary_size: int,
    *,
    model_type: str = "bpe",
    character_coverage: float = 1.0,
    case_fold: bool = False,
) -> None:
    """Trains a SentencePiece model and writes it.

    The same texts in the same order give the same file, byte for byte.

    Args:
        texts: Training texts. Empty ones are ignored.
        path: The file to write. It appears whole or not at all.
        vocabulary_size: Number of ids, the four special ones included.
        model_type: "bpe" (byte-pair encoding) or "unigram" (unigram language model).
        character_coverage: Share of the texts' characters that the model covers. 1 suits alphabets;
            0.9995 is usual for Chinese or Japanese.
        case_fold: Whether text is case-folded in addition to NFKC normalisation. Translations are
            then lower-case.

    Raises:
        VocabularySizeError: If the size does not fit the texts.
        ValueError: If an argument is out of range, or there is no text.
    """
    if model_type not in MODEL_TYPES:
        raise ValueError(f"model_type must be one of {list(MODEL_TYPES)}, got {model_type!r}")
    if not 0 < character_coverage <= 1:
        raise ValueError(f"character_coverage must be in (0, 1], got {character_coverage}")
    if vocabulary_size <= len(SPECIAL_WORDS):
        raise ValueError(
            f"vocabulary_size must be more than the {len(SPECIAL_WORDS)} special ids, "
            f"got {vocabulary_size}"
        )
    sentences = list(_encoded(texts))
    if not sentences:
        raise ValueError("texts must hold one that is not empty, got none")
    model = _train(sentences, vocabulary_size, model_type, character_coverage, case_fold)
    with whole_file(path) as file:
        file.write(model)


def _encoded(texts: Iterable[str]) -> Iterator[bytes]:
    """Yields the texts that are not empty, in UTF-8.

    Raises:
        ValueError: A text has half of a surrogate pair.
    """
    for number, text in enumerate(texts):
        try:
            encoded = text.encode()
        except UnicodeEncodeError as error:
            wrong = ascii(text[error.start])
            raise ValueError(
                f"texts must be Unicode, got {wrong} in texts[{number}]: half of a surrogate pair"
            ) from error
        if text.strip():
            yield encoded


def _train(
    sentences: list[bytes],
    vocabulary_size: int,
    model_type: str,
    character_coverage: float,
    case_fold: bool,
) -> bytes:
    """Returns the serialised model."""
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            vocab_size=vocabulary_size,
            model_type=model_type,
            character_coverage=character_coverage,
            normalization_rule_name="nmt_nfkc_cf" if case_fold else "nmt_nfkc",
            # Longer sentences would be skipped silently.
            max_sentence_length=max(_LEAST_LIMIT, *map(len, sentences)) + 1,
            num_threads=_THREADS,
            pad_id=PADDING,
            unk_id=UNKNOWN,
            bos_id=START,
            eos_id=END,
            pad_piece=SPECIAL_WORDS[PADDING],
            unk_piece=SPECIAL_WORDS[UNKNOWN],
            bos_piece=SPECIAL_WORDS[START],
            eos_piece=SPECIAL_WORDS[END],
            minloglevel=_LOG_ERRORS_ONLY,
        )
    except RuntimeError as error:
        # The text before the last bracket names SentencePiece's source code.
        reason = str(error).rpartition("]")[2].strip() or "they hold nothing to learn"
        bound = re.search(r"<= (\d+)| vs (\d+)", reason)
        raise VocabularySizeError(
            f"vocabulary_size: {vocabulary_size} does not fit the {len(sentences)} texts: {reason}",
            int(bound[1] or bound[2]) if bound else None,
        ) from error
    return model.getvalue()


class SubwordCodec(tf.Module):
    """Strings to ids and back by a SentencePiece model; a `zoo.text.codecs.TextCodec`.

    The model's rules normalise text (NFKC, runs of spaces to one), so a round trip gives the
    normalised text. The model is part of the graph: a SavedModel that tracks the codec holds it.

    Only the first bytes of a word are read (`zoo.text.long_words`), which keeps the time linear in
    the length of any text.
    """

    def __init__(self, model: str | os.PathLike[str] | bytes, name: str = "subword_codec") -> None:
        """Reads the model.

        Args:
            model: A file that `train_subwords` wrote, or its content.
            name: Name of the module.

        Raises:
            ValueError: If it is not a SentencePiece model, or its special pieces have other ids
                than in `zoo.text.vocabulary`.
        """
        super().__init__(name=name)
        self._path = None if isinstance(model, bytes) else os.fspath(model)
        model = model if isinstance(model, bytes) else Path(model).read_bytes()
        processor = _read_model(model, self._path or "model")
        self._vocabulary_size = processor.GetPieceSize()
        self._spaces = spaces_of(processor)
        # TensorFlow finds the model by the name of its node. Of two models with the same name,
        # loading a SavedModel would keep only one, so each gets its own.
        name = f"sentencepiece_{hashlib.sha256(model).hexdigest()[:16]}"
        self._ids = tf_text.SentencepieceTokenizer(model=model, out_type=tf.int32, name=name)
        # Another view of the same resource; a second resource would store the model twice.
        self._surface = copy.copy(self._ids)
        self._surface.out_type = tf.string

    @property
    def vocabulary_size(self) -> int:
        """Number of ids, the four special ones included."""
        return self._vocabulary_size

    @property
    def files(self) -> tuple[Path, ...]:
        """The model file, if it was made from one."""
        return () if self._path is None else (Path(self._path),)

    def encode(self, strings: Strings) -> tf.RaggedTensor:
        """Cuts strings into subwords.

        Args:
            strings: (batch,) tf.string, or convertible to it.

        Returns:
            (batch, tokens) int32, without start and end; a string of spaces has no tokens.
        """
        return self._ids.tokenize(cut_words(check_strings(strings), self._spaces))

    def tokens(self, strings: Strings) -> tf.RaggedTensor:
        """Returns the subwords that `encode` numbers, as in the normalised text.

        Args:
            strings: (batch,) tf.string, or convertible to it.

        Returns:
            (batch, tokens) tf.string, valid UTF-8. U+2581 in a subword stands for a space.
        """
        return self._surface.tokenize(cut_words(check_strings(strings), self._spaces))

    def read(self, strings: Strings) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Returns what `encode` and `tokens` return."""
        words = cut_words(check_strings(strings), self._spaces)
        return self._ids.tokenize(words), self._surface.tokenize(words)

    def pieces(self, ids: Ids) -> tf.Tensor | tf.RaggedTensor:
        """Returns the subwords that ids stand for.

        Args:
            ids: Integers of any shape. Those outside the vocabulary are unknown.

        Returns:
            tf.string of the same shape and kind: "" for padding, otherwise the model's pieces.
        """
        if isinstance(ids, tf.RaggedTensor):
            return ids.with_flat_values(self.pieces(ids.flat_values))
        ids = tf.cast(ids, tf.int32)
        # The model's own look-up would fail on other ids.
        ids = tf.where((ids < 0) | (ids >= self._vocabulary_size), UNKNOWN, ids)
        pieces = tf.reshape(self._ids.id_to_string(tf.reshape(ids, [-1])), tf.shape(ids))
        return tf.where(ids == PADDING, "", tf.ensure_shape(pieces, ids.shape))

    def join(self, pieces: tf.Tensor | tf.RaggedTensor) -> Strings:
        """Joins subwords into text.

        Args:
            pieces: (rows, tokens) tf.string, of `pieces` or `tokens`.

        Returns:
            (rows,) tf.string, valid UTF-8, without the special pieces.
        """
        text = tf.strings.reduce_join(dense_pieces(pieces), axis=1)
        text = tf.strings.regex_replace(text, f"[{_SPACE_MARK} ]+", " ")
        return valid_utf8(tf.strings.strip(text))

    def decode(self, ids: Ids) -> Strings:
        """Turns ids into text.

        Args:
            ids: (rows, tokens) integers, dense or ragged. Each row is cut at its first end or
                padding.

        Returns:
            (rows,) tf.string, valid UTF-8, without unknown tokens.
        """
        return self.join(self.pieces(until_end(ids)))

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's keywords except the path: none, the model holds them all."""
        return {}


def _read_model(model: bytes, path: str) -> sentencepiece.SentencePieceProcessor:
    """Reads a model and checks its special pieces."""
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(model)
    except (RuntimeError, OSError) as error:
        raise ValueError(f"{path}: not a SentencePiece model: {error}") from error
    size = processor.GetPieceSize()
    special = tuple(processor.IdToPiece(i) for i in range(min(size, len(SPECIAL_WORDS))))
    if special != SPECIAL_WORDS:
        raise ValueError(f"{path}: the first pieces must be {SPECIAL_WORDS}, got {special}")
    return processor
