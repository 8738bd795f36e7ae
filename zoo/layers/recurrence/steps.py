"""The equations of one step of a long short-term memory and of a gated unit.

``lstm.py`` and ``gated.py`` run them over time, with a gradient written by hand.
"""

from typing import NamedTuple

import tensorflow as tf

from zoo.ops.masking import Tensor

SHUT_GATE = -1e4
"""Pre-activation whose sigmoid is 0, in half precision too."""


def lstm_step(
    gates: Tensor, cell: Tensor, added: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Runs one step of a long short-term memory.

    ``i, f, o = sigmoid(a_i, a_f, a_o)``, ``g = tanh(a_g)``; ``c' = f * c + i * g``;
    ``h' = o * tanh(c')``.

    Args:
        gates: pre-activations a (..., 4n), in Keras' order i, f, g, o.
        cell: c (..., n).
        added: another term of c' (..., n); None: none.

    Returns:
        h' and c' (..., n), and the activated gates (..., 4n).
    """
    i, f, g, o = tf.split(gates, 4, axis=-1)
    i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
    cell = f * cell + i * g
    cell = cell if added is None else cell + added
    return o * tf.tanh(cell), cell, tf.concat([i, f, g, o], axis=-1)


class GatedKernels(NamedTuple):
    """Recurrent weights of a gated unit, kept apart because slicing in every step is slow."""

    gates: Tensor
    """[U_z, U_r] (n, 2n)."""
    candidate: Tensor
    """U (n, n)."""


def gated_step(
    projected: Tensor, hidden: Tensor, kernels: GatedKernels
) -> tuple[Tensor, Tensor, Tensor]:
    """Runs one step of a gated unit whose update gate admits the new value.

    ``z, r = sigmoid(a_z + U_z h, a_r + U_r h)``; ``h~ = tanh(a + U (r * h))``;
    ``h' = (1 - z) * h + z * h~``.

    Args:
        projected: the projected input [a_z, a_r, a], (B, 3n).
        hidden: h (B, n).
        kernels: the recurrent weights.

    Returns:
        h' (B, n), [z, r] (B, 2n) and h~ (B, n).
    """
    units = hidden.shape[-1]
    into_gates, into_candidate = tf.split(projected, [2 * units, units], axis=-1)
    gates = tf.sigmoid(into_gates + tf.matmul(hidden, kernels.gates))
    z, r = tf.split(gates, 2, axis=-1)
    candidate = tf.tanh(into_candidate + tf.matmul(r * hidden, kernels.candidate))
    return hidden + z * (candidate - hidden), gates, candidate
