"""Layers on the matrix of a text, each row of which has weights of its own.

Shape letters: B texts, r rows, c columns (2u of a BiLSTM), p and q units of the pruned layer, k of
the gated encoder.
"""

from typing import Any

import keras
from keras import ops

from zoo.ops.masking import Tensor


def batched_dot(matrix: Tensor, kernels: Tensor) -> Tensor:
    """Multiplies each row by a kernel of its own: (B, r, c) and (r, c, k) to (B, r, k)."""
    rows = ops.swapaxes(matrix, 0, 1)  # (r, B, c)
    return ops.swapaxes(ops.matmul(rows, ops.cast(kernels, matrix.dtype)), 0, 1)


def _glorot(inputs: int, outputs: int) -> keras.initializers.Initializer:
    """Glorot's uniform initialiser of each of several kernels, which Keras takes for one."""
    limit = (6.0 / (inputs + outputs)) ** 0.5
    return keras.initializers.RandomUniform(-limit, limit)


@keras.saving.register_keras_serializable(package="zoo")
class PrunedLayer(keras.layers.Layer):
    """The pruned first layer of the classifier (appendix A), rectified.

    A dense layer joins every entry of the matrix to every unit. Here p units belong to each row and
    q units to each column, and see nothing else: (r + c) kernels of c p or r q weights.

    The paper does not publish p and q.

    Args:
        row_units: p.
        column_units: q.
        dropout: its rate on the matrix.
    """

    def __init__(
        self, row_units: int, column_units: int, dropout: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.row_units = row_units
        self.column_units = column_units
        self.dropout = dropout
        self.drop = keras.layers.Dropout(dropout, dtype=self.dtype_policy)

    def build(self, matrix_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the kernels for matrices (B, r, c), and a bias of each unit."""
        _, rows, columns = matrix_shape
        self.row_kernels = self.add_weight(
            shape=(rows, columns, self.row_units),
            initializer=_glorot(columns, self.row_units),
            name="row_kernels",
        )
        self.column_kernels = self.add_weight(
            shape=(columns, rows, self.column_units),
            initializer=_glorot(rows, self.column_units),
            name="column_kernels",
        )
        self.units = rows * self.row_units + columns * self.column_units
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, matrix: Tensor, training: bool = False) -> Tensor:
        """Computes (B, r p + c q), the units of the rows first, from matrices (B, r, c)."""
        matrix = self.drop(matrix, training=training)
        of_rows = batched_dot(matrix, self.row_kernels)  # (B, r, p)
        of_columns = batched_dot(ops.swapaxes(matrix, 1, 2), self.column_kernels)  # (B, c, q)
        flat = ops.concatenate([flatten(of_rows), flatten(of_columns)], axis=-1)
        return ops.relu(flat + ops.cast(self.bias, flat.dtype))

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "row_units": self.row_units,
            "column_units": self.column_units,
            "dropout": self.dropout,
        }


@keras.saving.register_keras_serializable(package="zoo")
class GatedEncoder(keras.layers.Layer):
    """Combines the matrices of two texts row by row (appendix B; Memisevic 2013).

    ``F_h = batched_dot(M_h, W_fh)``, ``F_p = batched_dot(M_p, W_fp)``, ``F_r = F_h * F_p``: each
    factor compares what one hop found in both texts. The paper does not publish k.

    Args:
        factors: k of each row.
    """

    def __init__(self, factors: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.factors = factors

    def build(self, matrix_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates both kernels for matrices (B, r, c)."""
        _, rows, columns = matrix_shape
        shape = (rows, columns, self.factors)
        self.premise_kernels, self.hypothesis_kernels = (
            self.add_weight(
                shape=shape, initializer=_glorot(columns, self.factors), name=f"{side}_kernels"
            )
            for side in ("premise", "hypothesis")
        )

    def call(self, premise: Tensor, hypothesis: Tensor) -> Tensor:
        """Computes F_r (B, r, k) from M_p and M_h, (B, r, c) each."""
        of_premise = batched_dot(premise, self.premise_kernels)
        return of_premise * batched_dot(hypothesis, self.hypothesis_kernels)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"factors": self.factors}


def flatten(matrix: Tensor) -> Tensor:
    """Puts the rows of matrices (B, r, c) one after the other: (B, r c)."""
    _, rows, columns = matrix.shape
    return ops.reshape(matrix, (-1, rows * columns))
