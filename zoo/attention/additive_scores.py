"""Score functions that add a projection of the query to a projection of the key.

Sources: Bahdanau et al. 2014 (arXiv 1409.0473), appendix A.1.2, and Luong et al. 2015 (arXiv
1508.04025), section 3.1. The EMNLP print has a linear "concat".

Shape letters: B batch, Q queries, S keys, d_s query, d_h key, a units.
"""

from typing import Any

import keras
from keras import ops

from zoo.attention.score import Score
from zoo.ops.initializers import fresh
from zoo.ops.linear import project
from zoo.ops.masking import Tensor
from zoo.ops.numbers import check_flag, check_size


class TanhScore(Score):
    """Base of the perceptrons below: ``e = v_a^T tanh(query's part + key's part)``.

    Args:
        use_bias: whether a bias (a,), not in the papers, is added before the tanh.
        kernel_initializer: of the matrices.
        scale_initializer: of v_a.
    """

    def __init__(
        self,
        use_bias: bool = False,
        kernel_initializer: Any = "glorot_uniform",
        scale_initializer: Any = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.use_bias = check_flag("use_bias", use_bias)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.scale_initializer = keras.initializers.get(scale_initializer)

    def add_kernel(self, name: str, input_dim: int, units: int, number: int = 0) -> Any:
        """Creates a matrix (input_dim, units), the score's ``number``-th by that initialiser."""
        initializer = fresh(self.kernel_initializer, number)
        return self.add_weight(shape=(input_dim, units), initializer=initializer, name=name)

    def add_scale(self, units: int) -> None:
        """Creates v_a (units,), and the bias where there is one."""
        initializer = fresh(self.scale_initializer)
        self.scale = self.add_weight(shape=(units,), initializer=initializer, name="scale")
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(shape=(units,), initializer="zeros", name="bias")

    def add_bias(self, prepared: Tensor) -> Tensor:
        """Adds the bias, where there is one, to the key's part (B, S, a)."""
        return prepared if self.bias is None else prepared + self.to_compute_dtype(self.bias)

    def score_sums(
        self, query_part: Tensor, key_part: Tensor, pair_part: Tensor | None = None
    ) -> Tensor:
        """``v_a^T tanh(query_part + key_part)``: (B, Q, a) and (B, S, a) to (B, Q, S).

        ``pair_part`` (B, Q, S, a), or of a shape that broadcasts to it, is a third term.
        """
        sums = query_part[:, :, None] + key_part[:, None]  # (B, Q, S, a)
        sums = sums if pair_part is None else sums + self.to_compute_dtype(pair_part)
        scale = self.to_compute_dtype(self.scale)[:, None]
        return project(ops.tanh(sums), scale)[:, :, :, 0]

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "use_bias": self.use_bias,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "scale_initializer": keras.initializers.serialize(self.scale_initializer),
        }


class HiddenScore(TanhScore):
    """Base of the perceptrons whose hidden layer has a size a of its own, ``units``."""

    def __init__(
        self,
        units: int,
        use_bias: bool = False,
        kernel_initializer: Any = "glorot_uniform",
        scale_initializer: Any = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(use_bias, kernel_initializer, scale_initializer, **kwargs)
        self.units = check_size("units", units)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"units": self.units}


@keras.saving.register_keras_serializable(package="zoo")
class AdditiveScore(HiddenScore):
    """``e = v_a^T tanh(W_a s + U_a h)`` (Bahdanau et al.): the perceptron in its sum form.

    ``query_kernel`` (d_s, a) and ``key_kernel`` (d_h, a) are W_a and U_a transposed, ``scale`` (a,)
    is v_a.

    Args:
        units: size a of the hidden layer.
        use_bias: whether a bias (a,), not in the paper, is added before the tanh.
        kernel_initializer: of W_a and U_a; the paper draws them from N(0, 0.001^2).
        scale_initializer: of v_a; the paper starts at zeros, that is, with uniform attention.

    Raises:
        ValueError: if ``units`` is not a positive integer.
    """

    def add_weights(self, query_dim: int, key_dim: int) -> None:
        """Creates W_a, U_a and v_a."""
        self.query_kernel = self.add_kernel("query_kernel", query_dim, self.units)
        self.key_kernel = self.add_kernel("key_kernel", key_dim, self.units, number=1)
        self.add_scale(self.units)

    def prepare_keys(self, keys: Tensor) -> Tensor:
        """``U_a h``: (B, S, a)."""
        kernel = self.to_compute_dtype(self.key_kernel)
        return self.add_bias(project(keys, kernel))

    def call(self, queries: Tensor, prepared: Tensor, pair_part: Tensor | None = None) -> Tensor:
        """Scores every key for every query.

        Args:
            queries: (B, Q, d_s).
            prepared: result of ``prepare``, (B, S, a).
            pair_part: term of each query and key inside the tanh, (B, Q, S, a), or of a shape that
                broadcasts to it; None: none.

        Returns:
            (B, Q, S), not masked.
        """
        kernel = self.to_compute_dtype(self.query_kernel)
        return self.score_sums(project(queries, kernel), prepared, pair_part)


@keras.saving.register_keras_serializable(package="zoo")
class ConcatScore(HiddenScore):
    """``e = v_a^T tanh(W_a [s; h])`` (Luong et al., "concat"): the perceptron of both, whole.

    It is computed as a sum of two products. ``kernel`` (d_s + d_h, a) is W_a transposed, ``scale``
    (a,) is v_a.

    Args:
        units: size a of the hidden layer.
        use_bias: whether a bias (a,), not in the paper, is added before the tanh.
        kernel_initializer: of W_a.
        scale_initializer: of v_a.

    Raises:
        ValueError: if ``units`` is not a positive integer.
    """

    def add_weights(self, query_dim: int, key_dim: int) -> None:
        """Creates W_a and v_a."""
        self.query_dim = query_dim
        self.kernel = self.add_kernel("kernel", query_dim + key_dim, self.units)
        self.add_scale(self.units)

    def prepare_keys(self, keys: Tensor) -> Tensor:
        """The key's share of ``W_a [s; h]``: (B, S, a)."""
        kernel = self.to_compute_dtype(self.kernel)[self.query_dim :]
        return self.add_bias(project(keys, kernel))

    def call(self, queries: Tensor, prepared: Tensor) -> Tensor:
        """Scores (B, Q, S) of queries (B, Q, d_s) and prepared keys (B, S, a)."""
        kernel = self.to_compute_dtype(self.kernel)[: self.query_dim]
        return self.score_sums(project(queries, kernel), prepared)


@keras.saving.register_keras_serializable(package="zoo")
class ConcatIdentityScore(TanhScore):
    """``e = v_a^T tanh(W_a s + h)`` (Luong et al., footnote 15), as in their experiments.

    It is "concat" with the key's share of W_a fixed at the identity. ``query_kernel`` (d_s, d_h) is
    W_a transposed, ``scale`` (d_h,) is v_a. Arguments as in ``TanhScore``.
    """

    def add_weights(self, query_dim: int, key_dim: int) -> None:
        """Creates W_a and v_a."""
        self.query_kernel = self.add_kernel("query_kernel", query_dim, key_dim)
        self.add_scale(key_dim)

    def prepare_keys(self, keys: Tensor) -> Tensor:
        """The keys, and the bias where there is one: (B, S, d_h)."""
        return self.add_bias(keys)

    def call(self, queries: Tensor, prepared: Tensor) -> Tensor:
        """Scores (B, Q, S) of queries (B, Q, d_s) and prepared keys (B, S, d_h)."""
        kernel = self.to_compute_dtype(self.query_kernel)
        return self.score_sums(project(queries, kernel), prepared)


class LinearScore(Score):
    """Base of the two linear scores: a number from the query plus a number from the key.

    **The query cancels in the softmax**: it adds the same number to every key's score, so the
    weights do not depend on it. These scores are here because papers and surveys print them.

    Args:
        kernel_initializer: of the weights.
    """

    def __init__(self, kernel_initializer: Any = "glorot_uniform", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def add_kernel(self, name: str, shape: tuple[int, ...], number: int = 0) -> Any:
        """Creates a weight of any shape, the score's ``number``-th by its initialiser."""
        initializer = fresh(self.kernel_initializer, number)
        return self.add_weight(shape=shape, initializer=initializer, name=name)

    @staticmethod
    def add_parts(query_part: Tensor, key_part: Tensor) -> Tensor:
        """Sums (B, Q, 1) and (B, S, 1) to (B, Q, S)."""
        return query_part + ops.swapaxes(key_part, 1, 2)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer)
        }


@keras.saving.register_keras_serializable(package="zoo")
class ConcatLinearScore(LinearScore):
    """``e = W_a [s; h]``, W_a (1, d_s + d_h) (Luong et al. as first printed, "concat").

    The query cancels in the softmax: see ``LinearScore``, also for the argument. ``kernel``
    (d_s + d_h, 1) is W_a transposed.
    """

    def add_weights(self, query_dim: int, key_dim: int) -> None:
        """Creates W_a."""
        self.query_dim = query_dim
        self.kernel = self.add_kernel("kernel", (query_dim + key_dim, 1))

    def prepare_keys(self, keys: Tensor) -> Tensor:
        """The key's share of ``W_a [s; h]``: (B, S, 1)."""
        kernel = self.to_compute_dtype(self.kernel)[self.query_dim :]
        return project(keys, kernel)

    def call(self, queries: Tensor, prepared: Tensor) -> Tensor:
        """Scores (B, Q, S) of queries (B, Q, d_s) and prepared keys (B, S, 1)."""
        kernel = self.to_compute_dtype(self.kernel)[: self.query_dim]
        return self.add_parts(project(queries, kernel), prepared)


@keras.saving.register_keras_serializable(package="zoo")
class LinearAdditiveScore(LinearScore):
    """``e = w_q . s + w_k . h``: the same function as ``ConcatLinearScore``, its weight in two.

    The query cancels in the softmax: see ``LinearScore``, also for the argument. ``query_kernel``
    (d_s,) is w_q, ``key_kernel`` (d_h,) is w_k.
    """

    def add_weights(self, query_dim: int, key_dim: int) -> None:
        """Creates w_q and w_k."""
        self.query_kernel = self.add_kernel("query_kernel", (query_dim,))
        self.key_kernel = self.add_kernel("key_kernel", (key_dim,), number=1)

    def prepare_keys(self, keys: Tensor) -> Tensor:
        """``w_k . h``: (B, S, 1)."""
        kernel = self.to_compute_dtype(self.key_kernel)[:, None]
        return project(keys, kernel)

    def call(self, queries: Tensor, prepared: Tensor) -> Tensor:
        """Scores (B, Q, S) of queries (B, Q, d_s) and prepared keys (B, S, 1)."""
        kernel = self.to_compute_dtype(self.query_kernel)[:, None]
        return self.add_parts(project(queries, kernel), prepared)
