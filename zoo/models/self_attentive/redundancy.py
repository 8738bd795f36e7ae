"""The penalty of section 2.2, which keeps the hops of a text apart.

``P = || A A^T - I ||_F^2``: zero if and only if every hop puts all its weight on one word, each on
another one. The norm is squared, without a root.

Shape letters: B texts, T words, r hops.
"""

from typing import Literal

from keras import ops

from zoo.ops.masking import Tensor, at_least_float32

Reduction = Literal["sum", "mean"]


def redundancy(weights: Tensor, reduction: Reduction = "sum") -> Tensor:
    """Computes the penalty of each text.

    Args:
        weights: A (B, r, T), zero on padding.
        reduction: ``"sum"`` over the r x r entries is the norm; ``"mean"``, of the released code,
            is the norm divided by r^2, so that its coefficients are other numbers.

    Returns:
        (B,), float32 at least.
    """
    weights = at_least_float32(weights)
    overlaps = ops.matmul(weights, ops.swapaxes(weights, 1, 2))  # (B, r, r)
    squares = ops.square(overlaps - ops.eye(weights.shape[1], dtype=weights.dtype))
    return (ops.sum if reduction == "sum" else ops.mean)(squares, axis=(1, 2))
