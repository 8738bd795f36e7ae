"""Ids for words outside of a vocabulary: which one it is of an example's unknown words.

One id for all unknown words would make them one word. Here the first unknown word of an example has
the first slot after the vocabulary, wherever it occurs in that example, the next one the second
slot, and so on: a model can tell them apart and find them again, though it knows nothing of them.
"""

import tensorflow as tf

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
