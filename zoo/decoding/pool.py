"""Hypotheses that have ended, of every sentence: what the search keeps of them, and in what order.

Shape letters: B sentences, n hypotheses of each.
"""

from typing import NamedTuple

import tensorflow as tf

from zoo.decoding.continuations import LOWEST


class Ended(NamedTuple):
    """Hypotheses that are not continued; where there is none, the score is -inf."""

    scores: tf.Tensor
    """float32 (B, n): what they are ranked by."""
    log_probabilities: tf.Tensor
    """float32 (B, n)."""
    lengths: tf.Tensor
    """int32 (B, n): number of tokens, and of the step that wrote the last one."""
    slots: tf.Tensor
    """int32 (B, n): their place in the beam of that step."""

    def best(self, count: int | tf.Tensor) -> "Ended":
        """The best ``count`` of each sentence, best first; of equals those that stood first."""
        scores, order = tf.math.top_k(self.scores, count)
        return Ended(scores, *(tf.gather(x, order, batch_dims=1) for x in self[1:]))

    def then(self, other: "Ended") -> "Ended":
        """These, and behind them the others."""
        return Ended(*(tf.concat(pair, axis=1) for pair in zip(self, other, strict=True)))


def none_ended(batch: tf.Tensor, count: int | tf.Tensor) -> Ended:
    """Places for ``count`` hypotheses of each sentence, all empty."""
    nothing, zeros = tf.fill((batch, count), LOWEST), tf.zeros((batch, count), tf.int32)
    return Ended(nothing, nothing, zeros, zeros)


def finished_first(finished: Ended, unfinished: Ended) -> Ended:
    """As many as there are places for finished ones: these, then the best of the unfinished.

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
