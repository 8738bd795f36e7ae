"""Multi-head attention (Vaswani et al. 2017, arXiv 1706.03762, section 3.2).

``MultiHead(Q, K, V) = [head_1; ...; head_h] W^O``,
``head_i = softmax(Q W_i^Q (K W_i^K)^T / sqrt(k)) V W_i^V``. No projection has a bias unless asked
for. The weights of all heads are always returned; callers that ignore them pay nothing.

A kernel holds one head after another. Within a head, projections of the same input lie side by
side, so that one product and one transposition compute them all.

Shape letters: B batch, T positions, Q queries, S keys, R rows of a search (R / B hypotheses of each
sentence), C columns of a cache, d model, h heads, k size of a head's queries and keys, v of its
values.
"""

import math
from typing import Any

import keras
from keras import ops

from zoo.attention.score import MaskFree, check_input_size, positions_mask
from zoo.attention.sharing import prepares_symbols
from zoo.ops.initializers import fresh
from zoo.ops.linear import project
from zoo.ops.masking import Tensor, at_least_float32, mask_of_heads, masked_softmax
from zoo.ops.numbers import check_flag, check_rate, check_size


class MultiHeadAttention(MaskFree):
    """Base of attention of a sequence to itself and to another one.

    Args:
        model_dim: size d of inputs and outputs.
        num_heads: heads h.
        key_dim: size k of a head's queries and keys; None: d / h.
        value_dim: size v of a head's values; None: d / h.
        use_bias: whether projections have biases, which start at zero; the paper's have none.
        dropout: rate of dropout on the weights; the paper has none.
        kernel_initializer: of each of W^Q, W^K, W^V and W^O.

    Raises:
        ValueError: if a size is not positive, or is None although h does not divide d; if
            ``dropout`` is not in [0, 1).
    """

    def __init__(
        self,
        model_dim: int,
        num_heads: int,
        key_dim: int | None = None,
        value_dim: int | None = None,
        use_bias: bool = False,
        dropout: float = 0.0,
        kernel_initializer: Any = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.model_dim = check_size("model_dim", model_dim)
        self.num_heads = check_size("num_heads", num_heads)
        self.key_dim = _head_dim("key_dim", key_dim, self.model_dim, self.num_heads)
        self.value_dim = _head_dim("value_dim", value_dim, self.model_dim, self.num_heads)
        self.use_bias = check_flag("use_bias", use_bias)
        self.dropout = check_rate("dropout", dropout)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.drop = keras.layers.Dropout(self.dropout, name="dropout", dtype=self.dtype_policy)
        self.drop.autocast = False  # attention is computed in float32 at least

    def add_input_projection(self, name: str, *head_dims: int, first: int = 0) -> tuple[Any, Any]:
        """Creates a bias and the kernel (d, h * sum of head_dims), initialised matrix by matrix."""
        d, h = self.model_dim, self.num_heads

        def initial(shape: tuple[int, ...], dtype: Any = None) -> Tensor:
            blocks = [
                ops.reshape(
                    fresh(self.kernel_initializer, number)((d, h * size), dtype), (d, h, size)
                )
                for number, size in enumerate(head_dims, first)
            ]
            return ops.reshape(ops.concatenate(blocks, axis=-1), shape)

        return self._add_projection(name, (d, h * sum(head_dims)), initial)

    def add_output_projection(self) -> None:
        """Creates W^O (h v, d), the fourth matrix after W^Q, W^K and W^V."""
        shape = (self.num_heads * self.value_dim, self.model_dim)
        drawn = fresh(self.kernel_initializer, 3)
        self.output_projection = self._add_projection("output", shape, drawn)

    def split_heads(
        self, values: Tensor, batch: Tensor | int, length: Tensor | int, *sizes: int
    ) -> list[Tensor]:
        """Splits projected vectors by head.

        Args:
            values: (B, T, h n) or (B T, h n), projected by a kernel of ``add_input_projection``.
            batch: B.
            length: T.
            *sizes: sizes of a head's projections, which lie side by side; n is their sum.

        Returns:
            (B, h, T, size), one for each size.
        """
        split = ops.reshape(values, (batch, length, self.num_heads, sum(sizes)))
        by_head = ops.transpose(split, (0, 2, 1, 3))  # (B, h, T, n)
        if len(sizes) == 1:
            return [by_head]
        cuts = [sum(sizes[:number]) for number in range(1, len(sizes))]
        parts: list[Tensor] = ops.split(by_head, cuts, axis=-1)
        return parts

    def scale(self, values: Tensor) -> Tensor:
        """Divides queries or keys by sqrt(k), which is cheaper than dividing the scores."""
        return values / math.sqrt(self.key_dim)

    def attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor, training: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Attends in every head and projects with W^O.

        Args:
            queries: (B, h, Q, k); either queries or keys are scaled.
            keys: (B, h, S, k).
            values: (B, h, S, v).
            mask: bool, broadcast to (B, h, Q, S).
            training: whether dropout is on.

        Returns:
            Rows (B Q, d), and the weights (B, h, Q, S), exactly 0 where masked. Both have the dtype
            of the values and are computed in float32 at least up to W^O.
        """
        dtype = values.dtype
        queries, keys, values = (at_least_float32(x) for x in (queries, keys, values))
        scores = ops.matmul(queries, ops.transpose(keys, (0, 1, 3, 2)))  # (B, h, Q, S)
        weights = masked_softmax(scores, mask)
        heads = ops.matmul(self.drop(weights, training=training), values)  # (B, h, Q, v)
        heads, weights = ops.cast(heads, dtype), ops.cast(weights, dtype)
        joined = ops.reshape(
            ops.transpose(heads, (0, 2, 1, 3)), (-1, self.num_heads * self.value_dim)
        )  # [head_1; ...; head_h] (B Q, h v)
        return project(joined, *self.output_projection), weights

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "model_dim": self.model_dim,
            "num_heads": self.num_heads,
            "key_dim": self.key_dim,
            "value_dim": self.value_dim,
            "use_bias": self.use_bias,
            "dropout": self.dropout,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }

    def _add_projection(self, name: str, shape: tuple[int, int], initial: Any) -> tuple[Any, Any]:
        kernel = self.add_weight(shape=shape, initializer=initial, name=f"{name}_kernel")
        if not self.use_bias:
            return kernel, None
        return kernel, self.add_weight(shape=shape[1:], initializer="zeros", name=f"{name}_bias")


class JoinedProjection(MultiHeadAttention):
    """Base of attention of a sequence to itself: one product for queries, keys and values."""

    def build(self, inputs_shape: Any = None, *_: Any) -> None:
        """Creates input_kernel (d, h (2k + v)), with W^Q, W^K, W^V per head, and output_kernel."""
        check_input_size(self.model_dim, inputs_shape)
        self.input_projection = self.add_input_projection("input", *self._sizes())
        self.add_output_projection()
        self.built = True

    def project_inputs(
        self, inputs: Tensor, batch: Tensor | int, length: Tensor | int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Projects (B, T, d) or (B T, d): scaled queries and keys (..., k), values (B, h, T, v)."""
        projected = project(inputs, *self.input_projection)
        queries, keys, values = self.split_heads(projected, batch, length, *self._sizes())
        return self.scale(queries), keys, values

    def _sizes(self) -> tuple[int, int, int]:
        """Returns the sizes of a head's projections, side by side in the kernel."""
        return self.key_dim, self.key_dim, self.value_dim


@keras.saving.register_keras_serializable(package="zoo")
class SelfAttention(JoinedProjection):
    """Multi-head self-attention; its arguments are those of ``MultiHeadAttention``."""

    def call(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        causal: bool = False,
        training: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Attends over whole sequences.

        Args:
            inputs: (B, T, d).
            mask: bool (B, T), True at real positions, or (B, T, T) if it depends on the query;
                None: all are real.
            causal: whether a position sees only itself and those before it.
            training: whether dropout is on.

        Returns:
            (B, T, d), and the weights (B, h, T, T).
        """
        batch, length, _ = ops.shape(inputs)
        rows, columns, _ = inputs.shape  # None where unknown
        if mask is None:
            seen = ops.ones((1, 1, 1, 1), "bool")
        else:
            seen = mask_of_heads(mask, rows, columns, columns)
        if causal:
            positions = ops.arange(length)
            seen = seen & (positions[None, :] <= positions[:, None])
        queries, keys, values = self.project_inputs(inputs, batch, length)
        outputs, weights = self.attend(queries, keys, values, seen, training)
        return ops.reshape(outputs, (batch, length, self.model_dim)), weights

    def compute_mask(self, inputs: Any, previous_mask: Any) -> tuple[Any, None]:
        """Passes the positions' mask on to the outputs, and none to the weights."""
        return positions_mask(previous_mask), None

    def empty_cache(self, batch: Tensor | int) -> tuple[Tensor, Tensor]:
        """Makes the empty keys and values that ``advance`` starts from."""
        return (
            ops.zeros((batch, self.num_heads, 0, self.key_dim), self.compute_dtype),
            ops.zeros((batch, self.num_heads, 0, self.value_dim), self.compute_dtype),
        )

    def advance(
        self, inputs: Tensor, cache: tuple[Tensor, Tensor], seen: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Reads one more position in every row.

        The rows of a sentence share one cache, and each adds a column to it. A search that reorders
        its rows leaves the cache alone and reorders ``seen``, which is far smaller. One product
        with the columns of all rows is also faster than one product per row.

        Args:
            inputs: (R, d), with the rows of a sentence next to each other.
            cache: keys (B, h, C, k) and values (B, h, C, v) of the earlier columns.
            seen: bool (B, R / B, C + R / B): the columns on each row's path. The last R / B are
                those that the rows of the sentence add now.

        Returns:
            (R, d), and the cache with R / B more columns.
        """
        batch, beam, _ = ops.shape(seen)
        queries, keys, values = self.project_inputs(inputs, batch, beam)
        keys = ops.concatenate([cache[0], keys], axis=2)
        values = ops.concatenate([cache[1], values], axis=2)
        outputs, _ = self.attend(queries, keys, values, seen[:, None])
        return outputs, (keys, values)


@keras.saving.register_keras_serializable(package="zoo")
class CrossAttention(MultiHeadAttention):
    """Multi-head attention to another sequence, whose keys and values are computed once."""

    def build(self, inputs_shape: Any = None, *_: Any) -> None:
        """Creates query_kernel (d, h k), memory_kernel (d, h (k + v)), output_kernel (h v, d)."""
        check_input_size(self.model_dim, inputs_shape)
        k, v = self.key_dim, self.value_dim
        self.query_projection = self.add_input_projection("query", k)
        self.memory_projection = self.add_input_projection("memory", k, v, first=1)  # W^K, W^V
        self.add_output_projection()
        self.built = True

    @prepares_symbols
    def prepare(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Projects the memory (B, S, d) to scaled keys (B, h, S, k) and values (B, h, S, v)."""
        batch, length, _ = ops.shape(memory)
        projected = project(memory, *self.memory_projection)
        keys, values = self.split_heads(projected, batch, length, self.key_dim, self.value_dim)
        return self.scale(keys), values

    def call(
        self,
        inputs: Tensor,
        prepared: tuple[Tensor, Tensor],
        mask: Tensor,
        training: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Attends to a prepared memory.

        Args:
            inputs: (B, Q, d).
            prepared: keys and values from ``prepare``.
            mask: bool (B, S), True at real positions.
            training: whether dropout is on.

        Returns:
            (B, Q, d), and the weights (B, h, Q, S).
        """
        batch, length, _ = ops.shape(inputs)
        outputs, weights = self.attend_rows(inputs, batch, length, prepared, mask, training)
        return ops.reshape(outputs, (batch, length, self.model_dim)), weights

    def attend_rows(
        self,
        inputs: Tensor,
        batch: Tensor | int,
        length: Tensor | int,
        prepared: tuple[Tensor, Tensor],
        mask: Tensor,
        training: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Attends with Q = ``length`` queries, (B, Q, d) or (B Q, d), and returns rows (B Q, d)."""
        projected = project(inputs, *self.query_projection)
        (queries,) = self.split_heads(projected, batch, length, self.key_dim)
        mask = mask_of_heads(mask, queries.shape[0], queries.shape[2], prepared[0].shape[2])
        return self.attend(queries, *prepared, mask, training)


def _head_dim(name: str, size: int | None, model_dim: int, num_heads: int) -> int:
    """Returns a head's size, by default its share of the model's."""
    if size is not None:
        return check_size(name, size)
    if model_dim % num_heads:
        raise ValueError(
            f"{name} must be given, got None: num_heads, {num_heads}, does not divide"
            f" model_dim, {model_dim}"
        )
    return model_dim // num_heads
