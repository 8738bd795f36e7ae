"""Attention over the features of a row: one learned query, one output, one weight a feature.

Roth, "Is attention really all you need?", section 3.3, in terms of queries, keys and values
(section 2.3). The text has no equations; these are the project's:

    v_f = x_f a_f + b_f, or a row of table f        a number, or a category
    e_f = q^T tanh(W_k v_f + c_f + W_c mean_g v_g)  c_f: keys know which feature they are
    alpha = normalise(e)                            softmax, sparsemax or sigmoid
    y = W_2 relu(W_1 sum_f alpha_f v_f + b_1) + b_2

A missing feature has weight exactly 0 and does not enter the mean, which runs over the features
present.

Options beyond these equations:
    contextual: without the mean over the row, weights depend on each feature's own value alone;
    entropy: of the weights, times this coefficient, is added to each example's loss. It makes
        weights unequal; of sigmoid gates it is the sum of the entropies of the gates;
    sparsity: the sum of the weights, likewise; softmax and sparsemax weights sum to one anyway;
    value_penalty: the sum of squares of the scales a_f and of the tables, times this, is added to
        the loss. Without it, a small weight on a long vector is the same as a large weight on a
        short one;
    feature_dropout: in training, features are taken for missing at this rate. A model that has seen
        rows with gaps can be asked what it says without a feature.

Shape letters: B rows, F features, d vector, k key, n hidden, C classes.

Expected result: on Syn1 to Syn6 with 11 features, the features behind the labels get the largest
weights; ``docs/architectures/feature_attention.md`` has the figures.

NumPy reference: ``tests/references/feature_attention.py``. Docs:
``docs/architectures/feature_attention.md``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap, BaseModel
from zoo.models.core.inputs import Features, InputKind
from zoo.models.core.registry import register_model
from zoo.models.core.targets import Targets
from zoo.models.feature_attention.feature_vectors import FeatureVectors, Row
from zoo.ops.cross_entropy import precise_cross_entropy
from zoo.ops.masking import Tensor, at_least_float32, masked_softmax
from zoo.ops.numbers import check_choice, check_not_negative, check_rate
from zoo.ops.penalties import squares_penalty
from zoo.ops.sparsemax import sparsemax

Normalise = Literal["softmax", "sparsemax", "sigmoid"]


def gates(scores: Tensor, mask: Tensor) -> Tensor:
    """Computes a gate from 0 to 1 for each real position, without any constraint on the sum."""
    return ops.sigmoid(scores) * ops.cast(mask, scores.dtype)


_NORMALISERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "softmax": masked_softmax,
    "sparsemax": sparsemax,
    "sigmoid": gates,
}


@register_model(task="tabular")
class FeatureAttention(BaseModel):
    """Classifies the row of a table, or predicts a value, and weighs its features.

    Args:
        numeric: number of numeric features.
        categorical: number of categories of each categorical feature.
        classes: number of classes C; None: a value is predicted.
        embedding_dim: size d of a feature's vector.
        attention_dim: size k of its key; None: d.
        hidden_dim: units n of the rectified layer.
        normalise: from scores to weights: ``"softmax"``, ``"sparsemax"`` or ``"sigmoid"``.
        contextual: whether a weight depends on the other features of the row.
        entropy: coefficient of the entropy of the weights in the loss.
        sparsity: coefficient of the sum of the weights in the loss.
        value_penalty: coefficient of the sum of squares of scales and tables in the loss.
        dropout: rate of dropout on the rectified layer.
        feature_dropout: rate at which features are taken for missing in training.

    Raises:
        ValueError: if there is no feature, a size is not positive, ``normalise`` or a rate is out
            of range, or a coefficient is negative or infinite.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"numeric": 11, "classes": 2},
        "tiny": {
            "numeric": 2,
            "categorical": (3, 2),
            "embedding_dim": 4,
            "attention_dim": 3,
            "hidden_dim": 5,
        },
    }
    INPUTS: ClassVar[Mapping[str, InputKind]] = {"row": Features("numeric", "categorical")}
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "features": AttentionMap(axes.Slots(1), axes.Features("row"))
    }
    PREDICTION = "logits"
    TARGETS = Targets(classes=True)

    def __init__(
        self,
        numeric: int,
        categorical: Sequence[int] = (),
        classes: int | None = 2,
        embedding_dim: int = 32,
        attention_dim: int | None = None,
        hidden_dim: int = 128,
        normalise: Normalise = "softmax",
        contextual: bool = True,
        entropy: float = 0.0,
        sparsity: float = 0.0,
        value_penalty: float = 0.0,
        dropout: float = 0.0,
        feature_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(autocast=False, **kwargs)
        if not isinstance(categorical, Iterable):
            raise ValueError(f"categorical must be a list of sizes, got {categorical!r}")
        categorical = tuple(categorical)  # a list, where it comes from JSON
        self.keep_arguments(locals())
        self._check_arguments()
        if normalise == "sigmoid":
            gates = self.ATTENTION["features"]._replace(normalised=False, bounded=False)
            self.declare(attention={"features": gates})
        if classes is None:
            self.declare(targets=Targets(), prediction="value")
        policy = self.dtype_policy
        self.vectors = FeatureVectors(
            self.numeric, self.categorical, self.embedding_dim, name="vectors", dtype=policy
        )
        self.hidden = keras.layers.Dense(
            self.hidden_dim, activation="relu", name="hidden", dtype=policy
        )
        self.output_layer = keras.layers.Dense(self.classes or 1, name="output", dtype=policy)
        self.drop = keras.layers.Dropout(dropout, name="dropout", dtype=policy)
        self.hide = keras.layers.Dropout(feature_dropout, name="feature_dropout", dtype="float32")

    def _check_arguments(self) -> None:
        if type(self.numeric) is not int or self.numeric < 0:
            raise ValueError(f"numeric must be a whole number of at least 0, got {self.numeric!r}")
        if not self.numeric and not self.categorical:
            raise ValueError("numeric must be positive without categorical features, got 0")
        for size in self.categorical:
            check_sizes(categorical=size)
        for name in ("classes", "attention_dim"):
            if getattr(self, name) is not None:
                check_sizes(**{name: getattr(self, name)})
        check_sizes(embedding_dim=self.embedding_dim, hidden_dim=self.hidden_dim)
        check_choice("normalise", self.normalise, get_args(Normalise))
        for name in ("entropy", "sparsity", "value_penalty"):
            check_not_negative(**{name: getattr(self, name)})
        check_rate("dropout", self.dropout)
        check_rate("feature_dropout", self.feature_dropout)

    @property
    def features(self) -> int:
        """Number F of features."""
        return self.numeric + len(self.categorical)

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        units, size = self.attention_dim or self.embedding_dim, self.embedding_dim
        glorot = keras.initializers.GlorotUniform
        normal = keras.initializers.RandomNormal
        self.vectors.build()
        self.key_kernel = self.add_weight(
            shape=(size, units), initializer=glorot(), name="key_kernel"
        )
        self.key_bias = self.add_weight(
            shape=(self.features, units), initializer=normal(stddev=0.5), name="key_bias"
        )
        if self.contextual:
            self.context_kernel = self.add_weight(
                shape=(size, units), initializer=glorot(), name="context_kernel"
            )
        self.query = self.add_weight(
            shape=(units,), initializer=normal(stddev=units**-0.5), name="query"
        )
        self.hidden.build((None, size))
        self.output_layer.build((None, self.hidden_dim))
        if self.value_penalty:
            for weight in self.vectors.weights:
                if not weight.path.endswith("/shift"):
                    weight.regularizer = squares_penalty(self.value_penalty)
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Predicts the outputs of rows.

        Args:
            inputs: ``row`` float32 (B, F), numbers and then ids of categories. NaN is missing, and
                so are an infinite number and an id that its feature does not have.
            training: whether dropout is on.

        Returns:
            ``logits`` (B, C), or ``value`` (B,); ``attention``: ``features`` (B, 1, F), the weights
            of the features, 0 where missing.
        """
        row = self.read(inputs["row"], training)
        weights = self.weigh(row)  # alpha (B, F)
        wide = at_least_float32(row.vectors)
        context = ops.einsum("bf,bfd->bd", ops.cast(weights, wide.dtype), wide)  # (B, d)
        hidden = self.hidden(ops.cast(context, row.vectors.dtype))  # (B, n)
        output = self.output_layer(self.drop(hidden, training=training))  # (B, C), or (B, 1)
        named = {"logits": output} if self.classes else {"value": output[:, 0]}
        return named | {"attention": {"features": weights[:, None]}}  # (B, 1, F)

    def read(self, row: Tensor, training: bool = False) -> Row:
        """Looks up the vectors of rows (B, F); in training some features are taken for missing."""
        row = at_least_float32(row)  # integers have no NaN
        if self.feature_dropout and training:
            kept = self.hide(ops.ones_like(row, "float32"), training=True) > 0
            row = ops.where(kept, row, ops.cast(float("nan"), row.dtype))
        found: Row = self.vectors(row)
        return found

    def weigh(self, row: Row) -> Tensor:
        """Computes the weights alpha (B, F), float32 at least."""
        dtype = row.vectors.dtype
        keys = ops.matmul(row.vectors, ops.cast(self.key_kernel, dtype))  # (B, F, k)
        keys = keys + ops.cast(self.key_bias, dtype)
        if self.contextual:
            present = ops.cast(row.present, "int32")
            count = ops.cast(ops.maximum(ops.sum(present, axis=1), 1), dtype)  # (B,)
            mean = ops.sum(row.vectors, axis=1) / count[:, None]  # (B, d)
            context = ops.matmul(mean, ops.cast(self.context_kernel, dtype))  # (B, k)
            keys = keys + context[:, None]
        scores = ops.matmul(ops.tanh(keys), ops.cast(self.query, dtype))  # e (B, F)
        return _NORMALISERS[self.normalise](at_least_float32(scores), row.present)

    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Cross entropy, or half the squared error, and the terms of the weights."""
        if self.classes:
            losses = precise_cross_entropy(outputs["logits"], targets)
        else:
            value = at_least_float32(outputs["value"])
            losses = 0.5 * ops.square(value - ops.cast(targets, value.dtype))
        weights = ops.cast(outputs["attention"]["features"][:, 0], losses.dtype)
        if self.entropy:
            losses = losses + self.entropy * self._entropy(weights)
        if self.sparsity:
            losses = losses + self.sparsity * ops.sum(weights, axis=1)
        return losses, ops.ones_like(losses)

    def _entropy(self, weights: Tensor) -> Tensor:
        """Entropy (B,) of a distribution (B, F), or sum of the entropies of gates."""
        if self.normalise != "sigmoid":
            return _negative_x_log_x(weights)
        return _negative_x_log_x(weights) + _negative_x_log_x(1 - weights)


def _negative_x_log_x(weights: Tensor) -> Tensor:
    """Computes - sum_f w_f log w_f (B,), of which 0 gives 0 with a zero gradient."""
    positive = weights > 0
    safe = ops.where(positive, weights, ops.ones_like(weights))
    return -ops.sum(ops.where(positive, weights * ops.log(safe), 0), axis=1)
