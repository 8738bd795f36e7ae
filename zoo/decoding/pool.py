"""Pool of ended hypotheses of every sentence, and their order.

Shape letters: B sentences, n hypotheses of each.
"""

from typing import NamedTuple

import tensorflow as tf

from zoo.decoding.continuations import LOWEST


class Ended(NamedTuple):
    """Hypotheses that are not continued; empty places have the score -inf."""

    scores: tf.Tensor
    """float32 (B, n): scores that rank them."""
    log_probabilities: tf.Tensor
    """float32 (B, n)."""
    lengths: tf.Tensor
    """int32 (B, n): number of tokens, which is also the number of the last step."""
    slots: tf.Tensor
    """int32 (B, n): their slot in the beam of that step."""

    def best(self, count: int | tf.Tensor) -> "Ended":
        """Returns the best ``count`` of each sentence, best first; ties keep their order."""
        scores, order = tf.math.top_k(self.scores, count)
        return Ended(scores, *(tf.gather(x, order, batch_dims=1) for x in self[1:]))

    def first(self, count: int | tf.Tensor) -> "Ended":
        """Returns the first ``count`` of each sentence."""
        return Ended(*(x[:, :count] for x in self))

    def then(self, other: "Ended") -> "Ended":
        """Appends the others to these."""
        return Ended(*(tf.concat(pair, axis=1) for pair in zip(self, other, strict=True)))


def none_ended(batch: tf.Tensor, count: int | tf.Tensor) -> Ended:
    """Makes an empty pool for ``count`` hypotheses of each sentence."""
    nothing, zeros = tf.fill((batch, count), LOWEST), tf.zeros((batch, count), tf.int32)
    return Ended(nothing, nothing, zeros, zeros)


def finished_first(finished: Ended, unfinished: Ended) -> Ended:
    """Fills the pool of finished hypotheses with the best unfinished ones.

    Args:
        finished: (B, n), best first.
        unfinished: (B, m), in any order.
    """
    batch, count = tf.unstack(tf.shape(finished.scores))
    ranked = unfinished.best(tf.shape(unfinished.scores)[1])
    every = finished.then(ranked).then(none_ended(batch, count))
    place = tf.range(count)[None]
    full = tf.reduce_sum(tf.cast(finished.scores > LOWEST, tf.int32), axis=1, keepdims=True)
    order = tf.where(place < full, place, place - full + count)  # (B, n)
    best = Ended(*(tf.gather(x, order, batch_dims=1) for x in every))
    return best._replace(lengths=tf.where(best.scores > LOWEST, best.lengths, 0))
