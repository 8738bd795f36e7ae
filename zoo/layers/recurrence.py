"""Every loop over time of the zoo.

``scan`` runs any step function. ``LSTM`` and ``BidirectionalLSTM`` run a fused loop: the input
projections of all steps are one product before the loop, and the gradient is written by hand, so
that the loop backwards holds nothing but the recurrence and the weight gradients are one product
after it (several times faster on a CPU than differentiating the loop operation by operation).

Sequences are padded on the right. The forward direction therefore needs no mask: padding comes
after every real step. The backward direction starts at the last real step.

Shape letters: B batch, T steps, D directions, d input, n hidden.
"""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from zoo.ops.gathering import gather_positions
from zoo.ops.masking import Tensor, last_position, mask_rows

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


def reverse_real(values: Tensor, mask: Tensor) -> Tensor:
    """Reverses the real steps of (B, T, ...) and leaves the padding where it is."""
    lengths = tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)
    return tf.reverse_sequence(values, lengths, seq_axis=1, batch_axis=0)


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

    def build(self, values_shape: tuple[int | None, ...], *_: Any) -> None:
        """Creates kernel (d, 4n), recurrent_kernel (n, 4n) and bias (4n)."""
        self.kernel, self.recurrent_kernel, self.bias = _add_lstm_weights(
            self, "", values_shape[-1], self.units
        )

    def call(self, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Runs over a right-padded sequence from a zero state.

        Args:
            values: (B, T, d).
            mask: bool (B, T).

        Returns:
            Hidden states (B, T, n), zero where padded, and the last real one (B, n).
        """
        projected = _project(values, self.kernel, self.bias)  # (B, T, 4n)
        outputs = _run([projected], [self.recurrent_kernel])[0]  # (B, T, n)
        outputs = mask_rows(outputs, mask)
        return outputs, gather_positions(outputs, last_position(mask))

    def step(self, values: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """One step: values (B, d) and state (h, c), both (B, n), to the new (h, c)."""
        hidden, cell = state
        gates = _project(values, self.kernel, self.bias) + ops.matmul(hidden, self.recurrent_kernel)
        return _lstm_gates(gates, cell)[:2]

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

    Both directions advance in the same loop.
    """

    def build(self, values_shape: tuple[int | None, ...], *_: Any) -> None:
        """Creates the weights of ``LSTM`` twice, with the prefixes forward_ and backward_."""
        self.forward_weights = _add_lstm_weights(self, "forward_", values_shape[-1], self.units)
        self.backward_weights = _add_lstm_weights(self, "backward_", values_shape[-1], self.units)

    def call(self, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Runs over a right-padded sequence from zero states.

        Args:
            values: (B, T, d).
            mask: bool (B, T).

        Returns:
            [forward; backward] hidden states (B, T, 2n), zero where padded, and the last state of
            each direction, [forward at the last real step; backward at the first], (B, 2n).
        """
        (kernel, recurrent, bias), (kernel_back, recurrent_back, bias_back) = (
            self.forward_weights,
            self.backward_weights,
        )
        forwards = _project(values, kernel, bias)  # (B, T, 4n)
        backwards = reverse_real(_project(values, kernel_back, bias_back), mask)
        outputs = _run([forwards, backwards], [recurrent, recurrent_back])  # (2, B, T, n)
        forwards, backwards = outputs[0], reverse_real(outputs[1], mask)  # (B, T, n)
        outputs = ops.concatenate([forwards, backwards], axis=-1)  # (B, T, 2n)
        outputs = mask_rows(outputs, mask)
        last = gather_positions(outputs, last_position(mask))[:, : self.units]
        return outputs, ops.concatenate([last, outputs[:, 0, self.units :]], axis=-1)


def _add_lstm_weights(
    layer: LSTM, prefix: str, input_dim: int, units: int
) -> tuple[Tensor, Tensor, Tensor | None]:
    kernel = layer.add_weight(
        shape=(input_dim, 4 * units), initializer="glorot_uniform", name=f"{prefix}kernel"
    )
    recurrent_kernel = layer.add_weight(
        shape=(units, 4 * units), initializer="orthogonal", name=f"{prefix}recurrent_kernel"
    )
    if not layer.use_bias:
        return kernel, recurrent_kernel, None

    def initial_bias(shape: tuple[int, ...], dtype: str | None = None) -> Tensor:
        forget = ops.ones if layer.unit_forget_bias else ops.zeros
        parts = [ops.zeros(units, dtype), forget(units, dtype), ops.zeros(2 * units, dtype)]
        return ops.concatenate(parts)

    bias = layer.add_weight(shape=(4 * units,), initializer=initial_bias, name=f"{prefix}bias")
    return kernel, recurrent_kernel, bias


def _project(values: Tensor, kernel: Tensor, bias: Tensor | None) -> Tensor:
    projected = ops.matmul(values, kernel)
    return projected if bias is None else projected + ops.cast(bias, projected.dtype)


def _run(projected: list[Tensor], recurrent_kernels: list[Tensor]) -> Tensor:
    """Hidden states (D, B, T, n) of D LSTMs from projections (B, T, 4n) and kernels (n, 4n)."""
    steps = tf.transpose(tf.stack(projected), (2, 0, 1, 3))  # (T, D, B, 4n)
    kernels = ops.stack([ops.cast(kernel, steps.dtype) for kernel in recurrent_kernels])
    hidden = _fused_lstm(steps, kernels)  # (T, D, B, n)
    return tf.transpose(hidden, (1, 2, 0, 3))


def _lstm_gates(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """From pre-activations (..., 4n) and c (..., n) to h', c' and the activated gates (..., 4n)."""
    i, f, g, o = tf.split(gates, 4, axis=-1)
    i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
    cell = f * cell + i * g
    return o * tf.tanh(cell), cell, tf.concat([i, f, g, o], axis=-1)


@tf.custom_gradient
def _fused_lstm(projected: Tensor, recurrent_kernels: Tensor) -> tuple[Tensor, Callable]:
    """Hidden states (T, D, B, n) from projections (T, D, B, 4n), zero initial states."""
    length = tf.shape(projected)[0]
    zeros = tf.zeros_like(projected[0, :, :, : recurrent_kernels.shape[1]])  # (D, B, n)
    steps = _unstack(projected)
    stores = tuple(_empty_array(like, length) for like in (zeros, zeros, projected[0]))

    def body(t: Tensor, hidden: Tensor, cell: Tensor, stores: tuple) -> tuple:
        hidden, cell, gates = _lstm_gates(
            steps.read(t) + tf.matmul(hidden, recurrent_kernels), cell
        )
        return t + 1, hidden, cell, _write(stores, t, (hidden, cell, gates))

    *_, stores = _loop(length, body, (tf.constant(0), zeros, zeros, stores))
    hidden, cell, gates = (store.stack() for store in stores)  # (T, D, B, n | n | 4n)

    def gradient(hidden_gradient: Tensor) -> tuple[Tensor, Tensor]:
        gates_gradient = _lstm_gates_gradient(hidden_gradient, cell, gates, recurrent_kernels)
        before = tf.concat([zeros[None], hidden[:-1]], axis=0)
        return gates_gradient, tf.einsum("tdbn,tdbm->dnm", before, gates_gradient)

    return hidden, gradient


def _lstm_gates_gradient(
    hidden_gradient: Tensor, cell: Tensor, gates: Tensor, recurrent_kernels: Tensor
) -> Tensor:
    """Back through time: the gradient (T, D, B, 4n) of every step's pre-activations.

    What does not depend on later steps is computed for all steps at once: with ``dh`` and ``dc``
    the gradients of h and c, ``da = [dc, dc, dc, dh] * factors`` and ``dc += dh * into_cell``.
    """
    length = tf.shape(cell)[0]
    i, f, g, o = tf.split(gates, 4, axis=-1)
    tanh_cell = tf.tanh(cell)
    before = tf.concat([tf.zeros_like(cell[:1]), cell[:-1]], axis=0)
    factors = tf.concat(
        [g * i * (1 - i), before * f * (1 - f), i * (1 - g * g), tanh_cell * o * (1 - o)], axis=-1
    )
    packed = tf.concat([hidden_gradient, o * (1 - tanh_cell * tanh_cell), f, factors], axis=-1)
    units = cell.shape[-1]
    steps, zeros = _unstack(packed), tf.zeros_like(cell[0])

    def body(index: Tensor, dh: Tensor, dc: Tensor, store: tf.TensorArray) -> tuple:
        t = length - 1 - index
        outer, into_cell, forget, factor = tf.split(
            steps.read(t), [units, units, units, 4 * units], axis=-1
        )
        dh = dh + outer
        dc = dc + dh * into_cell
        da = tf.concat([dc, dc, dc, dh], axis=-1) * factor
        dh = tf.matmul(da, recurrent_kernels, transpose_b=True)
        return index + 1, dh, dc * forget, store.write(t, da)

    store = _empty_array(gates[0], length)
    *_, store = _loop(length, body, (tf.constant(0), zeros, zeros, store))
    return store.stack()


def _loop(length: Tensor, body: Callable, state: tuple) -> tuple:
    return tf.while_loop(lambda t, *_: t < length, body, state, maximum_iterations=length)


def _write(stores: tuple, at: Tensor, values: tuple) -> tuple:
    return tuple(store.write(at, value) for store, value in zip(stores, values, strict=True))


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
