"""Long short-term memories over right-padded sequences.

Padding comes after every real step, so the forward direction needs no mask; the backward direction
starts at the last real step.

Shape letters: B batch, T steps, d input, n hidden.
"""

from typing import Any, NamedTuple

import keras
from keras import ops

from zoo.layers.recurrence import lstm_states, lstm_step, swap_batch_and_time
from zoo.ops.gathering import gather_positions
from zoo.ops.masking import Tensor, last_position, mask_rows

_SHUT_GATE = -1e4  # its sigmoid is 0, in half precision too


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
        return lstm_step(self.gates.project(values) + recurrent, cell)[:2]

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
    projected = gates.project(swap_batch_and_time(values))  # (T, B, 4n)
    if mask is not None:
        shut = ops.cast(_SHUT_GATE, projected.dtype)
        projected = ops.where(swap_batch_and_time(mask)[:, :, None], projected, shut)
    recurrent_kernel = ops.cast(gates.recurrent_kernel, projected.dtype)
    return swap_batch_and_time(lstm_states(projected, recurrent_kernel, reverse))
