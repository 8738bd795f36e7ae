"""Maxout layers, and the Highway Maxout Network that scores the positions of a document.

Source: Goodfellow et al. 2013 (arXiv 1302.4389); Xiong et al. 2016 (arXiv 1611.01604),
equations 9-12.

Shape letters: B batch, m positions, l hidden, p pool.
"""

import math
from typing import Any

import keras
from keras import ops

from zoo.ops import linear
from zoo.ops.masking import Tensor, masked_softmax
from zoo.ops.maxout import maxout


@keras.saving.register_keras_serializable(package="zoo")
class Maxout(keras.layers.Layer):
    """``max_k (W^k [x_1; x_2; ...] + b^k)`` over k = 1..pool_size.

    The input comes in parts, each with its own kernel. Parts are never concatenated, and a part
    that is constant over several calls is projected once (``project``).

    Args:
        units: number of outputs.
        pool_size: number of linear pieces p.
    """

    def __init__(self, units: int, pool_size: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.pool_size = pool_size

    def build(self, parts_shapes: list[tuple[Any, ...]]) -> None:
        """Creates kernel_<part> (d_part, p * units), pool-major, and bias (p * units)."""
        input_dims = [shape[-1] for shape in parts_shapes]
        # Glorot's limit for one piece that reads the whole input, as if the parts had one kernel.
        limit = math.sqrt(6 / (sum(input_dims) + self.units))
        uniform = keras.initializers.RandomUniform
        features = self.pool_size * self.units
        self.kernels = [
            self.add_weight(
                shape=(input_dim, features),
                initializer=uniform(-limit, limit),
                name=f"kernel_{part}",
            )
            for part, input_dim in enumerate(input_dims)
        ]
        self.bias = self.add_weight(shape=(features,), initializer="zeros", name="bias")

    def project(self, part: int, values: Tensor) -> Tensor:
        """Projects one part to the pieces, without bias: (..., d_part) -> (..., p * units)."""
        return linear.project(values, self.kernels[part])

    def call(self, parts: list[Tensor]) -> Tensor:
        """Computes (..., units) from parts (..., d_part)."""
        pieces = sum(self.project(part, values) for part, values in enumerate(parts))
        return self.pool(self.add_bias(pieces))

    def add_bias(self, pieces: Tensor) -> Tensor:
        """Adds b to pieces (..., p * units)."""
        return pieces + ops.cast(self.bias, pieces.dtype)

    def pool(self, pieces: Tensor) -> Tensor:
        """Takes the maximum over the pieces: (..., p * units) -> (..., units)."""
        return maxout(pieces, self.pool_size)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"units": self.units, "pool_size": self.pool_size}


@keras.saving.register_keras_serializable(package="zoo")
class MixtureOfExperts(Maxout):
    """``sum_k g_k (W^k x + b^k)`` over the two best of pool_size experts.

    A linear gate without bias reads the same input; the softmax of its two largest outputs gives
    g. The experts are the linear pieces of the maxout layer that this layer replaces. Source:
    Shazeer et al. 2017 (arXiv 1701.06538), as used by DCN+ (arXiv 1711.00106).
    """

    def build(self, parts_shapes: list[tuple[Any, ...]]) -> None:
        """Creates the weights of Maxout and gate_<part> (d_part, p)."""
        super().build(parts_shapes)
        self.gates = [
            self.add_weight(shape=(shape[-1], self.pool_size), name=f"gate_{part}")
            for part, shape in enumerate(parts_shapes)
        ]

    def project(self, part: int, values: Tensor) -> Tensor:
        """Projects one part to experts and gate: (..., d_part) -> (..., p * units + p)."""
        gate = linear.project(values, self.gates[part])
        return ops.concatenate([super().project(part, values), gate], axis=-1)

    def add_bias(self, pieces: Tensor) -> Tensor:
        """Adds b to the experts in (..., p * units + p)."""
        return pieces + ops.cast(ops.pad(self.bias, [[0, self.pool_size]]), pieces.dtype)

    def pool(self, pieces: Tensor) -> Tensor:
        """Weighs the two best experts: (..., p * units + p) -> (..., units)."""
        experts, gate = ops.split(pieces, [self.pool_size * self.units], axis=-1)
        _, best = ops.top_k(gate, min(2, self.pool_size))  # (..., 2)
        chosen = ops.any(ops.one_hot(best, self.pool_size, dtype="bool"), axis=-2)  # (..., p)
        weights = masked_softmax(gate, chosen)
        experts = ops.reshape(experts, (*ops.shape(experts)[:-1], self.pool_size, self.units))
        return ops.sum(ops.expand_dims(weights, -1) * experts, axis=-2)


@keras.saving.register_keras_serializable(package="zoo")
class HighwayMaxoutNetwork(keras.layers.Layer):
    """Scores every position of a document (DCN, equations 9-12).

    ``call`` follows the equations. Because ``W_1 u_t + b_1`` is the same in every iteration, the
    decoder computes it once per example (``prepare``), and ``scores`` adds the part that depends on
    ``r``.

    Args:
        units: hidden size l.
        pool_size: number p of linear pieces of each maxout.
    """

    def __init__(self, units: int, pool_size: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.pool_size = pool_size
        self.summary = keras.layers.Dense(
            units, activation="tanh", use_bias=False, name="summary", dtype=self.dtype_policy
        )
        self.first = self.make_first_layer()
        self.second = Maxout(units, pool_size, name="second", dtype=self.dtype_policy)
        self.score = Maxout(1, pool_size, name="score", dtype=self.dtype_policy)

    def make_first_layer(self) -> Maxout:
        """Makes the layer that reads [u_t; r]; subclasses may replace it."""
        return Maxout(self.units, self.pool_size, name="first", dtype=self.dtype_policy)

    def build(self, encoding_shape: tuple[Any, ...]) -> None:
        """Creates the weights for an encoding (B, m, 2l)."""
        encoding_dim, units = encoding_shape[-1], self.units
        self.summary.build((None, units + 2 * encoding_dim))
        self.first.build([(None, None, encoding_dim), (None, units)])
        self.second.build([(None, None, units)])
        self.score.build([(None, None, units), (None, None, units)])

    def call(self, encoding: Tensor, hidden: Tensor, start: Tensor, end: Tensor) -> Tensor:
        """Scores every position.

        Args:
            encoding: U (B, m, 2l).
            hidden: decoder state h (B, l).
            start: encoding u_s of the estimated start (B, 2l).
            end: encoding u_e of the estimated end (B, 2l).

        Returns:
            (B, m) scores, padding included.
        """
        r = self.summary(
            ops.concatenate([hidden, start, end], axis=-1)
        )  # (10) tanh(W_D [h; u_s; u_e])
        m1 = self.first([encoding, ops.expand_dims(r, 1)])  # (11) maxout(W_1 [u_t; r] + b_1)
        m2 = self.second([m1])  # (12) maxout(W_2 m1 + b_2), (B, m, l)
        return ops.squeeze(self.score([m1, m2]), -1)  # (9) maxout(W_3 [m1; m2] + b_3), (B, m)

    def prepare(self, encoding: Tensor) -> Tensor:
        """Computes W_1 u_t + b_1 once for all iterations: U (B, m, 2l) -> (B, m, p * l)."""
        return self.first.add_bias(self.first.project(0, encoding))

    def scores(self, prepared: Tensor, hidden: Tensor, start: Tensor, end: Tensor) -> Tensor:
        """Scores as ``call``, but from the result of ``prepare`` (B, m, p * l)."""
        r = self.summary(ops.concatenate([hidden, start, end], axis=-1))  # (B, l)
        pieces = ops.expand_dims(self.first.project(1, r), 1)  # (B, 1, p * l)
        m1 = self.first.pool(prepared + pieces)  # (B, m, l)
        return ops.squeeze(self.score([m1, self.second([m1])]), -1)  # (B, m)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"units": self.units, "pool_size": self.pool_size}


@keras.saving.register_keras_serializable(package="zoo")
class HighwayMixtureNetwork(HighwayMaxoutNetwork):
    """A Highway Maxout Network with experts as its first layer (DCN+)."""

    def make_first_layer(self) -> Maxout:
        """Makes the mixture of experts that reads [u_t; r]."""
        return MixtureOfExperts(self.units, self.pool_size, name="first", dtype=self.dtype_policy)
