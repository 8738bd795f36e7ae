"""Replacement of unknown words by their aligned source words, in the graph.

Source: Luong et al. 2015 (arXiv 1508.04025), section 4.1: the source word with the highest
attention weight, translated by a dictionary, or copied if the dictionary does not have it.
"""

from typing import Literal, Protocol

import tensorflow as tf

from zoo.decoding.limits import one_of
from zoo.text.vocabulary import UNKNOWN

Convention = Literal["predicted", "input"]


class Dictionary(Protocol):
    """A table from words to words, such as ``tf.lookup.StaticHashTable`` with the default ""."""

    def lookup(self, keys: tf.Tensor) -> tf.Tensor:
        """Translates the words of a string tensor; "" for missing ones."""


def replace_unknown(
    target_pieces: tf.Tensor,
    target_ids: tf.Tensor,
    alignment: tf.Tensor,
    source_tokens: tf.Tensor,
    source_lengths: tf.Tensor,
    dictionary: Dictionary | None = None,
    convention: Convention = "predicted",
) -> tf.Tensor:
    """Replaces every ``<unk>`` by a word of the source or its translation.

    An unknown word stays if no source word has any weight.

    Args:
        target_pieces: string (B, ..., T), for example (B, N, T) of N hypotheses.
        target_ids: int (B, ..., T).
        alignment: float (B, ..., T, S), as a search returns it.
        source_tokens: string (B, s); alignment columns beyond s belong to no word.
        source_lengths: int (B,): number of words. Later positions, such as ``</s>``, are never
            copied, whatever their weight.
        dictionary: translations; None: every word is copied.
        convention: the word that a step's attention belongs to: the ``"predicted"`` one, or the
            step's ``"input"``, so that a word is aligned by the step that reads it (paper, footnote
            14). The last word, which no step reads, uses its own step.

    Returns:
        string (B, ..., T).

    Raises:
        ValueError: if the convention is unknown.
    """
    one_of("convention", convention, ("predicted", "input"))
    if convention == "input":
        following = tf.concat([alignment[..., 1:, :], alignment[..., -1:, :]], axis=-2)
        # Beyond the end of a hypothesis that is shorter than others there is no weight.
        read = tf.reduce_any(following > 0, axis=-1, keepdims=True)
        alignment = tf.where(read, following, alignment)
    batch, words = tf.unstack(tf.shape(source_tokens))
    columns = tf.shape(alignment)[-1]
    # An extra column that belongs to no word, so that an empty source has one too.
    missing = tf.maximum(words - columns, 0) + 1
    rows = tf.size(target_ids) // tf.maximum(batch, 1)
    weights = tf.reshape(alignment, (batch, rows, columns))
    weights = tf.pad(weights, [[0, 0], [0, 0], [0, missing]])[:, :, : words + 1]
    source_lengths = tf.minimum(tf.cast(source_lengths, tf.int32), words)
    real = tf.sequence_mask(source_lengths, words + 1)[:, None]
    weights = tf.where(real, weights, 0)
    best = tf.argmax(weights, axis=2, output_type=tf.int32)  # (B, rows)
    weight = tf.gather(weights, best, batch_dims=2)
    copied = tf.gather(
        tf.pad(source_tokens, [[0, 0], [0, 1]], constant_values=""), best, batch_dims=1
    )
    if dictionary is not None:
        translated = dictionary.lookup(copied)
        copied = tf.where(translated != "", translated, copied)
    shape = tf.shape(target_ids)
    unknown = (target_ids == UNKNOWN) & tf.reshape(weight > 0, shape)
    return tf.where(unknown, tf.reshape(copied, shape), target_pieces)
