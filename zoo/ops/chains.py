"""Linear chains of hidden states: log partition function and marginals, by forward-backward.

``p(z)`` is proportional to ``exp(sum_i unary_i(z_i) + sum_i pairwise(z_i, z_{i+1}))`` over all
sequences of K states (Lafferty, McCallum and Pereira, ICML 2001). Both directions run side by side
in one loop, in log space. Everything is differentiable to any order: marginals are the first
derivatives of the log partition function, so their own gradients are second ones.

A chain ends at its own length. Scores of padding, whatever they are, and transitions into it are no
part of it. Scores must be finite; ``MASKED_SCORE`` makes a state or transition impossible.

Shape letters: B chains, n positions, K states.
"""

from typing import NamedTuple

import tensorflow as tf

from zoo.ops.lengths import nan_unless_possible
from zoo.ops.masking import MASKED_SCORE, Tensor, at_least_float32


def chain_marginals(unary: Tensor, pairwise: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Computes ``p(z_i = k)``.

    Args:
        unary: scores (B, n, K).
        pairwise: scores (K, K) of a state (row) and the one after it (column), or (B, n - 1, K, K),
            where they depend on the position.
        lengths: int32 (B,), numbers of real positions; None: all are real. In a graph, which
            cannot refuse it, one that is negative or beyond n gives NaN.

    Returns:
        (B, n, K), at least in single precision: sums to 1 over states, exactly 0 on padding.

    Raises:
        ValueError: if the shapes do not fit each other, or a length is impossible.
    """
    chain = _time_major(unary, pairwise, lengths)
    marginals = tf.nn.softmax(_beliefs(chain), axis=1)
    marginals = tf.where(chain.real[:, None], marginals, 0.0)
    return _batch_major(marginals, unary)


def chain_log_marginals(unary: Tensor, pairwise: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Computes ``log p(z_i = k)``, which is finite where the probability underflows.

    Args:
        unary: as of ``chain_marginals``.
        pairwise: likewise.
        lengths: likewise.

    Returns:
        (B, n, K), at least in single precision; ``MASKED_SCORE`` on padding.

    Raises:
        ValueError: as ``chain_marginals``.
    """
    chain = _time_major(unary, pairwise, lengths)
    marginals = tf.nn.log_softmax(_beliefs(chain), axis=1)
    marginals = tf.where(chain.real[:, None], marginals, MASKED_SCORE)
    return _batch_major(marginals, unary)


def chain_pair_marginals(unary: Tensor, pairwise: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Computes ``p(z_i = k, z_{i+1} = l)``.

    Args:
        unary: as of ``chain_marginals``.
        pairwise: likewise.
        lengths: likewise.

    Returns:
        (B, n - 1, K, K): sums to 1 over pairs of states, exactly 0 where either is padding.

    Raises:
        ValueError: as ``chain_marginals``.
    """
    chain = _time_major(unary, pairwise, lengths)
    forwards, backwards = _messages(chain)
    joint = forwards[:-1, :, None] + chain.pairwise + backwards[1:, None]  # (n - 1, K, K, B)
    shape = tf.shape(joint)
    states = shape[1]
    flat = tf.nn.softmax(tf.reshape(joint, (shape[0], states * states, shape[3])), axis=1)
    flat = tf.where(chain.real[1:, None], flat, 0.0)
    return tf.transpose(tf.reshape(flat, shape), (3, 0, 1, 2))  # (B, n - 1, K, K)


def chain_log_partition(unary: Tensor, pairwise: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Computes ``log Z``, the log of the sum over all sequences of states.

    Args:
        unary: as of ``chain_marginals``.
        pairwise: likewise.
        lengths: likewise.

    Returns:
        (B,), at least in single precision; 0 for a chain without positions.

    Raises:
        ValueError: as ``chain_marginals``.
    """
    chain = _time_major(unary, pairwise, lengths)
    messages = _recurse(chain.unary, chain.pairwise)
    totals, shifts = _log_sum_exp(messages), _largest(messages)  # (n, B)
    totals += tf.cumsum(shifts, axis=0, exclusive=True)
    last = chain.real & ~tf.concat([chain.real[1:], tf.zeros_like(chain.real[:1])], axis=0)
    return tf.reduce_sum(tf.where(last, totals, 0.0), axis=0)


class _Chain(NamedTuple):
    """Scores with the batch last, where all operations of the loop run along it."""

    unary: Tensor
    """(n, K, B)."""
    pairwise: Tensor
    """(n - 1, K, K, B), or (1, K, K, 1) where all are the same."""
    lengths: Tensor
    """int32 (B,)."""
    real: Tensor
    """bool (n, B)."""


def _batch_major(found: Tensor, unary: Tensor) -> Tensor:
    """Transposes results (n, K, B) to (B, n, K), without what ``_time_major`` appended."""
    unary, found = tf.convert_to_tensor(unary), tf.transpose(found, (2, 0, 1))
    return found[:, : tf.shape(unary)[1]] if unary.shape[1] in (0, None) else found


def _time_major(unary: Tensor, pairwise: Tensor, lengths: Tensor | None) -> _Chain:
    """Checks the scores and arranges them; without a position, one of padding is appended.

    Loops cannot run over no positions: the first is read before them.
    """
    unary = at_least_float32(tf.convert_to_tensor(unary))
    pairwise = tf.cast(pairwise, unary.dtype)
    _check_shapes(unary.shape, pairwise.shape)
    batch, length, _ = tf.unstack(tf.shape(unary))
    if lengths is None:
        lengths = tf.fill((batch,), length)
    else:
        unary, lengths = nan_unless_possible(unary, lengths, length)
    if unary.shape[1] in (0, None):
        unary = tf.pad(unary, [[0, 0], [0, tf.maximum(1 - length, 0)], [0, 0]])
        length = tf.maximum(length, 1)
    if pairwise.shape.rank == 2:
        pairwise = pairwise[None, :, :, None]  # (1, K, K, 1)
    else:
        pairwise = tf.transpose(pairwise, (1, 2, 3, 0))  # (n - 1, K, K, B)
    real = tf.range(length)[:, None] < lengths
    return _Chain(tf.transpose(unary, (1, 2, 0)), pairwise, lengths, real)


def _check_shapes(unary: tf.TensorShape, pairwise: tf.TensorShape) -> None:
    if unary.rank != 3:
        raise ValueError(f"unary must have the shape (batch, length, states), got {unary}")
    batch, length, states = unary
    shared = (states, states)
    own = (batch, None if length is None else max(length - 1, 0), states, states)
    if not (pairwise.is_compatible_with(shared) or pairwise.is_compatible_with(own)):
        raise ValueError(
            f"pairwise must have the shape {shared} or {own} for unary scores {unary}, "
            f"got {pairwise}"
        )


def _beliefs(chain: _Chain) -> Tensor:
    """Log marginals (n, K, B), up to a number per position and chain."""
    forwards, backwards = _messages(chain)
    return forwards + backwards - chain.unary  # which is in both


def _messages(chain: _Chain) -> tuple[Tensor, Tensor]:
    """Runs both directions in one loop, with the batch doubled.

    Returns:
        Forward and backward messages (n, K, B), each up to a number per position and chain, and
        each with the unary score of its position. Those at padding are of no use.
    """
    unary, pairwise, lengths, _ = chain
    reversed_unary = tf.reverse_sequence(unary, lengths, seq_axis=0, batch_axis=2)
    transposed = tf.transpose(pairwise, (0, 2, 1, 3))
    if pairwise.shape[-1] != 1 or pairwise.shape[0] != 1:
        pairs = tf.maximum(lengths - 1, 0)
        transposed = tf.reverse_sequence(transposed, pairs, seq_axis=0, batch_axis=3)
    both = tf.stack([unary, reversed_unary], axis=2)  # (n, K, 2, B)
    found = _recurse(both, tf.stack([pairwise, transposed], axis=3))
    backwards = tf.reverse_sequence(found[:, :, 1], lengths, seq_axis=0, batch_axis=2)
    return found[:, :, 0], backwards


def _recurse(unary: Tensor, pairwise: Tensor) -> Tensor:
    """``m_1 = u_1``; ``m_i(l) = u_i(l) + log sum_k exp(m_{i-1}(k) - max m_{i-1} + b(k, l))``.

    The maximum is subtracted so that rounding errors do not grow with the length. It is a constant
    to gradients: marginals do not depend on it, and log Z adds it again.

    Args:
        unary: (n, K, ...).
        pairwise: (n - 1 or 1, K, K, ...), broadcast to the rest.

    Returns:
        (n, K, ...).
    """
    length, shape = tf.shape(unary)[0], unary.shape[1:]
    scores = tf.TensorArray(unary.dtype, length, element_shape=shape).unstack(unary)
    fixed = pairwise.shape[0] == 1
    # In a chain of two positions one matrix is the same as one for all.
    steps = (
        None
        if fixed
        else tf.TensorArray(unary.dtype, length - 1, element_shape=pairwise.shape[1:]).unstack(
            pairwise
        )
    )

    def body(index: Tensor, message: Tensor, store: tf.TensorArray) -> tuple:
        step = pairwise[0] if steps is None else steps.read(index - 1)
        entering = (message - _largest(message, 0))[:, None] + step  # (K, K, ...)
        message = _log_sum_exp(entering, 0) + scores.read(index)
        return index + 1, message, store.write(index, message)

    store = tf.TensorArray(unary.dtype, length, element_shape=shape)
    first = scores.read(0)
    state = (tf.constant(1), first, store.write(0, first))
    *_, store = tf.while_loop(
        lambda index, *_: index < length, body, state, maximum_iterations=length
    )
    return store.stack()


def _largest(values: Tensor, axis: int = 1) -> Tensor:
    return tf.stop_gradient(tf.reduce_max(values, axis=axis))


def _log_sum_exp(values: Tensor, axis: int = 1) -> Tensor:
    """TensorFlow's own has twice as many operations, for infinite values."""
    largest = _largest(values, axis)
    shifted = values - tf.expand_dims(largest, axis)
    return tf.math.log(tf.reduce_sum(tf.exp(shifted), axis=axis)) + largest
