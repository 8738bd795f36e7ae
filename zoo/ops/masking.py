"""Masks, and the one masked softmax that all attention in the zoo uses.

A mask is a bool tensor, True at real tokens. Integers count as truth values. Floats are refused,
because other libraries add float masks to scores. Scores are masked *before* the softmax:
multiplying them by the mask instead would leave padding the weight ``exp(0)``.

Softmaxes are computed in float32 at least: a large negative constant overflows in float16, and half
precision loses small weights.
"""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

Tensor = Any  # a backend tensor or a KerasTensor: Keras 3 has no common base class for them

MASKED_SCORE = -1e30
"""Score of a masked position: finite, and below every real score in float32."""


def as_mask(mask: Tensor | None, *shapes: Sequence[int | None], name: str = "mask") -> Tensor:
    """Checks that ``mask`` is a mask and casts it to bool.

    Args:
        mask: bool, or integers that are 0 on padding.
        shapes: the allowed shapes, in which None matches any size; without any, all are allowed.
        name: the argument's name, for the error.

    Raises:
        ValueError: if ``mask`` is None, holds floats or strings, or has another shape.
    """
    expected = " or ".join(str(_sizes(shape)) for shape in shapes)
    expected = f"bool{' of shape ' if expected else ''}{expected}, True at real positions"
    # For an argument that is a nest, Keras passes a nest of None.
    if mask is None or all(part is None for part in keras.tree.flatten(mask)):
        raise ValueError(f"{name} must be {expected}, got None")
    mask = mask if hasattr(mask, "dtype") else ops.convert_to_tensor(mask)
    dtype = keras.backend.standardize_dtype(mask.dtype)
    if not dtype.startswith(("bool", "int", "uint")):
        raise ValueError(
            f"{name} must be {expected}, got {dtype}: floats, such as 0 and -1e9, are not truth"
            " values; compare them first, mask == 0"
        )
    if shapes and not any(_fits(mask.shape, shape) for shape in shapes):
        raise ValueError(f"{name} must be {expected}, got shape {_sizes(mask.shape)}")
    return mask if dtype == "bool" else ops.cast(mask, "bool")


def refuse_attached_mask(name: str = "mask", **carriers: Any) -> None:
    """Raises a ValueError if a tensor carries a Keras mask while the mask argument is missing.

    Args:
        name: the mask argument, which is None.
        **carriers: tensors, or nests of them, by argument name. Keras attaches masks after
            ``Embedding(mask_zero=True)``.
    """
    for carrier, tensors in carriers.items():
        if any(getattr(x, "_keras_mask", None) is not None for x in keras.tree.flatten(tensors)):
            raise ValueError(
                f"{name} must be the Keras mask of the {carrier}, got None: pass it as {name}="
            )


def mask_from_ids(ids: Tensor, padding_id: int = 0) -> Tensor:
    """Returns True where ``ids`` (..., T) holds a real token and not ``padding_id``."""
    return ops.not_equal(ids, padding_id)


def append_sentinel_mask(mask: Tensor) -> Tensor:
    """Appends one position that is always real: (B, T) -> (B, T + 1)."""
    return ops.pad(as_mask(mask, (None, None)), [[0, 0], [0, 1]], constant_values=True)


def mask_rows(values: Tensor, mask: Tensor) -> Tensor:
    """Zeros the rows of ``values`` (B, T, ...) where ``mask`` (B, T) is False."""
    mask = as_mask(mask, values.shape[:2])
    mask = mask[(..., *[None] * (len(values.shape) - 2))]  # (B, T, 1, ...)
    return ops.where(mask, values, ops.zeros((), values.dtype))


def mask_of_heads(mask: Tensor, batch: int | None, queries: int | None, keys: int | None) -> Tensor:
    """Shapes a mask (B, S) or (B, Q, S) to broadcast to the scores (B, h, Q, S).

    Raises:
        ValueError: if it holds floats or has another shape.
    """
    mask = as_mask(mask, (batch, keys), (batch, queries, keys))
    return mask[:, None, None, :] if len(mask.shape) == 2 else mask[:, None]


def mask_scores(scores: Tensor, mask: Tensor) -> Tensor:
    """Returns float32 (or float64) ``scores`` with ``MASKED_SCORE`` where ``mask`` is False."""
    scores = at_least_float32(scores)
    return ops.where(as_mask(mask), scores, ops.cast(MASKED_SCORE, scores.dtype))


def masked_softmax(scores: Tensor, mask: Tensor, axis: int = -1) -> Tensor:
    """Softmax over the real positions of ``axis``.

    Args:
        scores: any shape.
        mask: bool, broadcastable to ``scores``.
        axis: the axis whose real positions sum to one.

    Returns:
        Weights in the dtype of ``scores``, float32 if these are integers: exactly 0 where masked;
        all zeros, with a zero gradient, where a whole row is masked.

    Raises:
        ValueError: if ``mask`` is not a mask, or does not broadcast to the scores.
    """
    scores = float_scores(scores)
    mask = _mask_of(scores, mask)
    # A fully masked row has equal scores; without this it would get uniform weights.
    masked = mask_scores(scores, mask)
    weights = _softmax(masked, axis) * ops.cast(mask, masked.dtype)
    return ops.cast(weights, scores.dtype)


def attention_weights(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the positions that are real and that the score function can reach.

    Args:
        scores: (B, Q, S); ``MASKED_SCORE`` or minus infinity where the score function does not
            reach (``LocationScore``).
        mask: bool (B, S) or (B, Q, S); None: all are real.

    Returns:
        (B, Q, S) in the dtype of ``scores``, float32 if these are integers: exactly 0 where masked;
        all zeros, with a zero gradient, where nothing is left. Other rows sum to one; they are NaN
        if a real score is.

    Raises:
        ValueError: if ``mask`` holds floats, or has another shape.
    """
    scores = float_scores(scores)
    reached = ~(scores <= ops.cast(MASKED_SCORE / 2, scores.dtype))  # NaN is not hidden
    if mask is None:
        return masked_softmax(scores, reached)
    batch, _, length = scores.shape
    mask = as_mask(mask, (batch, length), scores.shape)
    mask = mask[:, None] if len(mask.shape) == 2 else mask  # (B, 1 or Q, S)
    return masked_softmax(scores, mask & reached)


def masked_log_softmax(scores: Tensor, mask: Tensor, axis: int = -1) -> Tensor:
    """Log-probabilities over the real positions of ``axis``; ``MASKED_SCORE`` where masked.

    Args:
        scores: any shape.
        mask: bool, broadcastable to ``scores``.
        axis: the axis over which probabilities sum to one.

    Returns:
        float32 (or float64) log-probabilities, finite everywhere.

    Raises:
        ValueError: as ``masked_softmax``.
    """
    mask = _mask_of(scores, mask)
    masked = mask_scores(scores, mask)
    # The initial value allows for an empty batch.
    maximum = ops.max(masked, axis=axis, keepdims=True, initial=-float("inf"))
    masked = masked - ops.stop_gradient(maximum)
    log_total = ops.logsumexp(masked, axis=axis, keepdims=True)
    return mask_scores(masked - log_total, mask)


def masked_argmax(scores: Tensor, mask: Tensor, axis: int = -1) -> Tensor:
    """Index (int32) of the best real position; 0 where a whole row is masked."""
    return ops.cast(ops.argmax(mask_scores(scores, _mask_of(scores, mask)), axis=axis), "int32")


def last_position(mask: Tensor) -> Tensor:
    """Index (B,) int32 of the last real position of right-padded rows; 0 for an empty row."""
    length = ops.sum(ops.cast(as_mask(mask), "int32"), axis=-1)
    return ops.maximum(length - 1, 0)


def _softmax(scores: Tensor, axis: int) -> Tensor:
    """Avoids Keras' warning for a softmax over one position, as at the first step."""
    if scores.shape[axis] == 1:
        return ops.exp(scores - scores)
    return ops.softmax(scores, axis=axis)


def wide_dtype(dtype: Any) -> str:
    """Names the dtype of computations in float32 at least: float64 for itself, else float32."""
    return "float64" if keras.backend.standardize_dtype(dtype) == "float64" else "float32"


def at_least_float32(scores: Tensor) -> Tensor:
    """Casts ``scores`` to float32, but leaves float64 alone."""
    dtype = keras.backend.standardize_dtype(scores.dtype)
    return scores if dtype == "float64" else ops.cast(scores, "float32")


def float_scores(scores: Tensor) -> Tensor:
    """Casts integers to float32, because weights would all be rounded to 0; leaves floats alone."""
    dtype = keras.backend.standardize_dtype(scores.dtype)
    return scores if keras.backend.is_float_dtype(dtype) else ops.cast(scores, "float32")


def _mask_of(scores: Tensor, mask: Tensor) -> Tensor:
    """Casts ``mask`` to bool after checking that it broadcasts to ``scores``."""
    mask = as_mask(mask)
    own, of_scores = _sizes(mask.shape), _sizes(scores.shape)
    shared = of_scores[len(of_scores) - len(own) :]
    if len(own) > len(of_scores) or not all(
        size in (1, None, other) or other is None for size, other in zip(own, shared, strict=True)
    ):
        raise ValueError(f"mask must have a shape that broadcasts to {of_scores}, got {own}")
    return mask


def _fits(shape: Sequence[int | None], expected: Sequence[int | None]) -> bool:
    """Tells whether two shapes agree in all sizes that are known."""
    shape, expected = _sizes(shape), _sizes(expected)
    pairs = zip(shape, expected, strict=False)
    return len(shape) == len(expected) and all(a == b or None in (a, b) for a, b in pairs)


def _sizes(shape: Sequence[int | None]) -> tuple[int | None, ...]:
    """Converts the backend's shape to a tuple."""
    return tuple(shape)
