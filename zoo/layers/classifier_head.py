"""Classifier head: rectified layers and a linear one on top, with dropout.

Shape letters: B batch, n hidden, C classes.
"""

from typing import Any

import keras

from zoo.ops.masking import Tensor
from zoo.ops.numbers import check_count, check_rate, check_size


@keras.saving.register_keras_serializable(package="zoo")
class ClassifierHead(keras.layers.Layer):
    """Logits of classes; dropout acts on the input of every layer.

    Args:
        classes: number of classes C.
        units: size n of the rectified layers.
        hidden_layers: their number.
        dropout: its rate.

    Raises:
        ValueError: if ``classes`` or ``units`` is not a positive integer, ``hidden_layers`` is
            negative, or ``dropout`` is not in [0, 1).
    """

    def __init__(
        self, classes: int, units: int, hidden_layers: int, dropout: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.classes = check_size("classes", classes)
        self.units = check_size("units", units)
        self.hidden_layers = check_count("hidden_layers", hidden_layers)
        self.dropout = check_rate("dropout", dropout)
        policy = self.dtype_policy
        self.denses = [
            keras.layers.Dense(self.units, activation="relu", name=f"hidden_{k}", dtype=policy)
            for k in range(self.hidden_layers)
        ]
        self.denses.append(keras.layers.Dense(self.classes, name="output", dtype=policy))
        self.drop = keras.layers.Dropout(self.dropout, dtype=policy)

    def build(self, values_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights for values (..., d)."""
        for dense in self.denses:
            dense.build(values_shape)
            values_shape = (*values_shape[:-1], self.units)

    def call(self, values: Tensor, training: bool = False) -> Tensor:
        """Logits (B, C) from values (B, d)."""
        for dense in self.denses:
            values = dense(self.drop(values, training=training))
        return values

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "classes": self.classes,
            "units": self.units,
            "hidden_layers": self.hidden_layers,
            "dropout": self.dropout,
        }
