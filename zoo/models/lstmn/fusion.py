"""Fusion of a text with one read before it, outside the cell (shallow) or inside (deep).

Jianpeng Cheng, Li Dong, Mirella Lapata: Long Short-Term Memory-Networks for Machine Reading. EMNLP
2016, arXiv 1601.06733, section 4 (equations 11-16).

Shape letters: B batch, R rows (hypotheses), T steps, S source words, d input, n hidden, a score
units.
"""

from typing import Any

import keras
from keras import ops

from zoo.attention.attend import attend
from zoo.attention.scores import AdditiveScore
from zoo.layers.recurrence import swap_batch_and_time
from zoo.models.lstmn.cell import (
    Fusion,
    FusionKernels,
    Slots,
)
from zoo.ops.initializers import fresh
from zoo.ops.linear import project
from zoo.ops.masking import Tensor, as_mask


@keras.saving.register_keras_serializable(package="zoo")
class ShallowFusion(keras.layers.Layer):
    """Additive attention of the states to a source's hidden tape, outside the cell.

    ``e_j = v^T tanh(U_q h_t + U_k gamma_j)``; ``p = softmax(e)``;
    ``tanh(W_j [sum_j p_j gamma_j; h_t])``. For the use of the context the paper refers to the
    standard encoder-decoder.

    Args:
        units: size n of the result and units of the score.
    """

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.score = AdditiveScore(units, name="score", dtype=self.dtype_policy)
        self.join = keras.layers.Dense(
            units, activation="tanh", use_bias=False, name="join", dtype=self.dtype_policy
        )

    def build(self, *_: Any) -> None:
        """Creates the weights for states and tapes (..., n)."""
        self.score.build((None, None, self.units), (None, None, self.units))
        self.join.build((None, None, 2 * self.units))

    def prepare(self, source: Tensor) -> Tensor:
        """Projects a source's hidden tape (B, S, n) for the scores, (B, S, n)."""
        return self.score.prepare(source)

    def call(
        self, states: Tensor, keys: Tensor, source: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Attends to the source.

        Args:
            states: h_t (B, Q, n), of the steps or of the hypotheses of one step.
            keys: result of ``prepare``, (B, S, n).
            source: the hidden tape (B, S, n).
            mask: bool (B, S).

        Returns:
            Features (B, Q, n) and weights (B, Q, S).
        """
        mask = as_mask(mask, source.shape[:2])
        context, weights = attend(self.score(states, keys), source, mask)
        return self.join(ops.concatenate([context, states], axis=-1)), weights

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"units": self.units}


@keras.saving.register_keras_serializable(package="zoo")
class DeepFusion(keras.layers.Layer):
    """Attention inside the cell to both tapes of a source: the additional weights.

    ``b_j = u^T tanh(W_gamma gamma_j + W_x' x_t + W_gamma~ gamma~_{t-1})``; ``p = softmax(b)``;
    ``[gamma~_t; alpha~_t] = sum_j p_j [gamma_j; alpha_j]``;
    ``r_t = sigmoid(W_r [gamma~_t; x_t] + b_r)``; ``c_t = r_t * alpha~_t + f_t * c~_t + i_t * g_t``.

    Args:
        units: hidden size n of both readers and units of the score.
        kernel_initializer: of the matrices.
        recurrent_initializer: of the gate's matrix for gamma~.
    """

    def __init__(
        self,
        units: int,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)

    def build(self, values_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights for inputs (..., d)."""
        d, n = values_shape[-1], self.units

        def kernel(name: str, shape: tuple[int, ...], number: int) -> Any:
            initializer = fresh(self.kernel_initializer, number)
            return self.add_weight(shape=shape, initializer=initializer, name=name)

        self.source_kernel = kernel("source_kernel", (n, n), 0)  # W_gamma
        self.input_kernel = kernel("input_kernel", (d, n), 1)  # W_x'
        self.summary_kernel = kernel("summary_kernel", (n, n), 2)  # W_gamma~
        self.scale = kernel("scale", (n,), 3)  # u
        self.gate_kernel = kernel("gate_kernel", (d, n), 4)  # W_r of x
        initializer = fresh(self.recurrent_initializer)
        self.gate_summary_kernel = self.add_weight(
            shape=(n, n), initializer=initializer, name="gate_summary_kernel"
        )  # W_r of gamma~
        self.gate_bias = self.add_weight(shape=(n,), initializer="zeros", name="gate_bias")

    def prepare(self, hidden: Tensor) -> Tensor:
        """Projects a source's hidden tape for the scores, W_gamma gamma_j: (..., n)."""
        return project(hidden, self.source_kernel)

    def project(self, values: Tensor) -> dict[str, Tensor]:
        """Projects inputs (..., d) for all steps: ``queries`` and ``gates`` (..., n)."""
        return {
            "queries": project(values, self.input_kernel),
            "gates": project(values, self.gate_kernel, self.gate_bias),
        }

    def kernels(self, dtype: Any) -> FusionKernels:
        """Returns the weights that every step reads."""
        kernels = (self.summary_kernel, self.scale, self.gate_summary_kernel)
        return FusionKernels(*(ops.cast(kernel, dtype) for kernel in kernels))

    def call(self, values: Tensor, hidden: Tensor, cell: Tensor, mask: Tensor) -> Fusion:
        """Prepares a source for ``LSTMN``.

        Args:
            values: input of the second reader, (B, T, d).
            hidden: the source's hidden tape gamma (B, S, n).
            cell: its memory tape alpha (B, S, n).
            mask: bool (B, S).
        """
        mask = as_mask(mask, hidden.shape[:2])
        hidden, cell = swap_batch_and_time(hidden), swap_batch_and_time(cell)
        memory = ops.concatenate([hidden, cell], axis=-1)  # (S, B, 2n)
        source = Slots(self.prepare(hidden), memory, swap_batch_and_time(mask))
        projected = self.project(swap_batch_and_time(values))  # (T, B, n)
        return Fusion(**projected, source=source, kernels=self.kernels(hidden.dtype))

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "recurrent_initializer": keras.initializers.serialize(self.recurrent_initializer),
        }
