"""The glimpse network of the recurrent attention model: f_g of section 3.1.

Volodymyr Mnih, Nicolas Heess, Alex Graves, Koray Kavukcuoglu: Recurrent Models of Visual Attention.
NIPS 2014, arXiv 1406.6247.

    h_g = ReLU(W rho + b)      h_l = ReLU(W l + b)      g_t = ReLU(W h_g + W h_l + b)

Shape letters: B images, K scales, g side of a patch, C channels, m units, n features.
"""

from typing import Any

import keras
from keras import ops

from zoo.ops.masking import Tensor


@keras.saving.register_keras_serializable(package="zoo")
class GlimpseNetwork(keras.layers.Layer):
    """Joins what was seen and where it was seen in one vector.

    Args:
        units: sizes m of h_g and of h_l.
        features: size n of g_t.
    """

    def __init__(self, units: int, features: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.features = features
        policy = self.dtype_policy
        self.what = keras.layers.Dense(units, activation="relu", name="what", dtype=policy)
        self.where = keras.layers.Dense(units, activation="relu", name="where", dtype=policy)
        self.both = keras.layers.Dense(features, activation="relu", name="both", dtype=policy)

    def build(self, seen_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights for what is seen, (B, K g g C)."""
        self.what.build(seen_shape)
        self.where.build((None, 2))
        self.both.build((None, 2 * self.units))

    def call(self, seen: Tensor, locations: Tensor) -> Tensor:
        """Computes g_t (B, n) from what was seen (B, K g g C) at locations (B, 2)."""
        joined = [self.what(seen), self.where(locations)]
        return self.both(ops.concatenate(joined, axis=-1))  # (B, n)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"units": self.units, "features": self.features}
