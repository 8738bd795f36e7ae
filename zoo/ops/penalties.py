"""Penalties on weights, as parts of the loss."""

from collections.abc import Callable

from keras import ops

from zoo.ops.masking import Tensor, at_least_float32


def squares_penalty(l2: float) -> Callable[[Tensor], Tensor]:
    """Makes a regulariser of a weight: ``l2`` times its sum of squares, in 32 bits at least.

    A sum in 16 bits has hardly a digit, and would not add up with losses in 32.
    """

    def penalty(weight: Tensor) -> Tensor:
        return l2 * ops.sum(ops.square(at_least_float32(weight)))

    return penalty
