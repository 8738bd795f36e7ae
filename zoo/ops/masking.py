"""Masks, and the one masked softmax that every attention of the zoo goes through.

A mask is a bool tensor, True where a real token stands. Scores are masked *before* the softmax:
multiplying them by the mask instead would leave padding the weight ``exp(0)``.

Softmaxes are computed in float32 at least: in float16 a large negative constant overflows, and
half precision loses the small weights.
"""

from typing import Any

import keras
from keras import ops

Tensor = Any  # a backend tensor or a KerasTensor: Keras 3 has no common base class for them

MASKED_SCORE = -1e30
"""Score of a masked position: finite, and below every real score in float32."""


def mask_from_ids(ids: Tensor, padding_id: int = 0) -> Tensor:
    """Returns True where ``ids`` (..., T) holds a real token and not ``padding_id``."""
    return ops.not_equal(ids, padding_id)


def append_sentinel_mask(mask: Tensor) -> Tensor:
    """Appends one position that is always real: (B, T) -> (B, T + 1)."""
    return ops.pad(mask, [[0, 0], [0, 1]], constant_values=True)


def mask_rows(values: Tensor, mask: Tensor) -> Tensor:
    """Zeros the rows of ``values`` (B, T, d) where ``mask`` (B, T) is False."""
    return ops.where(mask[:, :, None], values, ops.zeros((), values.dtype))


def mask_scores(scores: Tensor, mask: Tensor) -> Tensor:
    """Returns float32 (or float64) ``scores`` with ``MASKED_SCORE`` where ``mask`` is False."""
    scores = at_least_float32(scores)
    return ops.where(mask, scores, ops.cast(MASKED_SCORE, scores.dtype))


def masked_softmax(scores: Tensor, mask: Tensor, axis: int = -1) -> Tensor:
    """Softmax over the real positions of ``axis``.

    Args:
        scores: any shape.
        mask: bool, broadcastable to ``scores``.
        axis: the axis whose real positions sum to one.

    Returns:
        Weights in the dtype of ``scores``: exactly 0 where masked; all zeros, with a zero gradient,
        where a whole row is masked.
    """
    # Without a real position all scores are equal, and so would be the weights.
    masked = mask_scores(scores, mask)
    weights = _softmax(masked, axis) * ops.cast(mask, masked.dtype)
    return ops.cast(weights, scores.dtype)


def masked_log_softmax(scores: Tensor, mask: Tensor, axis: int = -1) -> Tensor:
    """Log-probabilities over the real positions of ``axis``; ``MASKED_SCORE`` where masked.

    Args:
        scores: any shape.
        mask: bool, broadcastable to ``scores``.
        axis: the axis over which probabilities sum to one.

    Returns:
        float32 (or float64) log-probabilities, finite everywhere.
    """
    masked = mask_scores(scores, mask)
    # The initial value lets it be called without a row.
    maximum = ops.max(masked, axis=axis, keepdims=True, initial=-float("inf"))
    masked = masked - ops.stop_gradient(maximum)
    log_total = ops.logsumexp(masked, axis=axis, keepdims=True)
    return mask_scores(masked - log_total, mask)


def masked_argmax(scores: Tensor, mask: Tensor, axis: int = -1) -> Tensor:
    """Index (int32) of the best real position; 0 where a whole row is masked."""
    return ops.cast(ops.argmax(mask_scores(scores, mask), axis=axis), "int32")


def last_position(mask: Tensor) -> Tensor:
    """Index (B,) int32 of the last real position of right-padded rows; 0 for an empty row."""
    length = ops.sum(ops.cast(mask, "int32"), axis=-1)
    return ops.maximum(length - 1, 0)


def _softmax(scores: Tensor, axis: int) -> Tensor:
    """One operation; Keras warns where there is but one position, as at the first step."""
    if scores.shape[axis] == 1:
        return ops.exp(scores - scores)
    return ops.softmax(scores, axis=axis)


def at_least_float32(scores: Tensor) -> Tensor:
    """Returns ``scores`` in float32, but float64 as it is."""
    dtype = keras.backend.standardize_dtype(scores.dtype)
    return scores if dtype == "float64" else ops.cast(scores, "float32")
