"""Long short-term memories over right-padded sequences.

Padding comes after every real step, so the forward direction needs no mask; the backward direction
starts at the last real step.

Shape letters: B batch, T steps, d input, n hidden.
"""

from typing import Any, NamedTuple

import keras
from keras import ops

from zoo.layers.recurrence import (
    SHUT_GATE,
    lstm_states,
    lstm_states_and_cells,
    lstm_step,
    swap_batch_and_time,
)
from zoo.layers.recurrence.scan import reads_no_steps
from zoo.ops.gathering import gather_positions
from zoo.ops.initializers import forget_bias, fresh
from zoo.ops.linear import project
from zoo.ops.masking import Tensor, as_mask, last_position, mask_rows
from zoo.ops.numbers import check_count, check_flag, check_rate, check_size


class _LSTM(keras.layers.Layer):
    """Base of the layers in this file: their arguments."""

    def __init__(
        self,
        units: int,
        use_bias: bool = True,
        unit_forget_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = check_size("units", units)
        self.use_bias = check_flag("use_bias", use_bias)
        self.unit_forget_bias = check_flag("unit_forget_bias", unit_forget_bias)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "use_bias": self.use_bias,
            "unit_forget_bias": self.unit_forget_bias,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "recurrent_initializer": keras.initializers.serialize(self.recurrent_initializer),
        }


@keras.saving.register_keras_serializable(package="zoo")
class LSTM(_LSTM):
    """Long short-term memory without peepholes (gates in Keras' order i, f, g, o).

    ``a = W x + U h + b``; ``i, f, o = sigmoid(a_i, a_f, a_o)``, ``g = tanh(a_g)``;
    ``c' = f * c + i * g``; ``h' = o * tanh(c')``.

    Args:
        units: hidden size n.
        use_bias: whether ``b`` exists. It starts at zero, except the forget gate's with
            ``unit_forget_bias``.
        unit_forget_bias: whether the forget gate's bias starts at one.
        kernel_initializer: of W.
        recurrent_initializer: of U.

    Raises:
        ValueError: if ``units`` is not a positive integer.
    """

    def build(self, values_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates kernel (d, 4n), recurrent_kernel (n, 4n) and bias (4n)."""
        self.gates = add_gates(self, "", values_shape[-1])

    @reads_no_steps
    def call(self, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Runs over a right-padded sequence from a zero state.

        Args:
            values: (B, T, d).
            mask: bool (B, T).

        Returns:
            Hidden states (B, T, n), zero where padded, and the last real one (B, n).
        """
        mask = as_mask(mask, values.shape[:2])
        outputs = mask_rows(_run(values, self.gates), mask)
        return outputs, gather_positions(outputs, last_position(mask))

    def step(self, values: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Runs one step: values (B, d) and state (h, c), both (B, n), to the new (h, c)."""
        hidden, cell = state
        recurrent = project(hidden, self.gates.recurrent_kernel)
        return lstm_step(self.gates.project(values) + recurrent, cell)[:2]


@keras.saving.register_keras_serializable(package="zoo")
class BidirectionalLSTM(_LSTM):
    """Two LSTMs, one in each direction over the same sequence, in parallel on two cores."""

    def build(self, values_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights of ``LSTM`` twice, with the prefixes forward_ and backward_."""
        self.forward_gates = add_gates(self, "forward_", values_shape[-1])
        self.backward_gates = add_gates(self, "backward_", values_shape[-1], number=1)

    @reads_no_steps
    def call(self, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Runs over a right-padded sequence from zero states.

        Args:
            values: (B, T, d).
            mask: bool (B, T).

        Returns:
            [forward; backward] hidden states (B, T, 2n), zero where padded, and the last state of
            each direction, [forward at the last real step; backward at the first], (B, 2n).
        """
        mask = as_mask(mask, values.shape[:2])
        forwards = mask_rows(_run(values, self.forward_gates), mask)  # (B, T, n)
        backwards = _run(values, self.backward_gates, mask, reverse=True)
        outputs = ops.concatenate([forwards, backwards], axis=-1)  # (B, T, 2n)
        last = gather_positions(forwards, last_position(mask))
        return outputs, ops.concatenate([last, backwards[:, 0]], axis=-1)


@keras.saving.register_keras_serializable(package="zoo")
class StackedLSTM(_LSTM):
    """Stacked LSTMs, run over a whole sequence or step by step.

    Dropout, as in Zaremba et al. 2015 (arXiv 1409.2329), acts on each layer's input and not on its
    recurrent connection.

    Args:
        units: hidden size n of every layer.
        depth: number of layers L.
        dropout: its rate.
        feed_dim: size of the vector that input feeding adds to the first layer's input; 0: none.
        **kwargs: as of ``LSTM``.

    Raises:
        ValueError: if a size is not positive, ``dropout`` not in [0, 1), or ``feed_dim`` negative.
    """

    def __init__(
        self, units: int, depth: int, dropout: float = 0.0, feed_dim: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(units, **kwargs)
        self.depth = check_size("depth", depth)
        self.dropout = check_rate("dropout", dropout)
        self.feed_dim = check_count("feed_dim", feed_dim)

    def build(self, values_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights of ``LSTM`` for every layer, prefixed layer_<k>_, and feed_kernel."""
        dims = [values_shape[-1]] + [self.units] * (self.depth - 1)
        self.layer_gates = [add_gates(self, f"layer_{k}_", dim, k) for k, dim in enumerate(dims)]
        if self.feed_dim:
            self.feed_kernel = self.add_weight(
                shape=(self.feed_dim, 4 * self.units),
                initializer=fresh(self.kernel_initializer, self.depth),
                name="feed_kernel",
            )
        self.drop = keras.layers.Dropout(self.dropout, dtype=self.dtype_policy)

    @reads_no_steps
    def call(
        self,
        values: Tensor,
        mask: Tensor,
        reverse: bool = False,
        training: bool = False,
        state: dict[str, Tensor] | None = None,
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Runs over a right-padded sequence.

        Args:
            values: (B, T, d).
            mask: bool (B, T).
            reverse: whether to run from the last real step to the first.
            training: whether dropout is on.
            state: ``hidden_<k>`` and ``cell_<k>`` (B, n) before the first step; None: zeros.

        Returns:
            States of the top layer (B, T, n), in the order of ``values``, zero where padded; and
            the state after the last real step: ``hidden_<k>`` and ``cell_<k>`` (B, n).

        Raises:
            ValueError: if a state is given with ``reverse``: padding comes first, and erases it.
        """
        if reverse and state is not None:
            raise ValueError(f"state must be None with reverse, got {sorted(state)}")
        mask = as_mask(mask, values.shape[:2])
        values, real = swap_batch_and_time(values), swap_batch_and_time(mask)[:, :, None]
        zeros = ops.zeros((ops.shape(mask)[0], self.units), values.dtype)
        final = {}
        for k, gates in enumerate(self.layer_gates):
            projected = gates.project(self.drop(values, training=training))  # (T, B, 4n)
            projected = ops.where(real, projected, ops.cast(SHUT_GATE, projected.dtype))
            kernel = ops.cast(gates.recurrent_kernel, projected.dtype)
            first = (state[f"hidden_{k}"], state[f"cell_{k}"]) if state else (zeros, zeros)
            values, cells = lstm_states_and_cells(projected, kernel, first, reverse)
            for name, states in (("hidden", values), ("cell", cells)):
                final[f"{name}_{k}"] = _last(states, mask, reverse)
        if state:  # of a row without a real step, the given state is the last
            begun = ops.any(mask, axis=1)[:, None]
            final = {name: ops.where(begun, last, state[name]) for name, last in final.items()}
        return swap_batch_and_time(values), final

    def project(self, values: Tensor, training: bool = False) -> dict[str, Tensor]:
        """Projects all inputs at once; independent of the state.

        Args:
            values: (B, T, d).
            training: whether dropout is on.

        Returns:
            ``gates`` (B, T, 4n). With dropout also ``drop_<k>``, factors (B, T, n) on the input of
            layer k, and ``drop_feed`` (B, T, feed_dim).
        """
        projected = {"gates": self.layer_gates[0].project(self.drop(values, training=training))}
        if not training or not self.dropout:
            return projected
        sizes = {f"drop_{k}": self.units for k in range(1, self.depth)}
        if self.feed_dim:
            sizes["drop_feed"] = self.feed_dim
        for name, size in sizes.items():
            ones = ops.ones((*ops.shape(values)[:2], size), projected["gates"].dtype)
            projected[name] = self.drop(ones, training=True)
        return projected

    def advance(
        self, projected: dict[str, Tensor], state: dict[str, Tensor], feed: Tensor | None = None
    ) -> dict[str, Tensor]:
        """Runs one step.

        Args:
            projected: one step of ``project``, (B, ...).
            state: ``hidden_<k>`` and ``cell_<k>`` (B, n).
            feed: (B, feed_dim), with input feeding.

        Returns:
            The new state; its ``hidden_<L - 1>`` is the top layer's.
        """
        gates = projected["gates"]
        if feed is not None:
            fed = feed * projected["drop_feed"] if "drop_feed" in projected else feed
            gates = gates + project(fed, self.feed_kernel)
        new: dict[str, Tensor] = {}
        for k, layer in enumerate(self.layer_gates):
            if k:
                below = new[f"hidden_{k - 1}"]
                if f"drop_{k}" in projected:
                    below = below * projected[f"drop_{k}"]
                gates = layer.project(below)
            gates = gates + project(state[f"hidden_{k}"], layer.recurrent_kernel)
            new[f"hidden_{k}"], new[f"cell_{k}"], _ = lstm_step(gates, state[f"cell_{k}"])
        return new

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        stack = {"depth": self.depth, "dropout": self.dropout, "feed_dim": self.feed_dim}
        return super().get_config() | stack


def _last(states: Tensor, mask: Tensor, reverse: bool) -> Tensor:
    """Picks the state (B, n) after the last real step from states (T, B, n)."""
    if reverse:
        return states[0]
    batch, last = ops.shape(mask)[0], last_position(mask)
    flat = ops.reshape(states, (-1, states.shape[-1]))
    return ops.take(flat, last * batch + ops.arange(batch, dtype="int32"), axis=0)


class Gates(NamedTuple):
    """Weights of one long short-term memory, its four gates side by side."""

    kernel: Tensor
    """(d, 4n)"""
    recurrent_kernel: Tensor
    """(n, 4n)"""
    bias: Tensor | None
    """(4n,)"""

    def project(self, values: Tensor) -> Tensor:
        """Projects inputs to the gates: (..., d) -> (..., 4n)."""
        return project(values, self.kernel, self.bias)


def add_gates(layer: _LSTM, prefix: str, input_dim: int, number: int = 0) -> Gates:
    """Creates the weights of one direction or one layer, the ``number``-th of ``layer``."""
    units = layer.units
    kernel = layer.add_weight(
        shape=(input_dim, 4 * units),
        initializer=fresh(layer.kernel_initializer, number),
        name=f"{prefix}kernel",
    )
    recurrent_kernel = layer.add_weight(
        shape=(units, 4 * units),
        initializer=fresh(layer.recurrent_initializer, number),
        name=f"{prefix}recurrent_kernel",
    )
    if not layer.use_bias:
        return Gates(kernel, recurrent_kernel, None)
    initializer = forget_bias(units) if layer.unit_forget_bias else "zeros"
    bias = layer.add_weight(shape=(4 * units,), initializer=initializer, name=f"{prefix}bias")
    return Gates(kernel, recurrent_kernel, bias)


def _run(values: Tensor, gates: Gates, mask: Tensor | None = None, reverse: bool = False) -> Tensor:
    """Computes hidden states (B, T, n) from values (B, T, d) and a zero state.

    Where ``mask`` is False every gate is shut and the state is zero. The backward direction, which
    meets the padding first, thus starts its first real step from a zero state.
    """
    projected = gates.project(swap_batch_and_time(values))  # (T, B, 4n)
    if mask is not None:
        shut = ops.cast(SHUT_GATE, projected.dtype)
        projected = ops.where(swap_batch_and_time(mask)[:, :, None], projected, shut)
    recurrent_kernel = ops.cast(gates.recurrent_kernel, projected.dtype)
    return swap_batch_and_time(lstm_states(projected, recurrent_kernel, reverse))
