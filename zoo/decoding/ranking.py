"""By what hypotheses of different lengths are ranked."""

from typing import Literal, NamedTuple

import tensorflow as tf

from zoo.decoding.limits import at_least, one_of
from zoo.decoding.protocol import Number

Normalisation = Literal["none", "length", "gnmt"]
Stop = Literal["exact", "current_length"]

LEAST_COVERAGE = 1e-9
"""A source position that got less attention counts as one that got this much: some attention
gives positions exactly nothing, and all hypotheses with a score of -inf could not be ranked."""


class Ranking(NamedTuple):
    """Scores ``log P / lp + beta * coverage`` of hypotheses Y of L tokens, ``</s>`` counted.

    ``lp`` is 1 (``"none"``), ``L`` (``"length"``) or ``((5 + L) / 6) ** alpha`` (``"gnmt"``);
    ``coverage = sum_j log(min(sum_t a_tj, 1))`` over the real source positions j. Source: Wu et
    al. 2016 (arXiv 1609.08144), equation 14.
    """

    normalisation: Normalisation
    alpha: Number
    beta: Number
    mask: tf.Tensor
    """bool (B, S): the real source positions."""

    def of(self, places: tf.Tensor) -> "Ranking":
        """The same for the sentences at ``places``, int32 (A,)."""
        return self._replace(mask=tf.gather(self.mask, places))

    @property
    def uses_coverage(self) -> bool:
        """Whether coverage counts: a tensor might hold anything."""
        return isinstance(self.beta, tf.Tensor) or self.beta != 0

    def penalty(self, lengths: tf.Tensor) -> tf.Tensor:
        """The divisor lp of hypotheses of these lengths."""
        lengths = tf.cast(tf.maximum(lengths, 1), tf.float32)
        if self.normalisation == "length":
            return lengths
        if self.normalisation == "gnmt":
            return ((5.0 + lengths) / 6.0) ** tf.cast(self.alpha, tf.float32)
        return tf.ones_like(lengths)

    def score(
        self, log_probabilities: tf.Tensor, lengths: tf.Tensor, received: tf.Tensor
    ) -> tf.Tensor:
        """Scores hypotheses as they stand.

        Args:
            log_probabilities: float32 (B, K).
            lengths: int32, broadcast to (B, K).
            received: float32 (B, K, S), the attention that each source position got so far; not
                looked at unless coverage counts.

        Returns:
            float32 (B, K).
        """
        scores = log_probabilities / self.penalty(lengths)
        if not self.uses_coverage:
            return scores
        covered = tf.math.log(tf.clip_by_value(received, LEAST_COVERAGE, 1.0))
        covered = tf.where(self.mask[:, None], covered, 0.0)
        return scores + tf.cast(self.beta, tf.float32) * tf.reduce_sum(covered, axis=2)

    def bound(
        self, log_probabilities: tf.Tensor, length: tf.Tensor, maximum: tf.Tensor
    ) -> tf.Tensor:
        """Bounds the final score of an unfinished hypothesis of ``length`` tokens (B,).

        Each token can only lower its log-probability, and the divisor is monotonic in the length:
        it is best ended at once or at the very end. Coverage never adds anything.
        """
        ends = (length + 1, maximum)
        return tf.maximum(*(log_probabilities / self.penalty(end) for end in ends))


def make_ranking(
    normalisation: Normalisation, length_penalty: Number, coverage_penalty: Number, mask: tf.Tensor
) -> Ranking:
    """Checks and collects what hypotheses are ranked by.

    Raises:
        ValueError: if the normalisation is unknown, or the coverage penalty negative.
    """
    one_of("normalisation", normalisation, ("none", "length", "gnmt"))
    at_least("coverage_penalty", coverage_penalty, 0)
    return Ranking(normalisation, length_penalty, coverage_penalty, mask)
