"""The controller: the network that reads a vector and what the heads read before (section 3.4).

Both have the same methods, so that the machine does not know which one it has.

Shape letters: B batch, T steps, d input, r size of all that was read, n hidden.
"""

from typing import Any

import keras
from keras import ops

from zoo.layers.recurrence import lstm_step
from zoo.ops.initializers import forget_bias
from zoo.ops.linear import project
from zoo.ops.masking import Tensor

State = dict[str, Tensor]


class _Controller(keras.layers.Layer):
    """Weights on the input, which are applied to all steps at once, and on all that recurs.

    Args:
        units: hidden size n.
        read_dim: r.
    """

    def __init__(self, units: int, read_dim: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.read_dim = read_dim

    def _add_kernels(self, input_dim: int, recurrent_dim: int, output_dim: int) -> None:
        for name, size in (("kernel", input_dim), ("recurrent_kernel", recurrent_dim)):
            weight = self.add_weight(
                shape=(size, output_dim), initializer="glorot_uniform", name=name
            )
            setattr(self, name, weight)

    def project(self, vectors: Tensor) -> Tensor:
        """Projects the inputs of all steps at once; independent of the state.

        Args:
            vectors: x (B, T, d).

        Returns:
            ``W x + b`` (B, T, n or 4n).
        """
        return project(vectors, self.kernel, self.bias)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"units": self.units, "read_dim": self.read_dim}


@keras.saving.register_keras_serializable(package="zoo")
class FeedForwardController(_Controller):
    """``h_t = tanh(W x_t + U r_{t-1} + b)``: remembers nothing but by the memory."""

    def build(self, vectors_shape: tuple[Any, ...]) -> None:
        """Creates kernel (d, n), recurrent_kernel (r, n) and bias (n)."""
        self._add_kernels(vectors_shape[-1], self.read_dim, self.units)
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def first(self) -> State:
        """Returns the state before the first step, of one example: there is none."""
        return {}

    def advance(self, projected: Tensor, reads: Tensor, state: State) -> tuple[Tensor, State]:
        """Runs one step.

        Args:
            projected: one step of ``project``, (B, n).
            reads: r_{t-1} (B, r).
            state: as ``first`` names it.

        Returns:
            h_t (B, n) and the new state.
        """
        return ops.tanh(projected + project(reads, self.recurrent_kernel)), {}


@keras.saving.register_keras_serializable(package="zoo")
class LSTMController(_Controller):
    """A long short-term memory that reads [x_t; r_{t-1}], its first state learnt."""

    def build(self, vectors_shape: tuple[Any, ...]) -> None:
        """Creates kernel (d, 4n), recurrent_kernel (r + n, 4n), bias (4n) and the first state."""
        self._add_kernels(vectors_shape[-1], self.read_dim + self.units, 4 * self.units)
        self.bias = self.add_weight(
            shape=(4 * self.units,), initializer=forget_bias(self.units), name="bias"
        )
        for name in ("first_hidden", "first_cell"):
            weight = self.add_weight(shape=(self.units,), initializer="zeros", name=name)
            setattr(self, name, weight)

    def first(self) -> State:
        """Returns the state before the first step, of one example: (n,) each."""
        return {"hidden": self.first_hidden, "cell": self.first_cell}

    def advance(self, projected: Tensor, reads: Tensor, state: State) -> tuple[Tensor, State]:
        """Runs one step.

        Args:
            projected: one step of ``project``, (B, 4n).
            reads: r_{t-1} (B, r).
            state: ``hidden`` and ``cell`` (B, n).

        Returns:
            h_t (B, n) and the new state.
        """
        recurrent = ops.concatenate([reads, state["hidden"]], axis=-1)  # (B, r + n)
        gates = projected + project(recurrent, self.recurrent_kernel)
        hidden, cell, _ = lstm_step(gates, state["cell"])
        return hidden, {"hidden": hidden, "cell": cell}
