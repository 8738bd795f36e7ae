"""Structured attention: weights are marginals of a distribution over segments or trees.

Yoon Kim, Carl Denton, Luong Hoang, Alexander M. Rush: Structured Attention Networks. ICLR 2017,
arXiv 1702.00887. Covered: section 3.1 (``SegmentationAttention``, a linear chain) and section 3.2
(``SyntacticAttention``, projective dependency trees). A softmax selects one position;
these select a segmentation of the sentence, or one head for each of its words.

Where several readings exist:
    potentials of a chain: as printed, the unary potential of an inner position is in both of its
        pairs, so that it counts twice; here, as in the released code, once (``double_count``). The
        released code adds start and end edges, which the paper does not have; nor does this;
    root: it may have several dependents, as in the released code; ``multi_root=False`` allows one.

Shape letters: B batch, Q queries of each example, S positions of each example, N positions with the
root, d_s query, d_h key or state, d value.
"""

from typing import Any, ClassVar, Self

import keras
from keras import ops

from zoo.attention.additive_scores import AdditiveScore
from zoo.attention.multiplicative_scores import GeneralScore
from zoo.attention.score import MaskFree, Score, build_score, check_score
from zoo.attention.sharing import serialize_part
from zoo.ops.chains import chain_log_marginals
from zoo.ops.masking import (
    Tensor,
    as_mask,
    at_least_float32,
    masked_softmax,
    refuse_attached_mask,
)
from zoo.ops.numbers import check_flag, check_not_negative, check_positive, check_size
from zoo.ops.penalties import squares_penalty
from zoo.ops.trees import tree_marginals
from zoo.ops.windows import is_right_padded, sequence_lengths


@keras.saving.register_keras_serializable(package="zoo")
class SegmentationAttention(MaskFree):
    """Attention that selects segments: ``a_i = p(z_i = 1) / gamma``, ``c = sum_i a_i v_i``.

    ``z`` is a chain of binary states with the potentials ``theta_i(1) = score(s, h_i)``,
    ``theta_i(0) = 0`` and b for each pair of neighbours; ``gamma = sum_i p(z_i = 1) / lambda``, so
    that the weights sum to lambda. ``pairwise`` (2, 2) is b, state by next state; it starts at
    zeros, where positions are independent of each other.

    Args:
        score: the score function; None: ``GeneralScore()``, the paper's ``h_i^T W s``.
        total: lambda, the sum of a query's weights.
        double_count: whether the unary potentials of inner positions count twice, as printed.
        pairwise_l2: coefficient of the penalty on the squares of b, a loss of the layer; 0: none.

    Raises:
        ValueError: if ``score`` is not a ``Score``, ``total`` is not positive, or ``pairwise_l2``
            is negative.
    """

    CARRIERS: ClassVar = ("values", "keys")

    def __init__(
        self,
        score: Score | None = None,
        total: float = 2.0,
        double_count: bool = False,
        pairwise_l2: float = 0.005,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive(total=total)
        check_not_negative(pairwise_l2=pairwise_l2)
        self.score = check_score(GeneralScore(dtype=self.dtype_policy) if score is None else score)
        self.total = float(total)
        self.double_count = check_flag("double_count", double_count)
        self.pairwise_l2 = float(pairwise_l2)

    def build(
        self,
        queries_shape: tuple[Any, ...],
        values_shape: tuple[Any, ...],
        keys_shape: tuple[Any, ...] | None = None,
    ) -> None:
        """Creates b, and the score's weights for queries (B, Q, d_s) and keys (B, S, d_h)."""
        build_score(self.score, queries_shape, keys_shape or values_shape)
        penalty = squares_penalty(self.pairwise_l2) if self.pairwise_l2 else None
        self.pairwise = self.add_weight(
            shape=(2, 2),
            initializer="zeros",
            regularizer=penalty,
            autocast=False,
            name="pairwise",
        )

    def call(
        self,
        queries: Tensor,
        values: Tensor,
        mask: Tensor | None = None,
        keys: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attends to segments of ``values``.

        Args:
            queries: (B, Q, d_s).
            values: (B, S, d).
            mask: bool (B, S), True at real positions, which come before the padding; None: all are
                real.
            keys: (B, S, d_h); None: the values.

        Returns:
            The contexts (B, Q, d) and the weights (B, Q, S), which sum to lambda over the real
            positions and are exactly 0 on padding, in the compute dtype. In a graph, which cannot
            refuse its mask, an example with padding before real positions gives NaN.

        Raises:
            ValueError: if ``mask`` holds floats, has another shape or padding before real
                positions, or is None although Keras attached one to the values or keys.
        """
        if mask is None:
            refuse_attached_mask(values=values, keys=keys)
            mask = ops.ones(ops.shape(values)[:2], "bool")
        mask = as_mask(mask, values.shape[:2])
        prepared = self.score.prepare(values if keys is None else keys)
        weights = _or_nan(self.weigh(self.score(queries, prepared), mask), mask)
        wide = at_least_float32(values)
        contexts = ops.matmul(ops.cast(weights, wide.dtype), wide)
        return ops.cast(contexts, self.compute_dtype), ops.cast(weights, self.compute_dtype)

    def weigh(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Computes the weights (B, Q, S) from theta(1) (B, Q, S) and the mask bool (B, S)."""
        batch, count, length = ops.shape(scores)
        if self.double_count:
            scores = scores * ops.cast(_times_counted(mask), scores.dtype)[:, None]
        selected = ops.reshape(scores, (batch * count, length))
        unary = ops.stack([ops.zeros_like(selected), selected], axis=-1)  # (B Q, S, 2)
        lengths = ops.repeat(sequence_lengths(mask), count)  # (B Q,)
        logs = chain_log_marginals(unary, self.pairwise, lengths)[:, :, 1]  # (B Q, S)
        # p / sum(p) as a softmax of log p: the sum may underflow.
        logs = ops.reshape(logs, (batch, count, length))
        return self.total * masked_softmax(logs, mask[:, None])

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "score": serialize_part(self.score),
            "total": self.total,
            "double_count": self.double_count,
            "pairwise_l2": self.pairwise_l2,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Makes the layer and its score from the result of ``get_config``."""
        score = keras.saving.deserialize_keras_object(config["score"])
        return cls(**{**config, "score": score})


def _or_nan(weights: Tensor, mask: Tensor) -> Tensor:
    """Weights (B, Q, S), NaN where the mask (B, S) has padding before real positions.

    Chains and trees end at the number of real positions, so that they would be of other ones.
    """
    return ops.where(is_right_padded(mask)[:, None, None], weights, float("nan"))


def _times_counted(mask: Tensor) -> Tensor:
    """Pairs of real neighbours that hold each position: int32 (B, S), 0 to 2."""
    real = ops.cast(mask, "int32")
    pairs = real[:, 1:] * real[:, :-1]
    return ops.pad(pairs, [[0, 0], [1, 0]]) + ops.pad(pairs, [[0, 0], [0, 1]])


@keras.saving.register_keras_serializable(package="zoo")
class SyntacticAttention(MaskFree):
    """Self-attention along dependency trees: ``c_j = sum_i p(i is the head of j) x_i``.

    Arcs of a projective tree, from the head i to the dependent j, have the scores
    ``theta_ij = tanh(v^T tanh(W_1 h_i + W_2 h_j + b))``. Position 0 is the root, which has no head:
    put a symbol of its own before the sentence. The context of a word is its soft parent. XLA
    cannot compile the layer, so Keras' ``jit_compile="auto"`` does without it.

    Args:
        units: hidden size of the score.
        bound: whether there is the outer tanh.
        multi_root: whether the root may have several dependents, or exactly one.
        kernel_initializer: of W_1 and W_2.
        scale_initializer: of v.

    Raises:
        ValueError: if ``units`` is not a positive integer.
    """

    CARRIERS: ClassVar = ("states", "values")

    def __init__(
        self,
        units: int,
        bound: bool = True,
        multi_root: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        scale_initializer: Any = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.supports_jit = False  # spans of different widths have different shapes
        self.units = check_size("units", units)
        self.bound = check_flag("bound", bound)
        self.multi_root = check_flag("multi_root", multi_root)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.scale_initializer = keras.initializers.get(scale_initializer)
        self.score = AdditiveScore(
            self.units,
            use_bias=True,
            kernel_initializer=self.kernel_initializer,
            scale_initializer=self.scale_initializer,
            name="score",
            dtype=self.dtype_policy,
        )

    def build(
        self, states_shape: tuple[Any, ...], values_shape: tuple[Any, ...] | None = None
    ) -> None:
        """Creates W_1 (``key_kernel``), W_2 (``query_kernel``), b and v for states (B, N, d_h)."""
        build_score(self.score, states_shape, states_shape)

    def call(
        self, states: Tensor, mask: Tensor | None = None, values: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Computes every word's soft parent.

        Args:
            states: h (B, N, d_h), the root first.
            mask: bool (B, N), True at real positions, the root among them, which come before the
                padding; None: all are real.
            values: x (B, N, d); None: the states.

        Returns:
            The soft parents (B, N, d) and the weights (B, N, N), one row a word, in the compute
            dtype. The row of a real word sums to 1 over its heads; the rows of the root and of
            padding, and all columns of padding, are exactly 0. In a graph, which cannot refuse its
            mask, an example with padding before real positions gives NaN.

        Raises:
            ValueError: if ``mask`` holds floats, has another shape or padding before real
                positions, or is None although Keras attached one to the states or values.
        """
        values = states if values is None else values
        if mask is None:
            refuse_attached_mask(states=states, values=values)
            mask = ops.ones(ops.shape(states)[:2], "bool")
        mask = as_mask(mask, states.shape[:2])
        scores = self.score(states, self.score.prepare(states))  # dependents, heads (B, N, N)
        weights = self.weigh(ops.tanh(scores) if self.bound else scores, mask)
        weights = _or_nan(weights, mask)
        wide = at_least_float32(values)
        parents = ops.matmul(ops.cast(weights, wide.dtype), wide)
        return ops.cast(parents, self.compute_dtype), ops.cast(weights, self.compute_dtype)

    def compute_mask(self, inputs: Any, previous_mask: Any) -> tuple[Any, None]:
        """Passes the positions' mask on to their soft parents, and none to the weights."""
        return previous_mask, None

    def weigh(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Computes the weights (B, N, N) from theta (B, N, N), dependents by heads."""
        heads_first = ops.swapaxes(scores, 1, 2)
        marginals = tree_marginals(heads_first, sequence_lengths(mask), self.multi_root)
        return ops.swapaxes(marginals, 1, 2)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "bound": self.bound,
            "multi_root": self.multi_root,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "scale_initializer": keras.initializers.serialize(self.scale_initializer),
        }
