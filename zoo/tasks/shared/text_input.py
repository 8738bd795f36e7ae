"""Texts as models and servables take them: ids and tokens, cut to a limit and padded."""

from collections.abc import Iterable
from typing import NamedTuple

import tensorflow as tf

from zoo.text.codecs import TextCodec
from zoo.text.vocabulary import END, SPECIAL_WORDS

_CHUNK = 4096  # strings encoded at a time
BYTES_PER_TOKEN = 100
"""Bytes of a text that are read for each token: of n tokens, the first n times as many."""


class TextInput(NamedTuple):
    """The texts of a batch, cut to the limit and padded to a rectangle."""

    ids: tf.Tensor
    """int32 (rows, columns), padding 0; at least one row and one column, since no model need cope
    with less."""
    tokens: tf.Tensor
    """string (batch, columns), padding ""."""
    lengths: tf.Tensor
    """int32 (batch,)"""

    def ragged(self, values: tf.Tensor) -> tf.RaggedTensor:
        """Values (rows, columns) of the tokens without those of padding: ragged (batch, tokens)."""
        return tf.RaggedTensor.from_tensor(values[: tf.size(self.lengths)], self.lengths)


def padded(ids: tf.RaggedTensor, tokens: tf.RaggedTensor) -> TextInput:
    """Pads ids and tokens (batch, tokens) of the same texts to rectangles, for any model."""
    lengths = tf.cast(ids.row_lengths(), tf.int32)
    columns = tf.maximum(tf.reduce_max(lengths), 1)  # of no rows at all: the smallest integer
    batch = tf.size(lengths)
    return TextInput(
        ids=ids.to_tensor(0, shape=tf.stack([tf.maximum(batch, 1), columns])),
        tokens=tokens.to_tensor("", shape=tf.stack([batch, columns])),
        lengths=lengths,
    )


def read_texts(
    text: tf.Tensor, codec: TextCodec, maximum_tokens: int, *, end: bool = False
) -> TextInput:
    """Reads (batch,) strings.

    Args:
        text: strings in UTF-8; any bytes are text.
        codec: as in training.
        maximum_tokens: tokens of a text beyond these are not read.
        end: whether a text that has a token ends in ``</s>``, which is one of the
            ``maximum_tokens``.
    """
    limit = maximum_tokens - end
    text = beginnings(text, limit)
    ids, tokens = (cut[:, :limit] for cut in codec.read(text))
    return padded(*_with_end(ids, tokens)) if end else padded(ids, tokens)


def _with_end(
    ids: tf.RaggedTensor, tokens: tf.RaggedTensor
) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
    """Appends ``</s>`` to texts that have a token."""
    real = tf.cast(ids.row_lengths() > 0, tf.int64)
    count = tf.cast(tf.reduce_sum(real), tf.int32)
    ends, marks = (
        tf.RaggedTensor.from_row_lengths(tf.fill([count], value), real)
        for value in (END, SPECIAL_WORDS[END])
    )
    return tf.concat([ids, ends], axis=1), tf.concat([tokens, marks], axis=1)


def beginnings(strings: tf.Tensor, maximum_tokens: int) -> tf.Tensor:
    """Cuts strings (batch,) behind the bytes in which tokens are looked for.

    Text that is longer would be cut into tokens that no model reads.

    Args:
        strings: any bytes.
        maximum_tokens: how many tokens of a string are read.
    """
    return tf.strings.substr(strings, 0, BYTES_PER_TOKEN * maximum_tokens, unit="BYTE")


def check_limit(name: str, limit: int, least: int = 1) -> None:
    """Raises a ValueError if ``limit`` is below ``least``."""
    if limit < least:
        raise ValueError(f"{name} must be at least {least}, got {limit}")


def encode_strings(strings: Iterable[str], codec: TextCodec) -> tf.RaggedTensor:
    """Ids (rows, tokens) of many strings, int32.

    Raises:
        ValueError: one is no text, such as a missing value of a table; says which.
    """
    texts = list(strings)
    for row, text in enumerate(texts):
        if not isinstance(text, str | bytes):
            raise ValueError(f"strings[{row}] must be text, got {text!r}")
    chunks = [texts[i : i + _CHUNK] for i in range(0, len(texts), _CHUNK)] or [[]]
    return tf.concat([codec.encode(tf.constant(chunk, tf.string)) for chunk in chunks], axis=0)
