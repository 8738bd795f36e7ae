"""Gated units over time, with a gradient written by hand."""

from collections.abc import Callable

import tensorflow as tf

from zoo.layers.recurrence.loops import (
    flip,
    must_flip,
    new_store,
    product_over_time,
    run_loop,
    states_before,
    unstack,
)
from zoo.layers.recurrence.steps import GatedKernels, gated_step
from zoo.ops.masking import Tensor


def gated_states(projected: Tensor, kernels: GatedKernels, reverse: bool = False) -> Tensor:
    """Computes the hidden states of a gated unit (``gated_step``) from a zero state.

    Args:
        projected: projected inputs, time-major (T, B, 3n).
        kernels: the recurrent weights.
        reverse: whether to run from the last step to the first.

    Returns:
        (T, B, n), in the order of ``projected``.
    """
    if must_flip(reverse):
        return flip(gated_states(flip(projected), kernels))

    @tf.custom_gradient
    def run(projected: Tensor, *kernels: Tensor) -> tuple[Tensor, Callable]:
        return _gated(projected, GatedKernels(*kernels), reverse)

    return run(projected, *kernels)


def _gated(projected: Tensor, kernels: GatedKernels, reverse: bool) -> tuple[Tensor, Callable]:
    """Computes hidden states (T, B, n) and a function from their gradient to the inputs'."""
    length, batch = tf.unstack(tf.shape(projected)[:2])
    units = kernels.candidate.shape[0]
    zeros = tf.zeros((batch, units), projected.dtype)
    steps = unstack(projected, length)
    stores = [new_store(projected, length, size) for size in (units, 2 * units, units)]

    def body(index: Tensor, hidden: Tensor, stores: list[tf.TensorArray]) -> tuple:
        t = length - 1 - index if reverse else index
        kept = gated_step(steps.read(t), hidden, kernels)
        written = [store.write(t, value) for store, value in zip(stores, kept, strict=True)]
        return index + 1, kept[0], written

    *_, stores = run_loop(length, body, (tf.constant(0), zeros, stores))
    hidden, gates, candidate = (store.stack() for store in stores)

    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        before = states_before(hidden, zeros, reverse)
        into = _gated_gradient(upstream, before, gates, candidate, kernels, reverse)  # (T, B, 3n)
        into_gates, into_candidate = tf.split(into, [2 * units, units], axis=-1)
        reset = gates[:, :, units:] * before
        gates_kernel = product_over_time(before, into_gates)
        return into, gates_kernel, product_over_time(reset, into_candidate)

    return hidden, gradient


def _gated_gradient(
    upstream: Tensor,
    before: Tensor,
    gates: Tensor,
    candidate: Tensor,
    kernels: GatedKernels,
    reverse: bool,
) -> Tensor:
    """Backpropagates through time to the pre-activations of every step (T, B, 3n).

    Factors that are independent of later steps are computed first, for all steps at once.
    """
    length, units = tf.shape(before)[0], before.shape[-1]
    z, r = tf.split(gates, 2, axis=-1)
    into_z = (candidate - before) * z * (1 - z)
    into_candidate = z * (1 - candidate * candidate)
    kept = (upstream, into_z, into_candidate, before * r * (1 - r), r, 1 - z)
    arrays = [unstack(x, length) for x in kept]

    def body(index: Tensor, dh: Tensor, store: tf.TensorArray) -> tuple:
        t = index if reverse else length - 1 - index
        outer, into_z, into_candidate, into_r, reset, keep = (array.read(t) for array in arrays)
        dh = dh + outer
        candidate = dh * into_candidate
        through = tf.matmul(candidate, kernels.candidate, transpose_b=True)
        into = tf.concat([dh * into_z, through * into_r], axis=-1)
        carried = dh * keep + through * reset
        dh = carried + tf.matmul(into, kernels.gates, transpose_b=True)
        return index + 1, dh, store.write(t, tf.concat([into, candidate], axis=-1))

    store = new_store(gates, length, 3 * units)
    *_, store = run_loop(length, body, (tf.constant(0), tf.zeros_like(before[0]), store))
    return store.stack()
