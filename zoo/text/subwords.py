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
from collections.abc import Iterable
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
from zoo.text.vocabulary import END, PADDING, SPECIAL_WORDS, START, UNKNOWN

MODEL_TYPES = ("bpe", "unigram")

LONGEST_WORD = 4000
"""Bytes between two spaces that are read; what follows them is not."""

_SPACE_MARK = "\u2581"  # how SentencePiece writes the space before a word
_THREADS = 16  # fixed: the sums of unigram training depend on how the work is divided
_LOG_ERRORS_ONLY = 2


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
        texts: What to train on. Empty ones are passed over.
        path: The file to write. It appears whole or not at all.
        vocabulary_size: Number of ids, the four special ones included.
        model_type: "bpe" (byte-pair encoding) or "unigram" (unigram language model).
        character_coverage: Share of the characters of the texts that the model knows. All is
            right for alphabets; for Chinese or Japanese, 0.9995 is usual.
        case_fold: Whether text is case-folded besides being normalised (NFKC). Translations come
            out in lower case then.

    Raises:
        ValueError: If the size does not fit the texts, an argument is out of range, or there is
            no text.
    """
    if model_type not in MODEL_TYPES:
        raise ValueError(f"model_type: expected one of {list(MODEL_TYPES)}, got {model_type!r}")
    if not 0 < character_coverage <= 1:
        raise ValueError(f"character_coverage: expected (0, 1], got {character_coverage}")
    if vocabulary_size <= len(SPECIAL_WORDS):
        raise ValueError(
            f"vocabulary_size: expected more than the {len(SPECIAL_WORDS)} special ids, "
            f"got {vocabulary_size}"
        )
    sentences = [text.encode() for text in texts if text.strip()]
    if not sentences:
        raise ValueError("texts: expected at least one that is not empty, got none")
    model = _train(sentences, vocabulary_size, model_type, character_coverage, case_fold)
    with whole_file(path) as file:
        file.write(model)


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
            # Longer sentences would be left out without a word.
            max_sentence_length=max(map(len, sentences)) + 1,
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
        # Before the last bracket it names its own source code.
        reason = str(error).rpartition("]")[2].strip() or "they hold nothing to learn"
        raise ValueError(
            f"vocabulary_size: {vocabulary_size} does not fit the {len(sentences)} texts: {reason}"
        ) from error
    return model.getvalue()


class SubwordCodec(tf.Module):
    """Strings to ids and back by a SentencePiece model; a `zoo.text.codecs.TextCodec`.

    Text is normalised (NFKC, runs of spaces to one) as the model says, so a round trip gives the
    normalised text. The model is part of the graph: a SavedModel that tracks the codec holds it.

    Of what stands between two spaces, the first `LONGEST_WORD` bytes are read. The time is then
    linear in the length of a text, whatever the bytes are.
    """

    def __init__(self, model: str | os.PathLike[str] | bytes, name: str = "subword_codec") -> None:
        """Reads the model.

        Args:
            model: A file that `train_subwords` wrote, or what is in it.
            name: Name of the module.

        Raises:
            ValueError: If it is no SentencePiece model, or numbers the special pieces otherwise
                than `zoo.text.vocabulary`.
        """
        super().__init__(name=name)
        self._path = None if isinstance(model, bytes) else os.fspath(model)
        model = model if isinstance(model, bytes) else Path(model).read_bytes()
        self._vocabulary_size = _check_model(model, self._path or "model")
        # TensorFlow finds the model by the name of the node that holds it: of two models with one
        # name in a SavedModel only one would be left once it is loaded. So each has its own.
        name = f"sentencepiece_{hashlib.sha256(model).hexdigest()[:16]}"
        self._ids = tf_text.SentencepieceTokenizer(model=model, out_type=tf.int32, name=name)
        # Another view of the same resource: two of them would store the model twice.
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
            strings: (batch,) tf.string, or what converts to it.

        Returns:
            (batch, tokens) int32, without start and end; a string of spaces has no tokens.
        """
        return self._ids.tokenize(_cut_words(check_strings(strings)))

    def tokens(self, strings: Strings) -> tf.RaggedTensor:
        """Returns the subwords that `encode` numbers, as they stand in the normalised text.

        Args:
            strings: (batch,) tf.string, or what converts to it.

        Returns:
            (batch, tokens) tf.string, valid UTF-8. U+2581 in a subword stands for a space.
        """
        return self._surface.tokenize(_cut_words(check_strings(strings)))

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
        # The model's own look-up would fail on others.
        ids = tf.where((ids < 0) | (ids >= self._vocabulary_size), UNKNOWN, ids)
        pieces = tf.reshape(self._ids.id_to_string(tf.reshape(ids, [-1])), tf.shape(ids))
        return tf.where(ids == PADDING, "", tf.ensure_shape(pieces, ids.shape))

    def join(self, pieces: tf.Tensor | tf.RaggedTensor) -> Strings:
        """Puts subwords together.

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
            ids: (rows, tokens) integers, dense or ragged. The first end or padding of a row, and
                what follows, is ignored.

        Returns:
            (rows,) tf.string, valid UTF-8; unknown tokens leave no trace.
        """
        return self.join(self.pieces(until_end(ids)))

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's keywords beside the path: none, the model says it all."""
        return {}


def _cut_words(strings: tf.Tensor) -> tf.Tensor:
    """Shortens the words of texts (batch,) that are longer than `LONGEST_WORD`.

    SentencePiece makes one token of neighbouring characters that it does not know, and copies what
    it has of that token for each of them, in time that is quadratic in their number. No token goes
    beyond a space.
    """
    # What `tf.strings.split` does, in a tenth of the operations.
    places, words, _ = tf.raw_ops.StringSplitV2(input=strings, sep=" ")
    words = tf.strings.substr(words, 0, LONGEST_WORD, unit="BYTE")
    return tf.strings.unsorted_segment_join(words, places[:, 0], tf.size(strings), separator=" ")


def _check_model(model: bytes, path: str) -> int:
    """Returns the number of pieces of a model whose special pieces are where they should be."""
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(model)
    except (RuntimeError, OSError) as error:
        raise ValueError(f"{path}: not a SentencePiece model: {error}") from error
    size = processor.GetPieceSize()
    special = tuple(processor.IdToPiece(i) for i in range(min(size, len(SPECIAL_WORDS))))
    if special != SPECIAL_WORDS:
        raise ValueError(f"{path}: the first pieces must be {SPECIAL_WORDS}, got {special}")
    return size
