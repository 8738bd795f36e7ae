"""Maxout pooling (Goodfellow et al. 2013)."""

from typing import Any

from keras import ops

from zoo.ops.masking import Tensor


def maxout(values: Tensor, pool_size: int) -> Tensor:
    """Maximum over pools laid out pool-major: all outputs of pool 0, then of pool 1 ...

    Args:
        values: (..., pool_size * units), of rank two or more.
        pool_size: number of linear pieces of each unit.

    Returns:
        (..., units). Tied pieces share the gradient equally.
    """
    return _maximum(_split_pools(values, pool_size))


def _split_pools(values: Tensor, pool_size: int) -> Tensor:
    *outer, features = ops.shape(values)
    return ops.reshape(values, (*outer, pool_size, features // pool_size))


@ops.custom_gradient
def _maximum(values: Tensor) -> tuple[Tensor, Any]:
    """Takes the maximum over axis -2, with a gradient of two passes, not TensorFlow's four."""
    # The initial value allows for an empty batch.
    maximum = ops.max(values, axis=-2, keepdims=True, initial=-float("inf"))

    def gradient(upstream: Tensor) -> Tensor:
        winners = ops.cast(ops.equal(values, maximum), values.dtype)
        share = ops.expand_dims(upstream, -2) / ops.sum(winners, axis=-2, keepdims=True)
        return winners * share

    return ops.squeeze(maximum, -2), gradient
