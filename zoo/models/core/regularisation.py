"""Weight decay as a part of the loss."""

from collections.abc import Iterable
from typing import Any

from zoo.ops.penalties import squares_penalty


def penalise_matrices(weights: Iterable[Any], l2: float) -> None:
    """Adds ``l2`` times the sum of squares of all matrices to the loss; biases stay free.

    Args:
        weights: whose regularisers are set; vectors are passed over.
        l2: 0 adds nothing.
    """
    for weight in weights:
        if l2 and len(weight.shape) > 1:
            weight.regularizer = squares_penalty(l2)
