"""Sparsemax: the projection of scores on the simplex, with exact zeros.

Martins, Astudillo: From Softmax to Sparsemax. ICML 2016, arXiv 1602.02068, algorithm 1.
"""

from keras import ops

from zoo.ops.masking import (
    MASKED_SCORE,
    Tensor,
    as_mask,
    at_least_float32,
    float_scores,
    mask_scores,
)


def sparsemax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Computes ``max(z_i - tau(z), 0)``, the point of the simplex that is nearest to ``z``.

    The threshold follows from sorted scores: with the k largest ones, ``1 + k z_(k) > sum z_(j)``
    holds for those of the support S, and ``tau = (sum over S of z - 1) / |S|``. The gradient is
    exact: ``s * (g - mean of g over S)``, s being 1 on the support.

    Args:
        scores: z (..., F).
        mask: bool of the same shape; None: all are real.

    Returns:
        Weights (..., F) in the dtype of ``scores``, float32 if these are integers, which sum to
        one: exactly 0 outside of the support and where masked; all zeros, with a zero gradient,
        where a whole row is masked; NaN in a row of which a real score is NaN or infinite.

    Raises:
        ValueError: if ``mask`` is not a mask of the shape of the scores.
    """
    scores = float_scores(scores)
    values = at_least_float32(scores)
    if mask is not None:
        values = mask_scores(values, as_mask(mask, scores.shape))
    real = ~(values <= MASKED_SCORE / 2)  # NaN is not hidden
    # Shifted scores give the same weights and keep the sums small.
    largest = ops.max(values, axis=-1, keepdims=True, initial=MASKED_SCORE)
    values = ops.where(real, values - ops.stop_gradient(largest), MASKED_SCORE)
    support = (values > _threshold(ops.stop_gradient(values))) & real
    inside = ops.cast(support, values.dtype)
    size = ops.maximum(ops.sum(inside, axis=-1, keepdims=True), 1)
    total = ops.sum(ops.where(support, values, 0), axis=-1, keepdims=True)
    # Where a score is within rounding of the threshold, the difference may be below zero.
    weights = ops.where(support, ops.maximum(values - (total - 1) / size, 0), 0)
    # A comparison with NaN is false, so that without this such rows would have no weight at all.
    unknown = ops.any(ops.isnan(values), axis=-1, keepdims=True)
    weights = ops.where(unknown, float("nan"), weights)
    return ops.cast(weights, scores.dtype)


def _threshold(values: Tensor) -> Tensor:
    """Computes tau (..., 1) of scores (..., F) of which the largest is 0."""
    descending = -ops.sort(-values, axis=-1)
    sums = ops.cumsum(descending, axis=-1)
    ranks = ops.cast(ops.arange(1, values.shape[-1] + 1), values.dtype)
    inside = 1 + ranks * descending > sums
    size = ops.maximum(ops.sum(ops.cast(inside, values.dtype), axis=-1, keepdims=True), 1)
    total = ops.sum(ops.where(inside, descending, 0), axis=-1, keepdims=True)
    return (total - 1) / size
