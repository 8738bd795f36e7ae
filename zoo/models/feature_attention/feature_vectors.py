"""Vectors of the features of a row: numbers scale a vector, categories look one up.

    v_f = x_f a_f + b_f        numeric
    v_f = row x_f of table f   categorical

Shape letters: B rows, F features, N of them numeric, d size of a vector.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import ml_dtypes
from keras import ops

from zoo.models.core.arguments import check_input_shape
from zoo.ops.masking import Tensor, at_least_float32


class Row(NamedTuple):
    """The features of a batch of rows."""

    vectors: Tensor
    """v (B, F, d), zero where missing."""
    present: Tensor
    """bool (B, F)"""


@keras.saving.register_keras_serializable(package="zoo")
class FeatureVectors(keras.layers.Layer):
    """Makes a vector of every feature of a row, and tells which are missing.

    Args:
        numeric: number N of numbers at the beginning of a row.
        categorical: number of categories of each of the other features.
        units: size d of a vector.
    """

    def __init__(self, numeric: int, categorical: Sequence[int], units: int, **kwargs: Any) -> None:
        # Inputs rounded to 16 bits would no longer be ids of categories.
        super().__init__(autocast=False, **kwargs)
        self.numeric = numeric
        self.categorical = tuple(categorical)
        self.units = units

    def build(self, *_: Any) -> None:
        """Creates the weights; those that no feature has are left out."""
        normal = keras.initializers.RandomNormal
        if self.numeric:
            shape = (self.numeric, self.units)
            self.scale = self.add_weight(shape=shape, initializer=normal(stddev=1.0), name="scale")
            self.shift = self.add_weight(shape=shape, initializer=normal(stddev=0.1), name="shift")
        if self.categorical:
            self.tables = self.add_weight(
                shape=(sum(self.categorical), self.units),
                initializer=normal(stddev=1.0),
                name="tables",
            )
        self.built = True

    def call(self, row: Tensor) -> Row:
        """Reads rows.

        Args:
            row: (B, F), numbers and then ids of categories. NaN is missing, and so is a number
                that is infinite, or would be in the type that the layer computes with, and an id
                that its feature does not have: negative, not below the number of categories, or
                not whole.

        Raises:
            ValueError: if rows have another number of features.
        """
        check_input_shape("row", row, (self.numeric + len(self.categorical),))
        row = at_least_float32(row)  # integers have no NaN
        present = self._present(row)
        # A gradient through NaN would be NaN, even where it is multiplied by 0.
        known = ops.where(present, row, ops.zeros((), row.dtype))
        parts = []
        if self.numeric:
            numbers = ops.cast(known[:, : self.numeric, None], self.compute_dtype)
            scale, shift = self._cast(self.scale), self._cast(self.shift)
            parts.append(numbers * scale + shift)  # (B, N, d)
        if self.categorical:
            ids = ops.cast(known[:, self.numeric :], "int32") + self._offsets()
            parts.append(ops.take(self._cast(self.tables), ids, axis=0))  # (B, F - N, d)
        vectors = ops.concatenate(parts, axis=1)  # (B, F, d)
        vectors = ops.where(present[:, :, None], vectors, ops.zeros((), vectors.dtype))
        return Row(vectors, present)

    def _present(self, row: Tensor) -> Tensor:
        """Tells which features of rows (B, F) are not missing."""
        # NaN is not at most anything; an infinite number would make NaN of all outputs.
        largest = min(map(_largest, (row.dtype, self.compute_dtype)))
        numbers = ops.abs(row[:, : self.numeric]) <= largest
        if not self.categorical:
            return numbers
        # Beyond the table of its feature, an id would read a vector of another feature.
        ids = row[:, self.numeric :]
        known = (ids >= 0) & (ids < ops.convert_to_tensor(self.categorical, dtype=row.dtype))
        known = known & (ids == ops.floor(ids))  # cut off, 1.5 would be another category
        return ops.concatenate([numbers, known], axis=1)

    def _offsets(self) -> Tensor:
        """Places where the tables of the features begin in the one table that is stored."""
        ends = [sum(self.categorical[:number]) for number in range(len(self.categorical))]
        return ops.convert_to_tensor(ends, dtype="int32")

    def _cast(self, weight: Tensor) -> Tensor:
        return ops.cast(weight, self.compute_dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "numeric": self.numeric,
            "categorical": self.categorical,
            "units": self.units,
        }


def _largest(dtype: Any) -> float:
    """The largest finite number of a type."""
    return float(ml_dtypes.finfo(keras.backend.standardize_dtype(dtype)).max)
