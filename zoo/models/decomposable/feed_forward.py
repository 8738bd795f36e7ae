"""The networks F, G, H and F_intra of decomposable attention: two rectified layers.

Ankur Parikh, Oscar Täckström, Dipanjan Das, Jakob Uszkoreit: A Decomposable Attention Model for
Natural Language Inference. EMNLP 2016, arXiv 1606.01933, section 3.

Shape letters: B pairs, T words, n hidden.
"""

from typing import Any

import keras

from zoo.ops.initializers import fresh
from zoo.ops.masking import Tensor


@keras.saving.register_keras_serializable(package="zoo")
class FeedForward(keras.layers.Layer):
    """Two rectified layers; dropout acts on the input of each.

    Args:
        units: size n of both layers.
        dropout: its rate.
        initializer: of both kernels; the biases start at zero.
    """

    def __init__(
        self,
        units: int,
        dropout: float = 0.0,
        initializer: Any = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.dropout = dropout
        self.initializer = keras.initializers.get(initializer)
        policy = self.dtype_policy
        self.first, self.second = (
            keras.layers.Dense(
                units,
                activation="relu",
                kernel_initializer=fresh(self.initializer, number),
                name=name,
                dtype=policy,
            )
            for number, name in enumerate(("first", "second"))
        )
        self.drop = keras.layers.Dropout(dropout, dtype=policy)

    def build(self, values_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights for values (..., d)."""
        self.first.build(values_shape)
        self.second.build((*values_shape[:-1], self.units))

    def call(self, values: Tensor, training: bool = False) -> Tensor:
        """Maps values (..., d) to (..., n)."""
        hidden = self.first(self.drop(values, training=training))  # (..., n)
        return self.second(self.drop(hidden, training=training))  # (..., n)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "dropout": self.dropout,
            "initializer": keras.initializers.serialize(self.initializer),
        }
