"""Ranking of hypotheses of different lengths."""

from typing import Literal, NamedTuple

import tensorflow as tf

from zoo.decoding.limits import finite_number, one_of
from zoo.decoding.protocol import Number

Normalisation = Literal["none", "length", "gnmt"]
Stop = Literal["exact", "current_length", "beam_finished"]

LEAST_COVERAGE = 1e-9
"""Least attention that a source position counts with. Some attention is exactly 0, and hypotheses
that all score -inf could not be ranked."""
_LARGEST_DIVISOR = 1e30
"""Keeps the divisor within float32: an empty place, -inf, divided by infinity would be NaN, and a
hypothesis divided by 0 would count as an empty place."""


class Ranking(NamedTuple):
    """Scores ``log P / lp + beta * coverage`` of hypotheses of L tokens, ``</s>`` included.

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
        """Restricts the ranking to the sentences at ``places``, int32 (A,)."""
        return self._replace(mask=tf.gather(self.mask, places))

    @property
    def uses_coverage(self) -> bool:
        """Tells whether coverage may count; a tensor's value is unknown."""
        return isinstance(self.beta, tf.Tensor) or self.beta != 0

    def penalty(self, lengths: tf.Tensor) -> tf.Tensor:
        """Computes the divisor lp of hypotheses of these lengths."""
        lengths = tf.cast(tf.maximum(lengths, 1), tf.float32)
        if self.normalisation == "length":
            return lengths
        if self.normalisation == "gnmt":
            divisor = ((5.0 + lengths) / 6.0) ** tf.cast(self.alpha, tf.float32)
            return tf.clip_by_value(divisor, 1.0 / _LARGEST_DIVISOR, _LARGEST_DIVISOR)
        return tf.ones_like(lengths)

    def score(
        self, log_probabilities: tf.Tensor, lengths: tf.Tensor, received: tf.Tensor
    ) -> tf.Tensor:
        """Scores hypotheses at their present length.

        Args:
            log_probabilities: float32 (B, K).
            lengths: int32, broadcast to (B, K).
            received: float32 (B, K, S), the attention that each source position received so far;
                unused unless coverage counts.

        Returns:
            float32 (B, K).
        """
        scores = log_probabilities / self.penalty(lengths)
        if not self.uses_coverage:
            return scores
        covered = tf.math.log(tf.clip_by_value(received, LEAST_COVERAGE, 1.0))
        covered = tf.where(self.mask[:, None], covered, 0.0)
        coverage = tf.cast(self.beta, tf.float32) * tf.reduce_sum(covered, axis=2)
        return scores + tf.maximum(coverage, tf.float32.min)  # -inf would be an empty place

    def bound(
        self, log_probabilities: tf.Tensor, length: tf.Tensor, maximum: tf.Tensor
    ) -> tf.Tensor:
        """Bounds the final score of an unfinished hypothesis of ``length`` tokens (B,).

        Each further token can only lower the log-probability, and the divisor is monotonic in the
        length, so the best end is either now or at the maximum length. Coverage is never positive.
        """
        ends = (length + 1, maximum)
        return tf.maximum(*(log_probabilities / self.penalty(end) for end in ends))


def make_ranking(
    normalisation: Normalisation, length_penalty: Number, coverage_penalty: Number, mask: tf.Tensor
) -> Ranking:
    """Checks the settings of a ranking and makes it.

    Raises:
        ValueError: if the normalisation is unknown, the coverage penalty negative, or either
            penalty infinite or NaN.
        tf.errors.InvalidArgumentError: at run time, if a tensor's value is.
    """
    one_of("normalisation", normalisation, ("none", "length", "gnmt"))
    alpha = finite_number("length_penalty", length_penalty)
    beta = finite_number("coverage_penalty", coverage_penalty, 0)
    return Ranking(normalisation, alpha, beta, mask)
