"""Slots: ids that tell the unknown words of an example apart.

A single id for all unknown words would conflate them. Here the first unknown word of an example
gets the first slot after the vocabulary, wherever it occurs in that example, the next one the
second slot, and so on. A model can thus tell unknown words apart and find them again. The first
half of the slots is for words that begin with a capital, such as names; nothing else is known of
them.

In training, permute the slots of an example each time it is seen (as Hermann et al. 2015 permute
entity markers), so that a model cannot memorise an example by its slots. Words that other texts'
vocabularies would lack, such as names, can be replaced by unknown ones at random, so that the model
learns both to use and to do without their meaning.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from zoo.text.batching import BucketedBatches
from zoo.text.vocabulary import UNKNOWN, Vocabulary

_CAPITAL = r"(?s)\p{Lu}.*"


def slots_of_capitals(slots: int) -> int:
    """Counts the slots, the first ones, for words that begin with a capital."""
    return (slots + 1) // 2


def ids_with_slots(
    vocabulary: Vocabulary, slots: int, *texts: tf.RaggedTensor
) -> tuple[tf.RaggedTensor, ...]:
    """Looks up the tokens of examples that consist of several texts.

    Args:
        vocabulary: gives the ids below ``len(vocabulary)``.
        slots: number of unknown words of an example that are told apart; half of them (rounded up)
            are for words that begin with a capital. Further ones are 1. With 0 the ids are those of
            the vocabulary.
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
    """Assigns each unknown word the next free slot of its kind in its row.

    Args:
        rows: (n,) int64.
        words: (n,) string, keys that tell words apart.
        capital: (n,) bool, whether the word gets a slot for capitals.
        count: number of rows, int64.
        slots: number of slots.

    Returns:
        (n,) int32; -1 where none is left.
    """
    kinds = 2 * rows + tf.cast(capital, tf.int64)
    order = tf.argsort(kinds, stable=True)
    sorted_kinds, sorted_words = tf.gather(kinds, order), tf.gather(words, order)
    keys = tf.strings.join([tf.strings.as_string(sorted_kinds), sorted_words], " ")
    _, distinct = tf.unique(keys)  # numbered in order, so words of a kind are neighbours
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
    """Permutes the slots of each example's unknown words and assigns slots to hidden words.

    Args:
        ids: (examples, tokens) int32.
        first: id of the first slot, the number of words of the vocabulary.
        slots: number of slots.
        hidden: bool (examples, first), words of the vocabulary to hide in the example; they get
            slots for capitals.
        noise: float (examples, slots), random numbers whose order permutes the slots within each
            kind.

    Returns:
        Ids of the same shape. Words that are neither unknown nor hidden are unchanged; words
        without a free slot are 1.
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
    """Batches whose examples have permuted slots, differently in every epoch.

    Attributes:
        batches: ids in all columns; (examples, tokens), or (examples,) of targets.
        first: id of the first slot.
        slots: number of slots, at least one.
        seed: seed of the randomness, which also depends on the step number.
        words: ids of words, such as names, that are hidden at random.
        rate: probability of hiding each of them in each example.
    """

    batches: BucketedBatches
    first: int
    slots: int
    seed: int = 0
    words: Sequence[int] = ()
    rate: float = 0.0

    def __post_init__(self) -> None:
        """Raises ValueError for numbers out of range."""
        if self.slots < 1:
            raise ValueError(f"slots must be at least 1, got {self.slots}")
        if not 0 <= self.rate <= 1:
            raise ValueError(f"rate must be a number from 0 to 1, got {self.rate}")

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
