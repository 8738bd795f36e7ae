"""Ids for words outside of a vocabulary: which one it is of an example's unknown words.

One id for all unknown words would make them one word. Here the first unknown word of an example has
the first slot after the vocabulary, wherever it occurs in that example, the next one the second
slot, and so on: a model can tell them apart and find them again, though it knows nothing of them.
In training the slots of an example are better permuted each time it is seen (as Hermann et al. 2015
permute the markers of entities): then nothing can be learned of one example by its slots.
"""

from dataclasses import dataclass

import tensorflow as tf

from zoo.text.batching import BucketedBatches
from zoo.text.vocabulary import UNKNOWN, Vocabulary


def ids_with_slots(
    vocabulary: Vocabulary, slots: int, *texts: tf.RaggedTensor
) -> tuple[tf.RaggedTensor, ...]:
    """Looks up the tokens of examples that consist of several texts.

    Args:
        vocabulary: gives the ids below ``len(vocabulary)``.
        slots: how many unknown words of an example are told apart; all further ones are 1. With 0
            the ids are those of the vocabulary.
        *texts: ragged string (examples, tokens), such as documents and queries. Unknown words are
            numbered in the order of the texts.

    Returns:
        For each text, ragged int32 of its shape, below ``len(vocabulary) + slots``.

    Raises:
        ValueError: If ``slots`` is negative, or there is no text.
    """
    if slots < 0:
        raise ValueError(f"slots must not be negative, got {slots}")
    if not texts:
        raise ValueError("texts must hold one text at least")
    tokens = tf.concat(texts, axis=1)  # (examples, tokens of all texts)
    ids = vocabulary.ids(tokens.flat_values)
    unknown = tf.where(ids == UNKNOWN)  # (unknown tokens, 1)
    rows = tf.gather(tokens.value_rowids(), unknown[:, 0])
    words = tf.gather(tokens.flat_values, unknown[:, 0])
    slot = _order_within_rows(rows, words, tokens.nrows())
    numbered = tf.where(slot < slots, len(vocabulary) + slot, UNKNOWN)
    ids = tokens.with_flat_values(tf.tensor_scatter_nd_update(ids, unknown, numbered))
    owners = tf.concat(
        [text.with_flat_values(tf.fill([tf.size(text)], n)) for n, text in enumerate(texts)],
        axis=1,
    )
    return tuple(tf.ragged.boolean_mask(ids, owners == n) for n in range(len(texts)))


def _order_within_rows(rows: tf.Tensor, words: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    """The number of each word among the distinct words of its row, by first occurrence.

    Args:
        rows: (n,) int64, ascending.
        words: (n,) string.
        count: number of rows.

    Returns:
        (n,) int32.
    """
    keys = tf.strings.join([tf.strings.as_string(rows), words], " ")
    _, distinct = tf.unique(keys)  # numbered as they come, so those of a row are neighbours
    first = tf.math.unsorted_segment_min(distinct, rows, count)
    return distinct - tf.gather(first, rows)


def permute_slots(ids: tf.Tensor, first: int, slots: int, seed: tf.Tensor) -> tf.Tensor:
    """Gives the unknown words of each example other slots, at random.

    Args:
        ids: (examples, tokens) integers.
        first: id of the first slot.
        slots: how many there are.
        seed: (2,) integers. The same seed permutes the slots of the same row in the same way.

    Returns:
        Likewise; ids below ``first`` stay as they are.
    """
    noise = tf.random.stateless_uniform([tf.shape(ids)[0], slots], seed)
    order = tf.cast(tf.argsort(noise, axis=1), ids.dtype)  # (examples, slots), a permutation a row
    moved = first + tf.gather(order, tf.maximum(ids - first, 0), batch_dims=1)
    return tf.where(ids < first, ids, moved)


@dataclass(frozen=True)
class PermutedSlots:
    """Batches whose examples have their slots permuted, in another way in every epoch.

    Attributes:
        batches: ids in all columns; (examples, tokens), or (examples,) of targets.
        first: id of the first slot.
        slots: how many there are, one at least.
        seed: seed of the permutations, which are a function of it and of the number of the step.
    """

    batches: BucketedBatches
    first: int
    slots: int
    seed: int = 0

    @property
    def batch_size(self) -> int:
        """Examples per batch."""
        return self.batches.batch_size

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches in an epoch."""
        return self.batches.steps_per_epoch

    def training(self, epoch: int, first_step: int = 0) -> tf.data.Dataset:
        """Returns one epoch of training batches, as `BucketedBatches.training` does."""

        def permuted(step: tf.Tensor, batch: object) -> object:
            seed = tf.stack([tf.constant(self.seed, tf.int64), epoch * self.steps_per_epoch + step])

            def move(ids: tf.Tensor) -> tf.Tensor:
                matrix = ids if ids.shape.rank == 2 else ids[:, tf.newaxis]
                matrix = permute_slots(matrix, self.first, self.slots, seed)
                return matrix if ids.shape.rank == 2 else matrix[:, 0]

            return tf.nest.map_structure(move, batch)

        batches = self.batches.training(epoch, first_step).enumerate(first_step)
        return batches.map(permuted).prefetch(tf.data.AUTOTUNE)
