"""Additive attention of one query over the slots of a memory, inside a loop over time.

Slots come first, so that those in use are a contiguous piece of the memory. The gradient computes
the tanh again instead of keeping it: that of all steps and slots would be the largest thing in the
memory of a training step.

Shape letters: S slots, ... rows (a batch, or a batch and its hypotheses), a score units, m memory.
"""

from typing import NamedTuple

import tensorflow as tf

from zoo.layers.recurrence.loops import product_over_time
from zoo.ops.masking import Tensor, at_least_float32, masked_softmax


class Slots(NamedTuple):
    """A memory and what scores it."""

    keys: Tensor
    """What a slot gives to its score, (S, ..., a)."""
    memory: Tensor
    """(S, ..., m)"""
    real: Tensor
    """bool (S, ...), False where a slot holds nothing."""

    def cut(self, count: Tensor) -> "Slots":
        """The first ``count`` slots."""
        return Slots(self.keys[:count], self.memory[:count], self.real[:count])


def real_places(real: Tensor, carried: Tensor, step: Tensor) -> Tensor:
    """Which places of a ring hold something real, bool (W, B), before a step.

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
    """Gradients of ``read_slots``."""

    query: Tensor
    """(B, a)"""
    keys: Tensor
    """(S, B, a)"""
    memory: Tensor
    """(S, B, m)"""
    scale: Tensor
    """(a,)"""


def read_slots(query: Tensor, slots: Slots, scale: Tensor) -> tuple[Tensor, Tensor]:
    """``a_i = v^T tanh(k_i + q)``; ``s = softmax(a)`` over real slots; ``sum_i s_i m_i``.

    Args:
        query: q (..., a).
        slots: k and m; their rows may be broadcast.
        scale: v (a,).

    Returns:
        The mean of the memory (..., m), zeros where no slot is real, and the weights s (S, ...).
        They are in the dtype of the memory, and computed in float32 at least.
    """
    scores = _products(_hidden(query, slots), at_least_float32(scale))  # (S, ...)
    weights, memory = masked_softmax(scores, slots.real, axis=0), at_least_float32(slots.memory)
    mean = tf.reduce_sum(weights[..., None] * memory, axis=0)
    return tf.cast(mean, slots.memory.dtype), tf.cast(weights, slots.memory.dtype)


def read_gradient(
    upstream: tuple[Tensor, Tensor], query: Tensor, slots: Slots, scale: Tensor, weights: Tensor
) -> ReadGradient:
    """Back through ``read_slots``.

    Args:
        upstream: the gradients of the mean (B, m) and of the weights (S, B).
        query: as it was read with, (B, a).
        slots: likewise.
        scale: likewise.
        weights: what came out, (S, B).
    """
    dtype, given = weights.dtype, (query, slots.memory, scale, weights, *upstream)
    query, memory, scale, weights, into_mean, into_weights = map(at_least_float32, given)
    hidden = _hidden(query, slots)  # (S, B, a)
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


def _hidden(query: Tensor, slots: Slots) -> Tensor:
    """``tanh(k_i + q)`` (S, ..., a), in float32 at least."""
    return tf.tanh(at_least_float32(slots.keys) + at_least_float32(query))


def _products(values: Tensor, vector: Tensor) -> Tensor:
    """Products (S, ...) of values (S, ..., a) and a vector (a,).

    ``tf.tensordot`` would copy the values first, as it does where a size is not known in advance.
    """
    flat = tf.matmul(tf.reshape(values, (-1, vector.shape[0])), vector[:, None])
    products = tf.reshape(flat, tf.shape(values)[:-1])
    products.set_shape(values.shape[:-1])
    return products
