"""Score functions that multiply the query: dot, general, content, location.

Sources: Luong et al. 2015 (arXiv 1508.04025), section 3.1; Vaswani et al. 2017 (arXiv 1706.03762),
section 3.2.1, for the scale; Graves et al. 2014 (arXiv 1410.5401), section 3.3.1, for the cosine.

Shape letters: B batch, Q queries, S keys, W keys of a window, d_s query, d_h key, Lmax positions.
"""

import math
from typing import Any

import keras
from keras import ops

from zoo.attention.score import Score, check_equal_sizes
from zoo.ops.initializers import fresh
from zoo.ops.linear import project
from zoo.ops.masking import MASKED_SCORE, Tensor
from zoo.ops.numbers import check_size


@keras.saving.register_keras_serializable(package="zoo")
class DotScore(Score):
    """``e = s^T h`` (Luong et al., "dot"); no weights, d_s = d_h.

    Raises:
        ValueError: at build time, if queries and keys differ in size.
    """

    def add_weights(self, query_dim: int, key_dim: int) -> None:
        """Checks the sizes; there are no weights."""
        check_equal_sizes(self, query_dim, key_dim)

    def call(self, queries: Tensor, prepared: Tensor) -> Tensor:
        """Scores (B, Q, S) of queries (B, Q, d) and prepared keys (B, S, d)."""
        return _dots(queries, prepared)


@keras.saving.register_keras_serializable(package="zoo")
class ScaledDotScore(DotScore):
    """``e = s^T h / sqrt(n)``, n the size of a key (Vaswani et al., equation 1); no weights."""

    def prepare_keys(self, keys: Tensor) -> Tensor:
        """``h / sqrt(n)``: (B, S, n)."""
        return keys / math.sqrt(keys.shape[-1])


@keras.saving.register_keras_serializable(package="zoo")
class GeneralScore(Score):
    """``e = s^T W_a h`` (Luong et al., "general"): ``kernel`` (d_h, d_s) is W_a transposed.

    Args:
        kernel_initializer: of W_a.
    """

    def __init__(self, kernel_initializer: Any = "glorot_uniform", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def add_weights(self, query_dim: int, key_dim: int) -> None:
        """Creates the kernel (d_h, d_s)."""
        self.kernel = self.add_weight(
            shape=(key_dim, query_dim),
            initializer=fresh(self.kernel_initializer),
            name="kernel",
        )

    def prepare_keys(self, keys: Tensor) -> Tensor:
        """``W_a h``: (B, S, d_s)."""
        return project(keys, self.to_compute_dtype(self.kernel))

    def call(self, queries: Tensor, prepared: Tensor) -> Tensor:
        """Scores (B, Q, S) of queries (B, Q, d_s) and prepared keys (B, S, d_s)."""
        return _dots(queries, prepared)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer)
        }


@keras.saving.register_keras_serializable(package="zoo")
class ContentScore(DotScore):
    """``e = cos(s, h)`` (Graves et al., equation 6); no weights, d_s = d_h.

    If the query or the key is zero, the cosine and its gradient are defined as 0. Scores lie in
    [-1, 1] and would make flat distributions, so models scale them by a temperature.
    """

    def prepare_keys(self, keys: Tensor) -> Tensor:
        """Keys of length one: (B, S, d)."""
        return _unit_vectors(keys)

    def call(self, queries: Tensor, prepared: Tensor) -> Tensor:
        """Scores (B, Q, S) of queries (B, Q, d) and prepared keys (B, S, d)."""
        return _dots(_unit_vectors(queries), prepared)


@keras.saving.register_keras_serializable(package="zoo")
class LocationScore(Score):
    """``e = (W_a s)`` at the key's position (Luong et al., "location"); keys are not read.

    ``kernel`` (d_s, Lmax) is W_a transposed. Positions from Lmax on have the score ``MASKED_SCORE``
    and thus a weight of exactly 0: the end of a longer sentence is ignored (the paper's footnote
    6).

    Args:
        maximum_length: number Lmax of positions that can be attended to.
        kernel_initializer: of W_a.

    Raises:
        ValueError: if ``maximum_length`` is not a positive integer.
    """

    def __init__(
        self, maximum_length: int, kernel_initializer: Any = "glorot_uniform", **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.maximum_length = check_size("maximum_length", maximum_length)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def add_weights(self, query_dim: int, key_dim: int) -> None:
        """Creates the kernel (d_s, Lmax)."""
        self.kernel = self.add_weight(
            shape=(query_dim, self.maximum_length),
            initializer=fresh(self.kernel_initializer),
            name="kernel",
        )

    def call(self, queries: Tensor, prepared: Tensor) -> Tensor:
        """Scores (B, Q, S) of queries (B, Q, d_s); only the number S of prepared keys matters."""
        scores = self._all_positions(queries)
        length = ops.shape(prepared)[1]
        if not isinstance(length, int) or length > self.maximum_length:
            batch, count, _ = ops.shape(scores)
            beyond = ops.broadcast_to(self._masked_score(), (batch, count, length))
            scores = ops.concatenate([scores, beyond], axis=-1)  # (B, Q, Lmax + S)
        return scores[:, :, :length]

    def score_windows(self, queries: Tensor, windows: Tensor, positions: Tensor) -> Tensor:
        """Scores (B, Q, W) of the keys at ``positions``; ``windows`` are not read."""
        scores = self._all_positions(self.to_compute_dtype(queries))
        batch, count, _ = ops.shape(positions)
        last = self.maximum_length - 1
        rows = ops.reshape(ops.arange(batch * count, dtype="int32"), (batch, count, 1))
        index = rows * self.maximum_length + ops.clip(positions, 0, last)
        flat = ops.reshape(scores, (batch * count * self.maximum_length,))
        picked = ops.take(flat, index, axis=0)  # (B, Q, W)
        return ops.where(positions <= last, picked, self._masked_score())

    def _all_positions(self, queries: Tensor) -> Tensor:
        return project(queries, self.to_compute_dtype(self.kernel))  # (B, Q, Lmax)

    def _masked_score(self) -> Tensor:
        return ops.cast(MASKED_SCORE, self.compute_dtype)  # in float16 it is minus infinity

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "maximum_length": self.maximum_length,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }


def _dots(queries: Tensor, keys: Tensor) -> Tensor:
    """Computes all dot products of (B, Q, d) and (B, S, d): (B, Q, S)."""
    return ops.matmul(queries, ops.swapaxes(keys, 1, 2))


def _unit_vectors(values: Tensor) -> Tensor:
    """Scales (..., d) to length one; zero vectors stay zero, with a zero gradient.

    Each vector is first divided by its largest component, so that squares neither overflow nor
    vanish in half precision. The result does not depend on it.
    """
    largest = ops.stop_gradient(ops.max(ops.abs(values), axis=-1, keepdims=True, initial=0.0))
    zero = ops.equal(largest, 0)
    one = ops.ones_like(largest)
    scale = ops.where(zero, ops.zeros_like(largest), one / ops.where(zero, one, largest))
    values = values * scale
    squares = ops.sum(ops.square(values), axis=-1, keepdims=True)  # in [1, d]
    return values / ops.sqrt(ops.where(zero, one, squares))
