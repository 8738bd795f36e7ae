"""Every loop over time of the zoo.

``scan`` runs any step function. ``LSTM`` and ``BidirectionalLSTM`` run a fused loop: the input
projections of all steps are one product before the loop, and the gradient is written by hand, so
that the loop backwards holds nothing but the recurrence and the weight gradients are one product
after it (several times faster on a CPU than differentiating the loop operation by operation).

Sequences are padded on the right. The forward direction therefore needs no mask: padding comes
after every real step. The backward direction starts at the last real step.

Shape letters: B batch, T steps, d input, n hidden.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import tensorflow as tf
from keras import ops

from zoo.ops.gathering import gather_positions
from zoo.ops.masking import Tensor, last_position, mask_rows

_SHUT_GATE = -1e4  # its sigmoid is 0, in half precision too

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
    time_major = tf.nest.map_structure(_swap_batch_and_time, inputs)
    length = tf.shape(tf.nest.flatten(time_major)[0])[0]
    arrays = tf.nest.map_structure(_unstack, time_major)
    masks = None if mask is None else _unstack(_swap_batch_and_time(mask))
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
    return tf.nest.map_structure(lambda array: _swap_batch_and_time(array.stack()), outputs), state


@keras.saving.register_keras_serializable(package="zoo")
class LSTM(keras.layers.Layer):
    """Long short-term memory without peepholes (gates in Keras' order i, f, g, o).

    ``a = W x + U h + b``; ``i, f, o = sigmoid(a_i, a_f, a_o)``, ``g = tanh(a_g)``;
    ``c' = f * c + i * g``; ``h' = o * tanh(c')``.

    Args:
        units: hidden size n.
        use_bias: whether ``b`` exists; it starts at zero, but at one for the forget gate where
            ``unit_forget_bias``.
        unit_forget_bias: start the forget gate's bias at one.
    """

    def __init__(
        self, units: int, use_bias: bool = True, unit_forget_bias: bool = True, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.use_bias = use_bias
        self.unit_forget_bias = unit_forget_bias

    def build(self, values_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates kernel (d, 4n), recurrent_kernel (n, 4n) and bias (4n)."""
        self.gates = _add_gates(self, "", values_shape[-1])

    def call(self, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Runs over a right-padded sequence from a zero state.

        Args:
            values: (B, T, d).
            mask: bool (B, T).

        Returns:
            Hidden states (B, T, n), zero where padded, and the last real one (B, n).
        """
        outputs = mask_rows(_run(values, self.gates), mask)
        return outputs, gather_positions(outputs, last_position(mask))

    def step(self, values: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """One step: values (B, d) and state (h, c), both (B, n), to the new (h, c)."""
        hidden, cell = state
        recurrent = ops.matmul(hidden, self.gates.recurrent_kernel)
        return _advance(self.gates.project(values) + recurrent, cell)[:2]

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "use_bias": self.use_bias,
            "unit_forget_bias": self.unit_forget_bias,
        }


@keras.saving.register_keras_serializable(package="zoo")
class BidirectionalLSTM(LSTM):
    """Two LSTMs over one sequence, one of them from its last real step to the first.

    The two run at the same time on two cores.
    """

    def build(self, values_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights of ``LSTM`` twice, with the prefixes forward_ and backward_."""
        self.forward_gates = _add_gates(self, "forward_", values_shape[-1])
        self.backward_gates = _add_gates(self, "backward_", values_shape[-1])

    def call(self, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Runs over a right-padded sequence from zero states.

        Args:
            values: (B, T, d).
            mask: bool (B, T).

        Returns:
            [forward; backward] hidden states (B, T, 2n), zero where padded, and the last state of
            each direction, [forward at the last real step; backward at the first], (B, 2n).
        """
        forwards = mask_rows(_run(values, self.forward_gates), mask)  # (B, T, n)
        backwards = _run(values, self.backward_gates, mask, reverse=True)
        outputs = ops.concatenate([forwards, backwards], axis=-1)  # (B, T, 2n)
        last = gather_positions(forwards, last_position(mask))
        return outputs, ops.concatenate([last, backwards[:, 0]], axis=-1)


class _Gates(NamedTuple):
    """The weights of one LSTM, its four gates side by side."""

    kernel: Tensor
    """(d, 4n)"""
    recurrent_kernel: Tensor
    """(n, 4n)"""
    bias: Tensor | None
    """(4n,)"""

    def project(self, values: Tensor) -> Tensor:
        """What the input gives to the gates: (..., d) -> (..., 4n)."""
        projected = ops.matmul(values, self.kernel)
        return projected if self.bias is None else projected + ops.cast(self.bias, projected.dtype)


def _add_gates(layer: LSTM, prefix: str, input_dim: int) -> _Gates:
    units = layer.units
    kernel = layer.add_weight(
        shape=(input_dim, 4 * units), initializer="glorot_uniform", name=f"{prefix}kernel"
    )
    recurrent_kernel = layer.add_weight(
        shape=(units, 4 * units), initializer="orthogonal", name=f"{prefix}recurrent_kernel"
    )
    if not layer.use_bias:
        return _Gates(kernel, recurrent_kernel, None)

    def initial_bias(shape: tuple[int, ...], dtype: str | None = None) -> Tensor:
        forget = ops.ones if layer.unit_forget_bias else ops.zeros
        parts = [ops.zeros(units, dtype), forget(units, dtype), ops.zeros(2 * units, dtype)]
        return ops.concatenate(parts)

    bias = layer.add_weight(shape=(4 * units,), initializer=initial_bias, name=f"{prefix}bias")
    return _Gates(kernel, recurrent_kernel, bias)


def _run(
    values: Tensor, gates: _Gates, mask: Tensor | None = None, reverse: bool = False
) -> Tensor:
    """Hidden states (B, T, n) from values (B, T, d) and a zero state.

    Where ``mask`` is False every gate is shut: the state there is zero, as it is before the first
    real step of the direction that meets the padding first.
    """
    projected = gates.project(_swap_batch_and_time(values))  # (T, B, 4n)
    if mask is not None:
        shut = tf.constant(_SHUT_GATE, projected.dtype)
        projected = tf.where(_swap_batch_and_time(mask)[:, :, None], projected, shut)
    recurrent_kernel = ops.cast(gates.recurrent_kernel, projected.dtype)
    hidden = (_fused_backwards if reverse else _fused_forwards)(projected, recurrent_kernel)
    return _swap_batch_and_time(hidden)


def _advance(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """From pre-activations (B, 4n) and c (B, n) to h', c' and the activated gates (B, 4n)."""
    i, f, g, o = tf.split(gates, 4, axis=-1)
    i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
    cell = f * cell + i * g
    return o * tf.tanh(cell), cell, tf.concat([i, f, g, o], axis=-1)


@tf.custom_gradient
def _fused_forwards(projected: Tensor, recurrent_kernel: Tensor) -> tuple[Tensor, Callable]:
    return _fused_lstm(projected, recurrent_kernel, reverse=False)


@tf.custom_gradient
def _fused_backwards(projected: Tensor, recurrent_kernel: Tensor) -> tuple[Tensor, Callable]:
    return _fused_lstm(projected, recurrent_kernel, reverse=True)


def _fused_lstm(
    projected: Tensor, recurrent_kernel: Tensor, reverse: bool
) -> tuple[Tensor, Callable]:
    """Hidden states (T, B, n) from projections (T, B, 4n) and a zero state, and their gradient."""
    length, batch = tf.unstack(tf.shape(projected)[:2])
    units = recurrent_kernel.shape[0]
    zeros = tf.zeros((batch, units), projected.dtype)
    steps = _unstack(projected)
    cells, all_gates = (
        tf.TensorArray(projected.dtype, length, element_shape=(None, size))
        for size in (units, 4 * units)
    )

    def body(
        index: Tensor,
        hidden: Tensor,
        cell: Tensor,
        cells: tf.TensorArray,
        all_gates: tf.TensorArray,
    ) -> tuple:
        t = length - 1 - index if reverse else index
        hidden, cell, gates = _advance(steps.read(t) + tf.matmul(hidden, recurrent_kernel), cell)
        return index + 1, hidden, cell, cells.write(t, cell), all_gates.write(t, gates)

    *_, cells, all_gates = _loop(length, body, (tf.constant(0), zeros, zeros, cells, all_gates))
    cell, gates = cells.stack(), all_gates.stack()  # (T, B, n), (T, B, 4n)
    tanh_cell = tf.tanh(cell)
    hidden = gates[:, :, 3 * units :] * tanh_cell  # (T, B, n)

    def before(states: Tensor) -> Tensor:
        """The state that each step started from."""
        parts = (states[1:], zeros[None]) if reverse else (zeros[None], states[:-1])
        return tf.concat(parts, axis=0)

    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
        into_gates = _gates_gradient(
            upstream, tanh_cell, before(cell), gates, recurrent_kernel, reverse
        )  # (T, B, 4n)
        flat_before = tf.reshape(before(hidden), (-1, units))
        flat_gates = tf.reshape(into_gates, (-1, 4 * units))
        return into_gates, tf.matmul(flat_before, flat_gates, transpose_a=True)

    return hidden, gradient


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


def _swap_batch_and_time(values: Tensor) -> Tensor:
    values = tf.convert_to_tensor(values)
    return tf.transpose(values, (1, 0, *range(2, values.shape.rank)))


def _select(real: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """``new`` where ``real`` (B,), else ``old``, for tensors (B, ...) of any rank."""
    real = tf.reshape(real, (-1, *[1] * (new.shape.rank - 1)))
    return tf.where(real, new, old)
