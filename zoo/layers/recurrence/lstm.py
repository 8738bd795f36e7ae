"""Long short-term memories over time, with a gradient written by hand."""

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
from zoo.layers.recurrence.steps import lstm_step
from zoo.ops.masking import Tensor


def lstm_step_factors(gates: Tensor, cell: Tensor, tanh_cell: Tensor) -> tuple[Tensor, Tensor]:
    """Local derivatives of ``lstm_step``, for one step or for all.

    With ``dh`` the gradient of h', and ``dc`` that of c' as later steps see it:
    ``dc += dh * into_cell``; ``da = [dc, dc, dc, dh] * factors``.

    Args:
        gates: activated, (..., 4n).
        cell: c, before the step, (..., n).
        tanh_cell: tanh(c') (..., n).

    Returns:
        ``factors`` (..., 4n) and ``into_cell`` (..., n).
    """
    i, f, g, o = tf.split(gates, 4, axis=-1)
    factors = [g * i * (1 - i), cell * f * (1 - f), i * (1 - g * g), tanh_cell * o * (1 - o)]
    return tf.concat(factors, axis=-1), o * (1 - tanh_cell * tanh_cell)


def lstm_states(projected: Tensor, recurrent_kernel: Tensor, reverse: bool = False) -> Tensor:
    """Computes the hidden states of a long short-term memory from a zero state.

    Args:
        projected: projected inputs W x + b, time-major (T, B, 4n).
        recurrent_kernel: (n, 4n).
        reverse: whether to run from the last step to the first.

    Returns:
        (T, B, n), in the order of ``projected``.
    """
    if must_flip(reverse):
        return flip(lstm_states(flip(projected), recurrent_kernel))

    @tf.custom_gradient
    def run(projected: Tensor, recurrent_kernel: Tensor) -> tuple[Tensor, Callable]:
        zeros = tf.zeros((tf.shape(projected)[1], recurrent_kernel.shape[0]), projected.dtype)
        hidden, _, gradient = _lstm(projected, recurrent_kernel, (zeros, zeros), reverse)
        return hidden, lambda upstream: gradient(upstream)[:2]

    return run(projected, recurrent_kernel)


def lstm_states_and_cells(
    projected: Tensor,
    recurrent_kernel: Tensor,
    state: tuple[Tensor, Tensor],
    reverse: bool = False,
) -> tuple[Tensor, Tensor]:
    """Computes the hidden states and cells of a long short-term memory from ``state``.

    Args:
        projected: as in ``lstm_states``, (T, B, 4n).
        recurrent_kernel: (n, 4n).
        state: h and c before the first step, (B, n) each.
        reverse: whether to run from the last step to the first.

    Returns:
        Hidden states and cells, (T, B, n) each, in the order of ``projected``.
    """
    if must_flip(reverse):
        states, cells = lstm_states_and_cells(flip(projected), recurrent_kernel, state)
        return flip(states), flip(cells)

    @tf.custom_gradient
    def run(
        projected: Tensor, recurrent_kernel: Tensor, hidden: Tensor, cell: Tensor
    ) -> tuple[tuple[Tensor, Tensor], Callable]:
        states, cells, gradient = _lstm(projected, recurrent_kernel, (hidden, cell), reverse)
        return (states, cells), gradient

    return run(projected, recurrent_kernel, *state)


def _lstm(
    projected: Tensor, recurrent_kernel: Tensor, state: tuple[Tensor, Tensor], reverse: bool
) -> tuple[Tensor, Tensor, Callable]:
    """Computes hidden states, cells (T, B, n) and the function that backpropagates through them."""
    cell, gates = _run_forward(projected, recurrent_kernel, state, reverse)
    units = cell.shape[-1]
    tanh_cell = tf.tanh(cell)
    hidden = gates[:, :, 3 * units :] * tanh_cell  # (T, B, n)

    def gradient(upstream: Tensor, into_cells: Tensor | None = None) -> tuple[Tensor, ...]:
        cell_before = states_before(cell, state[1], reverse)
        into_gates, dh, dc = _gates_gradient(
            upstream, into_cells, tanh_cell, cell_before, gates, recurrent_kernel, reverse
        )  # (T, B, 4n)
        kernel = product_over_time(states_before(hidden, state[0], reverse), into_gates)
        return into_gates, kernel, dh, dc

    return hidden, cell, gradient


def _run_forward(
    projected: Tensor, recurrent_kernel: Tensor, state: tuple[Tensor, Tensor], reverse: bool
) -> tuple[Tensor, Tensor]:
    """Computes cells (T, B, n) and activated gates (T, B, 4n)."""
    length, units = tf.shape(projected)[0], recurrent_kernel.shape[0]
    steps = unstack(projected, length)
    stores = [new_store(projected, length, size) for size in (units, 4 * units)]

    def body(
        index: Tensor, hidden: Tensor, cell: Tensor, stores: list[tf.TensorArray]
    ) -> tuple[Tensor, Tensor, Tensor, list[tf.TensorArray]]:
        t = length - 1 - index if reverse else index
        hidden, *kept = lstm_step(steps.read(t) + tf.matmul(hidden, recurrent_kernel), cell)
        stores = [store.write(t, value) for store, value in zip(stores, kept, strict=True)]
        return index + 1, hidden, kept[0], stores

    *_, stores = run_loop(length, body, (tf.constant(0), *state, stores))
    return stores[0].stack(), stores[1].stack()


def _gates_gradient(
    upstream: Tensor,
    into_cells: Tensor | None,
    tanh_cell: Tensor,
    cell_before: Tensor,
    gates: Tensor,
    recurrent_kernel: Tensor,
    reverse: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Backpropagates through time to every step's pre-activations and to the first state.

    Factors that are independent of later steps are computed for all steps at once.
    """
    length, units = tf.shape(tanh_cell)[0], tanh_cell.shape[-1]
    factors, into_cell = lstm_step_factors(gates, cell_before, tanh_cell)
    kept = [upstream, into_cell, gates[:, :, units : 2 * units], factors]
    kept += [] if into_cells is None else [into_cells]
    arrays = [unstack(x, length) for x in kept]
    zeros = tf.zeros_like(tanh_cell[0])

    def body(index: Tensor, dh: Tensor, dc: Tensor, store: tf.TensorArray) -> tuple:
        t = index if reverse else length - 1 - index
        outer, into_cell, forget, factors, *more = (array.read(t) for array in arrays)
        dh = dh + outer
        dc = sum(more, dc + dh * into_cell)
        da = tf.concat([dc, dc, dc, dh], axis=-1) * factors
        dh = tf.matmul(da, recurrent_kernel, transpose_b=True)
        return index + 1, dh, dc * forget, store.write(t, da)

    store = new_store(gates, length, 4 * units)
    _, dh, dc, store = run_loop(length, body, (tf.constant(0), zeros, zeros, store))
    return store.stack(), dh, dc
