"""Vectors of positions (Vaswani et al. 2017, section 3.5).

Shape letter: d model.
"""

from typing import Any

import keras
import numpy as np
from keras import ops

from zoo.ops.initializers import fresh
from zoo.ops.masking import Tensor, wide_dtype

LONGEST_WAVE = 10_000.0  # in units of 2 pi


def sinusoids(positions: Tensor, dim: int, dtype: str = "float32") -> Tensor:
    """Computes ``PE(p, 2i) = sin(p / 10000^(2i / d))``, ``PE(p, 2i + 1) = cos(...)``.

    Sines and cosines of the same angle alternate, as printed; tensor2tensor has all sines first,
    and other wavelengths.

    Args:
        positions: int (...), from 0.
        dim: d.
        dtype: of the result, which is computed in float32 at least.

    Returns:
        (..., d).
    """
    exact = wide_dtype(dtype)
    columns = np.arange(dim)
    rates = LONGEST_WAVE ** -((columns - columns % 2) / dim)  # equal within a pair
    angles = ops.cast(positions, exact)[..., None] * ops.convert_to_tensor(rates, exact)
    waves = ops.where(columns % 2 == 0, ops.sin(angles), ops.cos(angles))  # (..., d)
    return ops.cast(waves, dtype)


@keras.saving.register_keras_serializable(package="zoo")
class SinusoidalPositions(keras.layers.Layer):
    """``sinusoids`` as a layer without weights.

    Args:
        dim: size d of a vector.
    """

    def __init__(self, dim: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dim = dim

    def call(self, positions: Tensor) -> Tensor:
        """Encodes int positions (...), from 0, as vectors (..., d)."""
        return sinusoids(positions, self.dim, self.compute_dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"dim": self.dim}


@keras.saving.register_keras_serializable(package="zoo")
class LearnedPositions(keras.layers.Layer):
    """Trained vector for each position (paper, table 3, row E).

    Args:
        maximum_length: number of positions; later ones share the last one's vector.
        dim: size d of a vector.
        initializer: of the vectors.
    """

    def __init__(
        self, maximum_length: int, dim: int, initializer: Any = "uniform", **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.maximum_length = maximum_length
        self.dim = dim
        self.initializer = keras.initializers.get(initializer)

    def build(self, *_: Any) -> None:
        """Creates the vectors (maximum_length, d)."""
        self.vectors = self.add_weight(
            shape=(self.maximum_length, self.dim),
            initializer=fresh(self.initializer),
            name="vectors",
        )
        self.built = True

    def call(self, positions: Tensor) -> Tensor:
        """Looks up int positions (...), from 0, and returns their vectors (..., d)."""
        rows = ops.minimum(positions, self.maximum_length - 1)
        return ops.cast(ops.take(self.vectors, rows, axis=0), self.compute_dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "maximum_length": self.maximum_length,
            "dim": self.dim,
            "initializer": keras.initializers.serialize(self.initializer),
        }
