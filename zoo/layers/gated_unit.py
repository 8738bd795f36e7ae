"""Gated recurrent units over right-padded sequences, in the convention of Bahdanau et al. 2014.

``z, r = sigmoid(W_z x + U_z h + b_z, W_r x + U_r h + b_r)``; ``h~ = tanh(W x + U (r * h) + b)``;
``h' = (1 - z) * h + z * h~``: the reset gate acts before the matrix, and the update gate admits the
new value. Keras' ``GRU(reset_after=False)`` is the same function with the signs of W_z, U_z and b_z
flipped (Cho et al.'s convention); Keras' default ``reset_after=True`` is a different function.

Shape letters: B batch, T steps, d input, n hidden.
"""

from typing import Any

import keras
from keras import ops

from zoo.layers.recurrence import (
    SHUT_GATE,
    GatedKernels,
    gated_states,
    gated_step,
    swap_batch_and_time,
)
from zoo.layers.recurrence.scan import reads_no_steps
from zoo.ops.initializers import fresh
from zoo.ops.linear import project
from zoo.ops.masking import Tensor, as_mask, mask_rows
from zoo.ops.numbers import check_count, check_flag, check_size


class _GatedUnit(keras.layers.Layer):
    """Base of the layers in this file: arguments and the weights of one direction."""

    def __init__(
        self,
        units: int,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = check_size("units", units)
        self.use_bias = check_flag("use_bias", use_bias)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)

    def _add_direction(self, prefix: str, input_dim: int, number: int = 0) -> "_Direction":
        return _Direction(self, prefix, input_dim, number)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "use_bias": self.use_bias,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "recurrent_initializer": keras.initializers.serialize(self.recurrent_initializer),
        }


class _Direction:
    """The weights of one direction.

    kernel (d, 3n), blocks W_z, W_r, W; recurrent_kernel_gates (n, 2n), blocks U_z, U_r;
    recurrent_kernel (n, n), U; bias (3n). Blocks are initialised one by one, so that each block of
    an orthogonal kernel is orthogonal.
    """

    def __init__(self, layer: _GatedUnit, prefix: str, input_dim: int, number: int) -> None:
        units, first = layer.units, 3 * number  # each direction has three blocks of each kind
        self.kernel = layer.add_weight(
            shape=(input_dim, 3 * units),
            initializer=_in_blocks(layer.kernel_initializer, units, first),
            name=f"{prefix}kernel",
        )
        self.recurrent_kernel_gates = layer.add_weight(
            shape=(units, 2 * units),
            initializer=_in_blocks(layer.recurrent_initializer, units, first),
            name=f"{prefix}recurrent_kernel_gates",
        )
        self.recurrent_kernel = layer.add_weight(
            shape=(units, units),
            initializer=fresh(layer.recurrent_initializer, first + 2),
            name=f"{prefix}recurrent_kernel",
        )
        self.bias = None
        if layer.use_bias:
            self.bias = layer.add_weight(
                shape=(3 * units,), initializer="zeros", name=f"{prefix}bias"
            )

    def project(self, values: Tensor) -> Tensor:
        """Projects inputs to z, r and h~: (..., d) -> (..., 3n)."""
        return project(values, self.kernel, self.bias)

    def run(self, values: Tensor, mask: Tensor, reverse: bool = False) -> Tensor:
        """States (B, T, n) from values (B, T, d) and a zero state, carried where masked.

        Values that are masked must be finite and small, or they open the gate that is shut.
        """
        units = self.recurrent_kernel.shape[0]
        projected = self.project(swap_batch_and_time(values))  # (T, B, 3n)
        # Added rather than selected: the gradient of a sum costs nothing.
        # A shut update gate carries the state over.
        shut = SHUT_GATE * ops.cast(~swap_batch_and_time(mask), projected.dtype)  # (T, B)
        update_gate = ops.cast(ops.arange(3 * units) < units, projected.dtype)
        projected = projected + shut[:, :, None] * update_gate
        return swap_batch_and_time(gated_states(projected, self.kernels(projected.dtype), reverse))

    def kernels(self, dtype: str) -> GatedKernels:
        """Returns the recurrent weights in the compute dtype."""
        weights = (self.recurrent_kernel_gates, self.recurrent_kernel)
        return GatedKernels(*(ops.cast(weight, dtype) for weight in weights))


@keras.saving.register_keras_serializable(package="zoo")
class GatedUnit(_GatedUnit):
    """Gated recurrent unit that may also read a context in every step.

    With a context c, ``C_z c``, ``C_r c`` and ``C c`` are added to the gates and the candidate.

    Args:
        units: hidden size n.
        context_dim: size k of the context; 0: there is none.
        **kwargs: ``use_bias`` (b_z, b_r and b, starting at zero), ``kernel_initializer`` (of W_z,
            W_r, W and the C, each by itself), ``recurrent_initializer`` (of U_z, U_r and U).

    Raises:
        ValueError: if ``units`` is not a positive integer, or ``context_dim`` is negative.
    """

    def __init__(self, units: int, context_dim: int = 0, **kwargs: Any) -> None:
        super().__init__(units, **kwargs)
        self.context_dim = check_count("context_dim", context_dim)

    def build(self, values_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights of ``_Direction``, and context_kernel (k, 3n)."""
        self.direction = self._add_direction("", values_shape[-1])
        if self.context_dim:
            self.context_kernel = self.add_weight(
                shape=(self.context_dim, 3 * self.units),
                initializer=_in_blocks(self.kernel_initializer, self.units, 3),
                name="context_kernel",
            )

    @reads_no_steps
    def call(self, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Runs over a right-padded sequence from a zero state.

        Args:
            values: (B, T, d).
            mask: bool (B, T).

        Returns:
            States (B, T, n), zero where padded, and the last real one (B, n).
        """
        mask = as_mask(mask, values.shape[:2])
        states = self.direction.run(mask_rows(values, mask), mask)
        return mask_rows(states, mask), states[:, -1]

    def project(self, values: Tensor) -> Tensor:
        """Projects inputs to z, r and h~: (..., d) -> (..., 3n)."""
        return self.direction.project(values)

    def project_context(self, context: Tensor) -> Tensor:
        """Projects contexts to z, r and h~: (..., k) -> (..., 3n)."""
        return project(context, self.context_kernel)

    def step(self, projected: Tensor, hidden: Tensor) -> Tensor:
        """Runs one step from the summed projections of input and context (B, 3n) and h (B, n)."""
        return gated_step(projected, hidden, self.direction.kernels(projected.dtype))[0]

    def step_with_context(self, projected: Tensor, context: Tensor, hidden: Tensor) -> Tensor:
        """One step from what the input and what the context give, (B, 3n) each."""
        return self.step(projected + context, hidden)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"context_dim": self.context_dim}


@keras.saving.register_keras_serializable(package="zoo")
class ResetAfterUnit(GatedUnit):
    """Decoder unit of Cho et al. 2014, whose reset gate acts after the matrices.

    ``z, r = sigmoid(W_z x + U_z h + C_z c, W_r x + U_r h + C_r c)``;
    ``h~ = tanh(W x + r * (U h + C c))``; ``h' = z * h + (1 - z) * h~``. It has no whole-sequence
    form, and no step from the sum of input and context, which the reset gate tells apart.
    """

    def call(self, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Refuses a whole sequence, which the base class would read with its own equations.

        Raises:
            ValueError: always.
        """
        raise ValueError("the unit must be run by step_with_context of ResetAfterUnit, got a call")

    def step(self, projected: Tensor, hidden: Tensor) -> Tensor:
        """Refuses a step from one sum, which the base class would take with its own equations.

        Raises:
            ValueError: always.
        """
        raise ValueError("the unit must be run by step_with_context of ResetAfterUnit, got step")

    def step_with_context(self, projected: Tensor, context: Tensor, hidden: Tensor) -> Tensor:
        """One step from what the input and what the context give, (B, 3n) each."""
        kernels = self.direction.kernels(projected.dtype)
        recurrent = ops.matmul(hidden, kernels.gates) + context[:, : 2 * self.units]
        gates = ops.sigmoid(projected[:, : 2 * self.units] + recurrent)
        z, r = ops.split(gates, 2, axis=-1)
        inner = ops.matmul(hidden, kernels.candidate) + context[:, 2 * self.units :]
        candidate = ops.tanh(projected[:, 2 * self.units :] + r * inner)
        return candidate + z * (hidden - candidate)


@keras.saving.register_keras_serializable(package="zoo")
class BidirectionalGatedUnit(_GatedUnit):
    """Two gated recurrent units, one in each direction over the same sequence.

    Args:
        units: hidden size n of each direction.
        use_bias: as of ``GatedUnit``.
        kernel_initializer: likewise.
        recurrent_initializer: likewise.

    Raises:
        ValueError: if ``units`` is not a positive integer.
    """

    def build(self, values_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights of ``GatedUnit`` twice, prefixed forward_ and backward_."""
        self.forward_direction = self._add_direction("forward_", values_shape[-1])
        self.backward_direction = self._add_direction("backward_", values_shape[-1], 1)

    @reads_no_steps
    def call(self, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Runs over a right-padded sequence from zero states.

        Args:
            values: (B, T, d).
            mask: bool (B, T).

        Returns:
            [forward; backward] states (B, T, 2n), zero where padded; the forward state at the last
            real step and the backward state at the first, (B, n) each.
        """
        mask = as_mask(mask, values.shape[:2])
        values = mask_rows(values, mask)
        forwards = self.forward_direction.run(values, mask)  # (B, T, n)
        backwards = self.backward_direction.run(values, mask, reverse=True)
        states = ops.concatenate([forwards, backwards], axis=-1)
        return mask_rows(states, mask), forwards[:, -1], backwards[:, 0]


def _in_blocks(initializer: Any, units: int, first: int) -> Any:
    """Makes an initialiser that fills each block of ``units`` columns separately.

    The first block is the ``first``-th that the layer fills by ``initializer``.
    """

    def initial(shape: tuple[int, int], dtype: str | None = None) -> Tensor:
        block = (shape[0], units)
        blocks = [fresh(initializer, first + n)(block, dtype) for n in range(shape[1] // units)]
        return ops.concatenate(blocks, axis=-1)

    return initial
