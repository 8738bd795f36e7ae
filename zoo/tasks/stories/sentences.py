"""Sentences as ids: cut into words in the graph, without the mark at the end."""

from typing import NamedTuple

import tensorflow as tf

from zoo.tasks.shared.text_input import beginnings
from zoo.text.codecs import TextCodec
from zoo.text.white_space import SPACE, strip

LINE_END = "\n"
"""Separates the sentences of a story that is one string."""
_END_MARK = f"[{SPACE}.?!]+$"


class SentenceIds(NamedTuple):
    """The sentences of a batch of stories, padded to a box."""

    ids: tf.Tensor
    """int32 (rows, sentences, words), padding 0; at least one of each, since no model need cope
    with less."""
    sentences: tf.Tensor
    """string (batch, sentences), padding ""; at least one column."""
    lengths: tf.Tensor
    """int32 (batch,), numbers of sentences."""


def without_end_mark(sentences: tf.Tensor) -> tf.Tensor:
    """Removes full stops, question marks, exclamation marks and spaces at the end."""
    return tf.strings.regex_replace(sentences, _END_MARK, "")


def split_story(stories: tf.Tensor) -> tf.RaggedTensor:
    """Splits stories (batch,) into lines, those without a word left out: ragged (batch, lines)."""
    lines = tf.strings.split(stories, LINE_END)
    return real_sentences(lines.with_flat_values(strip(lines.flat_values)))


def real_sentences(lines: tf.RaggedTensor) -> tf.RaggedTensor:
    """Leaves out sentences that hold nothing but spaces and end marks."""
    real = lines.with_flat_values(without_end_mark(lines.flat_values) != "")
    return tf.ragged.boolean_mask(lines, real)


def read_sentences(
    lines: tf.RaggedTensor, codec: TextCodec, maximum_sentences: int, maximum_words: int
) -> SentenceIds:
    """Numbers the words of stories.

    Args:
        lines: strings (batch, sentences).
        codec: as in training.
        maximum_sentences: of longer stories the last ones are read.
        maximum_words: words of a sentence beyond these are not read.
    """
    lines = lines[:, -maximum_sentences:]
    cut = beginnings(lines.flat_values, maximum_words)
    # Never no row. Not a constant vector: `load_labels` takes those for names of classes.
    nothing = tf.fill([1], "")
    words = codec.encode(tf.concat([without_end_mark(cut), nothing], axis=0))[:, :maximum_words]
    widest = tf.maximum(tf.cast(words.bounding_shape()[1], tf.int32), 1)
    flat = words.to_tensor(0, shape=tf.stack([tf.size(cut) + 1, widest]))[:-1]  # (lines, words)
    lengths = tf.cast(lines.row_lengths(), tf.int32)
    batch, longest = tf.size(lengths), tf.maximum(tf.reduce_max(lengths), 1)
    shape = tf.stack([tf.maximum(batch, 1), longest])
    places = tf.where(tf.sequence_mask(lengths, longest))  # (lines, 2)
    ids = tf.scatter_nd(places, flat, tf.cast(tf.concat([shape, [widest]], 0), tf.int64))
    sentences = lines.to_tensor("", shape=tf.stack([batch, longest]))
    return SentenceIds(ids, sentences, lengths)
