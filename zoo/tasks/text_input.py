"""Texts as models and servables take them: ids and tokens, cut to a limit and padded."""

from typing import NamedTuple

import tensorflow as tf

from zoo.text.codecs import TextCodec


class TextInput(NamedTuple):
    """The texts of a batch, cut to the limit and padded to a rectangle."""

    ids: tf.Tensor
    """int32 (rows, columns), padding 0; at least one row and one column, since no model need cope
    with less."""
    tokens: tf.Tensor
    """string (batch, columns), padding ""."""
    lengths: tf.Tensor
    """int32 (batch,)"""


def read_texts(text: tf.Tensor, codec: TextCodec, maximum_tokens: int) -> TextInput:
    """Reads (batch,) strings.

    Args:
        text: strings in UTF-8; any bytes are text.
        codec: as in training.
        maximum_tokens: tokens of a text beyond these are not read.
    """
    ids, tokens = codec.encode(text)[:, :maximum_tokens], codec.tokens(text)[:, :maximum_tokens]
    lengths = tf.cast(ids.row_lengths(), tf.int32)
    columns = tf.maximum(tf.reduce_max(lengths), 1)  # of no rows at all: the smallest integer
    batch = tf.size(text)
    return TextInput(
        ids=ids.to_tensor(0, shape=tf.stack([tf.maximum(batch, 1), columns])),
        tokens=tokens.to_tensor("", shape=tf.stack([batch, columns])),
        lengths=lengths,
    )


def check_limit(name: str, limit: int) -> None:
    """Raises a ValueError if ``limit`` is below 1."""
    if limit < 1:
        raise ValueError(f"{name} must be at least 1, got {limit}")
