"""Ring of tape slots in a loop over time, and the gradient of reading them.

Slots are the first axis, so that the slots in use are contiguous in memory. The gradient recomputes
the tanh of the scores: kept for all steps and slots, it would be the largest tensor of a training
step.

Shape letters: S slots, W places of a ring, B batch, a score units, m memory.
"""

from typing import NamedTuple

import tensorflow as tf

from zoo.layers.recurrence.loops import product_over_time
from zoo.models.lstmn.cell import Slots, compare
from zoo.ops.masking import Tensor, at_least_float32


def real_places(real: Tensor, carried: Tensor, step: Tensor) -> Tensor:
    """Marks the places of a ring that hold a real slot before a step, bool (W, B).

    Args:
        real: bool (W, B), the slots before the first step, in their places.
        carried: their number.
        step: number of steps since; the slots that they wrote are all real.
    """
    width = tf.shape(real)[0]
    newest = carried + step - 1
    slot = newest - (newest - tf.range(width)) % width  # (W,), in each place
    return real | (slot >= carried)[:, None]


class ReadGradient(NamedTuple):
    """Gradients of ``score`` and ``read``."""

    query: Tensor
    """(B, a)"""
    keys: Tensor
    """(S, B, a)"""
    memory: Tensor
    """(S, B, m)"""
    scale: Tensor
    """(a,)"""


def read_gradient(
    upstream: tuple[Tensor, Tensor], query: Tensor, slots: Slots, scale: Tensor, weights: Tensor
) -> ReadGradient:
    """Backpropagates through ``score`` and ``read``.

    Args:
        upstream: the gradients of the mean (B, m) and of the weights (S, B).
        query: as in the forward step, (B, a).
        slots: as in the forward step.
        scale: as in the forward step.
        weights: the resulting weights, (S, B).
    """
    dtype, given = weights.dtype, (query, slots.memory, scale, weights, *upstream)
    query, memory, scale, weights, into_mean, into_weights = map(at_least_float32, given)
    hidden = compare(query, slots)  # (S, B, a)
    into_weights = into_weights + tf.reduce_sum(memory * into_mean, axis=-1)  # (S, B)
    centred = into_weights - tf.reduce_sum(weights * into_weights, axis=0)
    into_scores = weights * centred
    into_keys = into_scores[..., None] * (scale * (1 - hidden * hidden))  # (S, B, a)
    into = ReadGradient(
        query=tf.reduce_sum(into_keys, axis=0),
        keys=into_keys,
        memory=weights[..., None] * into_mean,
        scale=product_over_time(hidden, into_scores[..., None])[:, 0],
    )
    return ReadGradient(*(tf.cast(gradient, dtype) for gradient in into))
