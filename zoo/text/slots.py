"""Ids for words outside of a vocabulary: which one it is of an example's unknown words.

One id for all unknown words would make them one word. Here the first unknown word of an example has
the first slot after the vocabulary, wherever it occurs in that example, the next one the second
slot, and so on: a model can tell them apart and find them again, though it knows nothing of them
but how they begin: words that begin with a capital, such as names, have the first half of the
slots.

In training the slots of an example are better permuted each time it is seen (as Hermann et al. 2015
permute the markers of entities): then nothing can be learned of one example by its slots. And words
that the vocabulary of another text would lack, as its names, can be read as unknown ones now and
then, so that both are learned: what they mean, and how to do without.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from zoo.text.batching import BucketedBatches
from zoo.text.vocabulary import UNKNOWN, Vocabulary

_CAPITAL = r"(?s)\p{Lu}.*"


def slots_of_capitals(slots: int) -> int:
    """How many of the slots, the first ones, are those of words that begin with a capital."""
    return (slots + 1) // 2


def ids_with_slots(
    vocabulary: Vocabulary, slots: int, *texts: tf.RaggedTensor
) -> tuple[tf.RaggedTensor, ...]:
    """Looks up the tokens of examples that consist of several texts.

    Args:
        vocabulary: gives the ids below ``len(vocabulary)``.
        slots: how many unknown words of an example are told apart, half of them (rounded up) words
            that begin with a capital; all further ones are 1. With 0 the ids are those of the
            vocabulary.
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
    capital = tf.strings.regex_full_match(words, _CAPITAL)
    slot = _slots(rows, words, capital, tokens.nrows(), slots)
    numbered = tf.where(slot < 0, UNKNOWN, len(vocabulary) + slot)
    ids = tokens.with_flat_values(tf.tensor_scatter_nd_update(ids, unknown, numbered))
    owners = tf.concat(
        [text.with_flat_values(tf.fill([tf.size(text)], n)) for n, text in enumerate(texts)],
        axis=1,
    )
    return tuple(tf.ragged.boolean_mask(ids, owners == n) for n in range(len(texts)))


def _slots(
    rows: tf.Tensor, words: tf.Tensor, capital: tf.Tensor, count: tf.Tensor, slots: int
) -> tf.Tensor:
    """Which slot each unknown word has: the next one of its kind that is free in its row.

    Args:
        rows: (n,) int64.
        words: (n,) string, whatever tells words apart.
        capital: (n,) bool, whether the word has one of the slots for capitals.
        count: number of rows, int64.
        slots: how many there are.

    Returns:
        (n,) int32; -1 where none is left.
    """
    kinds = 2 * rows + tf.cast(capital, tf.int64)
    order = tf.argsort(kinds, stable=True)
    sorted_kinds, sorted_words = tf.gather(kinds, order), tf.gather(words, order)
    keys = tf.strings.join([tf.strings.as_string(sorted_kinds), sorted_words], " ")
    _, distinct = tf.unique(keys)  # numbered as they come, so those of a kind are neighbours
    firsts = tf.math.unsorted_segment_min(distinct, sorted_kinds, 2 * count)
    number = tf.scatter_nd(
        order[:, tf.newaxis], distinct - tf.gather(firsts, sorted_kinds), tf.shape(order)
    )
    capitals = slots_of_capitals(slots)
    left = number < tf.where(capital, capitals, slots - capitals)
    return tf.where(left, number + tf.where(capital, 0, capitals), -1)


def hide_words(
    ids: tf.Tensor, first: int, slots: int, hidden: tf.Tensor, noise: tf.Tensor
) -> tf.Tensor:
    """Gives the unknown words of each example other slots, at random, and slots to hidden words.

    Args:
        ids: (examples, tokens) int32.
        first: id of the first slot, the number of words of the vocabulary.
        slots: how many there are.
        hidden: bool (examples, first), the words that the example is to have slots for; they are
            those of words that begin with a capital.
        noise: float (examples, slots), random numbers; by their order slots are permuted, those of
            each kind among themselves.

    Returns:
        Likewise; words that are neither unknown nor hidden stay as they are, and those that no
        slot is left for are 1.
    """
    known = ids < first
    now_unknown = tf.gather(hidden, tf.minimum(ids, first - 1), batch_dims=1) & known
    places = tf.where(now_unknown | ~known)
    words = tf.gather_nd(ids, places)
    capitals = slots_of_capitals(slots)
    capital = words < first + capitals
    rows, count = places[:, 0], tf.shape(ids, tf.int64)[0]
    slot = _slots(rows, tf.strings.as_string(words), capital, count, slots)
    order = tf.concat(  # (examples, slots), a permutation of each half
        [tf.argsort(noise[:, :capitals]), capitals + tf.argsort(noise[:, capitals:])], axis=1
    )
    index = tf.stack([tf.cast(rows, tf.int32), tf.maximum(slot, 0)], axis=1)
    moved = tf.where(slot < 0, UNKNOWN, first + tf.gather_nd(order, index))
    return tf.tensor_scatter_nd_update(ids, places, moved)


@dataclass(frozen=True)
class HiddenWords:
    """Batches whose examples have their slots permuted, in another way in every epoch.

    Attributes:
        batches: ids in all columns; (examples, tokens), or (examples,) of targets.
        first: id of the first slot.
        slots: how many there are, one at least.
        seed: seed of what is random, a function of it and of the number of the step.
        words: ids of words, such as names, that an example is now and then to read as unknown.
        rate: how often: the probability for each of them in each example.
    """

    batches: BucketedBatches
    first: int
    slots: int
    seed: int = 0
    words: Sequence[int] = ()
    rate: float = 0.0

    def __post_init__(self) -> None:
        """Raises ValueError for numbers that make no sense."""
        if self.slots < 1:
            raise ValueError(f"slots is {self.slots}, expected at least 1")
        if not 0 <= self.rate <= 1:
            raise ValueError(f"rate is {self.rate}, expected a number from 0 to 1")

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
        candidates = np.zeros(self.first, bool)
        candidates[np.asarray(self.words, int)] = True

        def hide(step: tf.Tensor, batch: object) -> object:
            seed = tf.stack([tf.constant(self.seed, tf.int64), epoch * self.steps_per_epoch + step])
            columns = tf.nest.flatten(batch)
            tables = [ids if ids.shape.rank == 2 else ids[:, tf.newaxis] for ids in columns]
            ids = tf.concat(tables, axis=1)
            rows = tf.shape(ids)[0]
            hidden = tf.random.stateless_uniform([rows, self.first], ~seed) < self.rate
            noise = tf.random.stateless_uniform([rows, self.slots], seed)
            moved = hide_words(ids, self.first, self.slots, hidden & candidates, noise)
            parts = tf.split(moved, [tf.shape(table)[1] for table in tables], axis=1)
            shaped = [
                tf.reshape(one, tf.shape(ids)) for one, ids in zip(parts, columns, strict=True)
            ]
            return tf.nest.pack_sequence_as(batch, shaped)

        batches = self.batches.training(epoch, first_step).enumerate(first_step)
        return batches.map(hide).prefetch(tf.data.AUTOTUNE)
