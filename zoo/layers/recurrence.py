"""Every loop over time of the zoo.

``scan`` runs any step function. ``lstm_states`` runs a fused loop: the input projections of all
steps come from one product before it, and the gradient is written by hand, so that the loop
backwards holds nothing but the recurrence and the gradient of the recurrent weights is one product
after it: on a CPU that is faster than differentiating the loop operation by operation.

Shape letters: B batch, T steps, n hidden.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from zoo.ops.masking import Tensor

Nest = Any  # a tensor, or a dict, list or tuple of tensors


def scan(
    step: Callable[[Nest, Nest], tuple[Nest, Nest]],
    inputs: Nest,
    state: Nest,
    mask: Tensor | None = None,
    reverse: bool = False,
) -> tuple[Nest, Nest]:
    """Runs ``step`` over the time axis of ``inputs``.

    Args:
        step: ``(inputs_t, state) -> (outputs_t, new_state)``; whatever does not change over time
            (weights, a memory) it takes from its closure.
        inputs: nest of (B, T, ...).
        state: nest of (B, ...), the state before the first step.
        mask: optional bool (B, T). A masked step carries the state over and gives zero outputs.
        reverse: from the last step to the first; outputs stay in the order of ``inputs``.

    Returns:
        Outputs, a nest of (B, T, ...), and the state after the last step.
    """
    time_major = tf.nest.map_structure(swap_batch_and_time, inputs)
    length = tf.shape(tf.nest.flatten(time_major)[0])[0]
    arrays = tf.nest.map_structure(_unstack, time_major)
    masks = None if mask is None else _unstack(swap_batch_and_time(mask))
    template, _ = step(tf.nest.map_structure(lambda x: tf.zeros_like(x[:, 0]), inputs), state)
    outputs = tf.nest.map_structure(lambda x: _empty_array(x, length), template)

    def body(index: Tensor, state: Nest, outputs: Nest) -> tuple[Tensor, Nest, Nest]:
        at = length - 1 - index if reverse else index
        out, new = step(tf.nest.map_structure(lambda array: array.read(at), arrays), state)
        if masks is not None:
            real = masks.read(at)
            new = tf.nest.map_structure(lambda a, b: _select(real, a, b), new, state)
            out = tf.nest.map_structure(lambda a: _select(real, a, tf.zeros_like(a)), out)
        outputs = tf.nest.map_structure(lambda array, x: array.write(at, x), outputs, out)
        return index + 1, new, outputs

    _, state, outputs = tf.while_loop(
        lambda index, *_: index < length,
        body,
        (tf.constant(0), state, outputs),
        maximum_iterations=length,
    )
    return tf.nest.map_structure(lambda array: swap_batch_and_time(array.stack()), outputs), state


def swap_batch_and_time(values: Tensor) -> Tensor:
    """Transposes (B, T, ...) to (T, B, ...), or back."""
    values = tf.convert_to_tensor(values)
    return tf.transpose(values, (1, 0, *range(2, values.shape.rank)))


def lstm_step(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """One step of a long short-term memory.

    ``i, f, o = sigmoid(a_i, a_f, a_o)``, ``g = tanh(a_g)``; ``c' = f * c + i * g``;
    ``h' = o * tanh(c')``.

    Args:
        gates: pre-activations a (B, 4n), in Keras' order i, f, g, o.
        cell: c (B, n).

    Returns:
        h' and c' (B, n), and the activated gates (B, 4n).
    """
    i, f, g, o = tf.split(gates, 4, axis=-1)
    i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
    cell = f * cell + i * g
    return o * tf.tanh(cell), cell, tf.concat([i, f, g, o], axis=-1)


def lstm_states(projected: Tensor, recurrent_kernel: Tensor, reverse: bool = False) -> Tensor:
    """Hidden states of a long short-term memory that starts from a zero state.

    Args:
        projected: what the input gives to the gates, W x + b, time-major (T, B, 4n).
        recurrent_kernel: (n, 4n).
        reverse: from the last step to the first.

    Returns:
        (T, B, n), in the order of ``projected``.
    """
    return (_backwards if reverse else _forwards)(projected, recurrent_kernel)


@tf.custom_gradient
def _forwards(projected: Tensor, recurrent_kernel: Tensor) -> tuple[Tensor, Callable]:
    return _lstm_and_gradient(projected, recurrent_kernel, reverse=False)


@tf.custom_gradient
def _backwards(projected: Tensor, recurrent_kernel: Tensor) -> tuple[Tensor, Callable]:
    return _lstm_and_gradient(projected, recurrent_kernel, reverse=True)


def _lstm_and_gradient(
    projected: Tensor, recurrent_kernel: Tensor, reverse: bool
) -> tuple[Tensor, Callable]:
    """Hidden states (T, B, n) and the function from their gradient to those of the inputs."""
    cell, gates = _lstm_loop(projected, recurrent_kernel, reverse)
    units = cell.shape[-1]
    tanh_cell = tf.tanh(cell)
    hidden = gates[:, :, 3 * units :] * tanh_cell  # (T, B, n)

    def before(states: Tensor) -> Tensor:
        """The state that each step started from."""
        zeros = tf.zeros_like(states[:1])
        parts = (states[1:], zeros) if reverse else (zeros, states[:-1])
        return tf.concat(parts, axis=0)

    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
        into_gates = _gates_gradient(
            upstream, tanh_cell, before(cell), gates, recurrent_kernel, reverse
        )  # (T, B, 4n)
        flat_before = tf.reshape(before(hidden), (-1, units))
        flat_gates = tf.reshape(into_gates, (-1, 4 * units))
        return into_gates, tf.matmul(flat_before, flat_gates, transpose_a=True)

    return hidden, gradient


def _lstm_loop(projected: Tensor, recurrent_kernel: Tensor, reverse: bool) -> tuple[Tensor, Tensor]:
    """Cells (T, B, n) and activated gates (T, B, 4n)."""
    length, batch = tf.unstack(tf.shape(projected)[:2])
    units = recurrent_kernel.shape[0]
    zeros = tf.zeros((batch, units), projected.dtype)
    steps = _unstack(projected)
    stores = [
        tf.TensorArray(projected.dtype, length, element_shape=(None, size))
        for size in (units, 4 * units)
    ]

    def body(
        index: Tensor, hidden: Tensor, cell: Tensor, stores: list[tf.TensorArray]
    ) -> tuple[Tensor, Tensor, Tensor, list[tf.TensorArray]]:
        t = length - 1 - index if reverse else index
        hidden, *kept = lstm_step(steps.read(t) + tf.matmul(hidden, recurrent_kernel), cell)
        stores = [store.write(t, value) for store, value in zip(stores, kept, strict=True)]
        return index + 1, hidden, kept[0], stores

    *_, stores = _loop(length, body, (tf.constant(0), zeros, zeros, stores))
    return stores[0].stack(), stores[1].stack()


def _gates_gradient(
    upstream: Tensor,
    tanh_cell: Tensor,
    cell_before: Tensor,
    gates: Tensor,
    recurrent_kernel: Tensor,
    reverse: bool,
) -> Tensor:
    """Back through time: the gradient (T, B, 4n) of every step's pre-activations.

    What does not depend on later steps is computed for all steps at once: with ``dh`` and ``dc``
    the gradients of h and c, ``da = [dc, dc, dc, dh] * factors`` and ``dc += dh * into_cell``.
    """
    length, units = tf.shape(tanh_cell)[0], tanh_cell.shape[-1]
    i, f, g, o = tf.split(gates, 4, axis=-1)
    factors = [g * i * (1 - i), cell_before * f * (1 - f), i * (1 - g * g), tanh_cell * o * (1 - o)]
    into_cell = o * (1 - tanh_cell * tanh_cell)
    arrays = [_unstack(x) for x in (upstream, into_cell, f, tf.concat(factors, axis=-1))]
    zeros = tf.zeros_like(tanh_cell[0])

    def body(index: Tensor, dh: Tensor, dc: Tensor, store: tf.TensorArray) -> tuple:
        t = index if reverse else length - 1 - index
        outer, into_cell, forget, factors = (array.read(t) for array in arrays)
        dh = dh + outer
        dc = dc + dh * into_cell
        da = tf.concat([dc, dc, dc, dh], axis=-1) * factors
        dh = tf.matmul(da, recurrent_kernel, transpose_b=True)
        return index + 1, dh, dc * forget, store.write(t, da)

    store = tf.TensorArray(gates.dtype, length, element_shape=(None, 4 * units))
    *_, store = _loop(length, body, (tf.constant(0), zeros, zeros, store))
    return store.stack()


def _loop(length: Tensor, body: Callable, state: tuple) -> tuple:
    return tf.while_loop(lambda t, *_: t < length, body, state, maximum_iterations=length)


def _unstack(time_major: Tensor) -> tf.TensorArray:
    array = tf.TensorArray(
        time_major.dtype, tf.shape(time_major)[0], element_shape=time_major.shape[1:]
    )
    return array.unstack(time_major)


def _empty_array(like: Tensor, length: Tensor) -> tf.TensorArray:
    return tf.TensorArray(like.dtype, length, element_shape=like.shape)


def _select(real: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """``new`` where ``real`` (B,), else ``old``, for tensors (B, ...) of any rank."""
    real = tf.reshape(real, (-1, *[1] * (new.shape.rank - 1)))
    return tf.where(real, new, old)
