"""Word embeddings with pretrained vectors."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import ops

from zoo.ops.initializers import fresh
from zoo.ops.masking import Tensor, at_least_float32
from zoo.ops.numbers import check_not_negative, check_size, check_table_dtype


@keras.saving.register_keras_serializable(package="zoo")
class WordEmbedding(keras.layers.Layer):
    """Table of word vectors, frozen or trained, possibly stored in half precision.

    Row 0 (padding) starts at zero. With ``load_vectors``, so do the rows of words without a vector,
    including row 1 (unknown). Frozen rows stay at zero.

    Args:
        vocabulary_size: number of rows V.
        embedding_dim: size d of a vector.
        table_dtype: dtype the table is stored in, e.g. ``"float16"``; None: the layer's own.
            Vectors are cast to the compute dtype after the look-up.
        initializer: of all rows but the first.
        l2: weight in the loss of the sum of squares of all rows but the first.

    Raises:
        ValueError: if a size is not a positive integer, ``table_dtype`` is not the name of a type
            of floats, or ``l2`` is negative or not finite.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_dim: int,
        table_dtype: str | None = None,
        initializer: Any = "uniform",
        l2: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_table_dtype("table_dtype", table_dtype)
        check_not_negative(l2=l2)
        self.vocabulary_size = check_size("vocabulary_size", vocabulary_size)
        self.embedding_dim = check_size("embedding_dim", embedding_dim)
        self.table_dtype = table_dtype
        self.initializer = keras.initializers.get(initializer)
        self.l2 = float(l2)
        self.pass_on: Callable[[Tensor, Tensor], Tensor] | None = None
        """Training hook: maps ids (...) and their vectors (..., d) to the vectors passed on."""

    def build(self, *_: Any) -> None:
        """Creates the table (V, d)."""

        def initializer(shape: tuple[int, ...], dtype: str | None = None) -> Tensor:
            rows = fresh(self.initializer)((shape[0] - 1, shape[1]), dtype="float32")
            return ops.cast(ops.pad(rows, [[1, 0], [0, 0]]), dtype)

        self.table = self.add_weight(
            shape=(self.vocabulary_size, self.embedding_dim),
            dtype=self.table_dtype,
            initializer=initializer,
            regularizer=self._penalty if self.l2 else None,
            autocast=False,
            name="table",
        )

    def call(self, ids: Tensor) -> Tensor:
        """Looks up ids (...) and returns their vectors (..., d) in the compute dtype.

        Raises:
            ValueError: if ``ids`` are not whole numbers: ``keras.Input`` makes floats by default.
        """
        dtype = keras.backend.standardize_dtype(ids.dtype)
        if not dtype.startswith(("int", "uint")):
            raise ValueError(f"ids must be whole numbers, such as int32, got {dtype}")
        ids = ids if dtype in ("int32", "int64") else ops.cast(ids, "int32")
        vectors = ops.cast(ops.take(self.table, ids, axis=0), self.compute_dtype)
        return vectors if self.pass_on is None else self.pass_on(ids, vectors)

    def _penalty(self, table: Tensor) -> Tensor:
        return self.l2 * ops.sum(ops.square(at_least_float32(table[1:])))

    def load_vectors(self, matrix: np.ndarray) -> None:
        """Replaces the table by ``matrix`` (V, d).

        Raises:
            ValueError: if the shape is not the table's.
        """
        expected = (self.vocabulary_size, self.embedding_dim)
        if tuple(matrix.shape) != expected:
            raise ValueError(f"matrix must have the shape {expected}, got {tuple(matrix.shape)}")
        self.table.assign(matrix)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "vocabulary_size": self.vocabulary_size,
            "embedding_dim": self.embedding_dim,
            "table_dtype": self.table_dtype,
            "initializer": keras.initializers.serialize(self.initializer),
            "l2": self.l2,
        }
