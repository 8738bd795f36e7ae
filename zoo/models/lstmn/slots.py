"""The slots of a tape inside a loop over time: a ring of them, and the gradient of reading them.

Slots come first, so that those in use are a contiguous piece of the memory. The gradient computes
the tanh of the scores again instead of keeping it: over all steps and slots it would be the largest
tensor of a training step.

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
        real: bool (W, B), of the slots that were there before the first step, in their places.
        carried: their number.
        step: of those that were written since, every one is real.
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
    """Back through ``score`` and ``read``.

    Args:
        upstream: the gradients of the mean (B, m) and of the weights (S, B).
        query: as it was read with, (B, a).
        slots: likewise.
        scale: likewise.
        weights: what came out, (S, B).
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
