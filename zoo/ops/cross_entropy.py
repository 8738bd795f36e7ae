"""Cross entropy over large vocabularies."""

from typing import Any, Literal, get_args

from keras import ops

from zoo.ops.masking import Tensor, at_least_float32

SmoothingOver = Literal["others", "all"]


def cross_entropy(
    logits: Tensor, ids: Tensor, smoothing: float = 0.0, smoothing_over: SmoothingOver = "others"
) -> Tensor:
    """Computes the negative log-likelihood ``-log softmax(logits)[id]`` of each id.

    With ten thousand ids, the passes over the logits cost as much as the matrix product that made
    them. There are four passes here and two more in the gradient, each a plain vectorised
    operation. Label smoothing adds one to each.

    Args:
        logits: float (..., V).
        ids: int (...), in [0, V).
        smoothing: label-smoothing mass epsilon, moved from the target to the other ids (Szegedy et
            al. 2015, section 7). The result is the cross entropy with the smoothed target q and is
            at least the entropy of q.
        smoothing_over: ids that share the mass: ``"others"`` gives epsilon / (V - 1) to every other
            id; ``"all"`` gives epsilon / V to every id, so the target keeps more than 1 - epsilon.

    Returns:
        (...), in the dtype of the logits.

    Raises:
        ValueError: if ``smoothing`` is not in [0, 1), ``smoothing_over`` is not one of its
            choices, or there are no others.
    """
    shape, size = ops.shape(ids), logits.shape[-1]
    shares = _shares(size, smoothing, smoothing_over)
    losses = _row_losses(ops.reshape(logits, (-1, size)), ops.reshape(ids, (-1,)), *shares)
    return ops.reshape(losses, shape)


def precise_cross_entropy(
    logits: Tensor, ids: Tensor, smoothing: float = 0.0, smoothing_over: SmoothingOver = "others"
) -> Tensor:
    """Computes ``cross_entropy`` of logits (..., V) in float32 at least, whatever their dtype."""
    return cross_entropy(at_least_float32(logits), ids, smoothing, smoothing_over)


def _shares(size: int, smoothing: float, over: SmoothingOver) -> tuple[float, float]:
    """Splits q into the extra mass of the target id and the mass that every id gets."""
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing must be at least 0 and less than 1, got {smoothing!r}")
    if over not in get_args(SmoothingOver):
        options = list(get_args(SmoothingOver))
        raise ValueError(f"smoothing_over must be one of {options}, got {over!r}")
    if not smoothing:
        return 1.0, 0.0
    receivers = size - 1 if over == "others" else size
    if receivers < 1:
        raise ValueError(f"logits must have at least 2 classes with smoothing, got {size}")
    each = smoothing / receivers
    return 1.0 - each * size, each


def _row_losses(logits: Tensor, ids: Tensor, own: float, each: float) -> Tensor:
    """Computes losses (N,) of logits (N, V) and ids (N,) for q = ``own * one_hot + each``."""
    size = logits.shape[-1]
    columns = ops.cast(ids, "int32")[:, None]
    rows = ops.arange(ops.shape(ids)[0], dtype="int32")[:, None]
    places = ops.concatenate([rows, columns], axis=1)  # (N, 2)

    def picked(values: Tensor) -> Tensor:
        return ops.take_along_axis(values, columns, axis=1)[:, 0]

    @ops.custom_gradient
    def losses(logits: Tensor) -> tuple[Tensor, Any]:
        # The initial value allows for an empty batch.
        maximum = ops.max(logits, axis=1, keepdims=True, initial=-float("inf"))
        exponentials = ops.exp(logits - maximum)
        total = ops.sum(exponentials, axis=1)

        def gradient(upstream: Tensor) -> Tensor:
            """Computes ``upstream * (softmax - q)`` without making one-hot vectors."""
            values = exponentials * (upstream / total)[:, None]
            if each:
                values = values - each * upstream[:, None]
            return ops.scatter_update(values, places, picked(values) - own * upstream)

        # q sums to one, so subtracting the maximum from all logits changes nothing.
        expected = own * (picked(logits) - maximum[:, 0])
        if each:
            expected = expected + each * (ops.sum(logits, axis=1) - size * maximum[:, 0])
        return ops.log(total) - expected, gradient

    return losses(logits)
