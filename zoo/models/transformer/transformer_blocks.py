"""Transformer blocks (Vaswani et al. 2017, section 3.1): attention, then a feed-forward network.

``norm="post"``, as printed: ``x <- LayerNorm(x + Dropout(Sublayer(x)))``. ``norm="pre"``, as in
later released code: ``x <- x + Dropout(Sublayer(LayerNorm(x)))``. Stacks of these blocks are in
``transformer_stacks.py``.

Shape letters: B batch, T positions, S positions of the source, R rows of a search (R / B hypotheses
of each sentence), C columns of a cache, d model, h heads.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import keras
from keras import ops

from zoo.attention.multi_head import CrossAttention, SelfAttention
from zoo.attention.score import MaskFree, check_input_size, positions_mask
from zoo.ops.masking import Tensor, as_mask, refuse_attached_mask

Norm = Literal["post", "pre"]
KeysAndValues = tuple[Tensor, Tensor]
OPTIONS = (
    "model_dim",
    "feed_forward_dim",
    "num_heads",
    "key_dim",
    "value_dim",
    "norm",
    "dropout",
    "attention_dropout",
    "activation_dropout",
    "use_attention_bias",
)
"""Names of the constructor arguments of a block."""
EPSILON = 1e-6
"""Epsilon of LayerNorm; Keras' default is a thousand times larger."""


def layer_norm(name: str, dtype: Any = None) -> keras.layers.LayerNormalization:
    """Makes a LayerNorm over the last axis with gain and bias."""
    return keras.layers.LayerNormalization(epsilon=EPSILON, name=name, dtype=dtype)


class _Block(MaskFree):
    """Self-attention and the feed-forward network, each in a residual sublayer.

    Args:
        model_dim: size d of inputs and outputs.
        feed_forward_dim: units of the feed-forward network's hidden layer.
        num_heads: heads h.
        key_dim: size of a head's queries and keys; None: d / h.
        value_dim: size of a head's values; None: d / h.
        norm: ``"post"`` or ``"pre"``.
        dropout: rate of dropout on sublayer outputs.
        attention_dropout: on the weights of attention; the paper has none.
        activation_dropout: on the hidden layer of the feed-forward network; likewise.
        use_attention_bias: whether projections of attention have biases; likewise.

    Raises:
        ValueError: if ``norm`` is neither, or the sizes do not fit.
    """

    def __init__(
        self,
        model_dim: int,
        feed_forward_dim: int,
        num_heads: int,
        key_dim: int | None = None,
        value_dim: int | None = None,
        norm: Norm = "post",
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation_dropout: float = 0.0,
        use_attention_bias: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if norm not in ("post", "pre"):
            raise ValueError(f"norm must be one of ['post', 'pre'], got {norm!r}")
        self.model_dim = model_dim
        self.feed_forward_dim = feed_forward_dim
        self.num_heads = num_heads
        self.key_dim = key_dim
        self.value_dim = value_dim
        self.norm = norm
        self.dropout = dropout
        self.attention_dropout = attention_dropout
        self.activation_dropout = activation_dropout
        self.use_attention_bias = use_attention_bias
        policy = self.dtype_policy
        self.self_attention = self.make_attention(SelfAttention, "self_attention")
        self.self_norm = layer_norm("self_norm", policy)
        self.inner = keras.layers.Dense(
            feed_forward_dim, activation="relu", name="inner", dtype=policy
        )
        self.outer = keras.layers.Dense(model_dim, name="outer", dtype=policy)
        self.feed_forward_norm = layer_norm("feed_forward_norm", policy)
        self.drop = keras.layers.Dropout(dropout, name="dropout", dtype=policy)
        self.drop_activation = keras.layers.Dropout(
            activation_dropout, name="activation_dropout", dtype=policy
        )

    def make_attention(self, cls: Callable[..., Any], name: str) -> Any:
        """Makes an attention layer with this block's sizes."""
        return cls(
            self.model_dim,
            self.num_heads,
            self.key_dim,
            self.value_dim,
            use_bias=self.use_attention_bias,
            dropout=self.attention_dropout,
            name=name,
            dtype=self.dtype_policy,
        )

    def build(self, values_shape: Any = None, *_: Any) -> None:
        """Creates every weight."""
        check_input_size(self.model_dim, values_shape)
        shape = (None, None, self.model_dim)
        for layer in (self.self_attention, self.self_norm, self.inner, self.feed_forward_norm):
            layer.build(shape)
        self.outer.build((None, None, self.feed_forward_dim))
        self.built = True

    def add_sublayer(
        self,
        norm: keras.layers.LayerNormalization,
        sublayer: Callable[[Tensor], tuple[Tensor, Any]],
        values: Tensor,
        training: bool = False,
    ) -> tuple[Tensor, Any]:
        """Applies a residual sublayer; returns the values and the sublayer's other outputs."""
        outputs, rest = sublayer(norm(values) if self.norm == "pre" else values)
        summed = values + self.drop(outputs, training=training)
        return summed if self.norm == "pre" else norm(summed), rest

    def add_feed_forward(self, values: Tensor, training: bool = False) -> Tensor:
        """Applies the residual sublayer ``max(0, x W_1 + b_1) W_2 + b_2``."""

        def feed_forward(values: Tensor) -> tuple[Tensor, None]:
            hidden = self.drop_activation(self.inner(values), training=training)
            return self.outer(hidden), None

        return self.add_sublayer(self.feed_forward_norm, feed_forward, values, training)[0]

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {name: getattr(self, name) for name in OPTIONS}


@keras.saving.register_keras_serializable(package="zoo")
class EncoderBlock(_Block):
    """Self-attention and feed-forward network, for encoders and language models."""

    def call(
        self,
        values: Tensor,
        mask: Tensor | None = None,
        causal: bool = False,
        training: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Reads a whole sequence.

        Args:
            values: (B, T, d).
            mask: bool (B, T), True at real positions; None: all are.
            causal: whether a position sees only itself and those before it.
            training: whether dropout is on.

        Returns:
            (B, T, d), and the weights (B, h, T, T).
        """

        def attend(values: Tensor) -> Any:
            return self.self_attention(values, mask=mask, causal=causal, training=training)

        values, weights = self.add_sublayer(self.self_norm, attend, values, training)
        return self.add_feed_forward(values, training), weights

    def compute_mask(self, inputs: Any, previous_mask: Any) -> tuple[Any, None]:
        """Passes the positions' mask on to the outputs, and none to the weights."""
        return positions_mask(previous_mask), None

    def advance(
        self, values: Tensor, cache: KeysAndValues, seen: Tensor
    ) -> tuple[Tensor, KeysAndValues]:
        """Reads one more position of a causal block: see ``SelfAttention.advance``.

        Args:
            values: (R, d), with the rows of a sentence next to each other.
            cache: keys and values (B, h, C, ...) of the earlier columns; initially
                ``self_attention.empty_cache(B)``.
            seen: bool (B, R / B, C + R / B).

        Returns:
            (R, d), and the cache with R / B more columns.
        """

        def attend(values: Tensor) -> tuple[Tensor, KeysAndValues]:
            return self.self_attention.advance(values, cache, seen)

        values, cache = self.add_sublayer(self.self_norm, attend, values)
        return self.add_feed_forward(values), cache


@keras.saving.register_keras_serializable(package="zoo")
class DecoderBlock(_Block):
    """Causal self-attention, attention to a source, and the feed-forward network."""

    CARRIERS: ClassVar = ("values",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cross_attention = self.make_attention(CrossAttention, "cross_attention")
        self.cross_norm = layer_norm("cross_norm", self.dtype_policy)

    def build(self, values_shape: Any = None, *_: Any) -> None:
        """Creates every weight."""
        super().build(values_shape)
        self.cross_attention.build()
        self.cross_norm.build((None, None, self.model_dim))

    def call(
        self,
        values: Tensor,
        source: KeysAndValues,
        source_mask: Tensor,
        mask: Tensor | None = None,
        training: bool = False,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Reads a whole target.

        Args:
            values: (B, T, d).
            source: keys and values from ``cross_attention.prepare``.
            source_mask: bool (B, S), True at real positions.
            mask: bool (B, T), likewise; None: all are. Later positions are never visible.
            training: whether dropout is on.

        Returns:
            (B, T, d); the weights of self-attention (B, h, T, T) and of the source (B, h, T, S).

        Raises:
            ValueError: if a mask holds floats or has another shape, or ``mask`` is None although
                Keras attached one to the values.
        """
        if mask is None:
            refuse_attached_mask(values=values)
        source_mask = as_mask(
            source_mask, (values.shape[0], source[0].shape[2]), name="source_mask"
        )

        def attend(values: Tensor) -> Any:
            return self.self_attention(values, mask=mask, causal=True, training=training)

        def cross(values: Tensor) -> Any:
            return self.cross_attention(values, source, source_mask, training=training)

        values, weights = self.add_sublayer(self.self_norm, attend, values, training)
        values, alignment = self.add_sublayer(self.cross_norm, cross, values, training)
        return self.add_feed_forward(values, training), weights, alignment

    def advance(
        self,
        values: Tensor,
        cache: KeysAndValues,
        seen: Tensor,
        source: KeysAndValues,
        source_mask: Tensor,
    ) -> tuple[Tensor, KeysAndValues, Tensor]:
        """Reads one more position in every row.

        Args:
            values: (R, d), with the rows of a sentence next to each other.
            cache: as in ``EncoderBlock.advance``.
            seen: bool (B, R / B, C + R / B), likewise.
            source: keys and values (B, h, S, ...); they are not repeated for each row.
            source_mask: bool (B, S).

        Returns:
            (R, d), the cache with R / B more columns, and the weights on the source
            (B, h, R / B, S).
        """

        def attend(values: Tensor) -> tuple[Tensor, KeysAndValues]:
            return self.self_attention.advance(values, cache, seen)

        batch, beam, _ = ops.shape(seen)

        def cross(values: Tensor) -> tuple[Tensor, Tensor]:
            return self.cross_attention.attend_rows(values, batch, beam, source, source_mask)

        values, cache = self.add_sublayer(self.self_norm, attend, values)
        values, alignment = self.add_sublayer(self.cross_norm, cross, values)
        return self.add_feed_forward(values), cache, alignment
