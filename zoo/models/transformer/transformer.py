"""The Transformer: translation with attention alone.

Ashish Vaswani et al.: Attention Is All You Need. NIPS 2017, arXiv 1706.03762. Covered: section 3
(the architecture) and 5.4 (dropout, label smoothing); the schedule and the average of the last
checkpoints (5.3, 6.1) are in ``zoo.training``.

Where the paper is silent or several readings exist:
    norm: after the residual sum, as printed, and nothing after the last layer; ``norm="pre"``, as
        in later released code, with a final LayerNorm after each stack;
    LayerNorm: epsilon 1e-6, as in the released code;
    positions: sines and cosines alternate, as printed; ``"learned"`` is table 3, row E;
    embeddings: initial deviation d^-0.5, as in the released code, times sqrt(d) at look-up; one
        table for source, target and softmax, or three with ``shared_embeddings=False``;
    alignment: the mean over heads of the cross attention of the last layer but one, the layer that
        Garg et al. 2019 (arXiv 1909.02074) found to align best; ``alignment_layer`` picks another;
    label smoothing: see ``zoo.ops.cross_entropy``;
    dropout of attention weights and in the feed-forward networks: not in the paper, off.

Training reads a whole target at once. ``step`` reads one more token and caches keys and values. The
hypotheses of a sentence share one cache, which a search never reorders.

Shape letters: B sources, R rows (hypotheses), S source tokens, T target tokens, C columns of the
cache, d model, h heads, N layers, V target vocabulary.

Expected result: 27.3 (base) and 28.4 (big) BLEU on WMT14 English-German; ``docs/translation.md``
has results of this code on Multi30k.

NumPy reference: ``tests/references/transformer.py``. Docs: ``docs/architectures/transformer.md``.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.layers.embedding import WordEmbedding
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.registry import register_model
from zoo.models.core.sequence_to_sequence import LossNormaliser, SequenceToSequenceModel
from zoo.models.transformer.positions import LearnedPositions, SinusoidalPositions
from zoo.models.transformer.tied_steps import TiedSteps
from zoo.models.transformer.transformer_blocks import OPTIONS, Norm
from zoo.models.transformer.transformer_stacks import DecoderStack, EncoderStack, own_columns
from zoo.ops.cross_entropy import SmoothingOver
from zoo.ops.linear import project
from zoo.ops.masking import Tensor, mask_from_ids, mask_rows
from zoo.ops.numbers import check_choice, check_rate

Positions = Literal["sinusoidal", "learned"]
_PAPER = {"dropout": 0.1, "label_smoothing": 0.1}
_BIG = {"model_dim": 1024, "feed_forward_dim": 4096, "num_heads": 16, "label_smoothing": 0.1}
_GERMAN = {"source_vocabulary_size": 37_000, "target_vocabulary_size": 37_000}
_FRENCH = {"source_vocabulary_size": 32_000, "target_vocabulary_size": 32_000}
_LAYERS_AND_HEADS = ("depth", "num_heads")


@register_model(task="translation")
class Transformer(SequenceToSequenceModel):
    """Translates with stacks of multi-head attention.

    Args:
        source_vocabulary_size: number of source ids.
        target_vocabulary_size: number of target ids V.
        model_dim: size d of all vectors between the layers.
        feed_forward_dim: units of the feed-forward networks' hidden layers.
        num_heads: heads h.
        depth: layers N of the encoder, and of the decoder.
        key_dim: size of a head's queries and keys; None: d / h.
        value_dim: size of a head's values; None: d / h.
        shared_embeddings: whether one table serves source, target and softmax.
        positions: ``"sinusoidal"`` or ``"learned"``.
        maximum_positions: number of learned positions; later ones share the last one's vector.
        norm: ``"post"`` or ``"pre"``.
        use_attention_bias: whether projections of attention have biases.
        alignment_layer: decoder layer, from 0, whose cross attention is the alignment; None: the
            last but one, or the only one.
        dropout: rate of dropout on sublayer outputs and on sums of embeddings and positions.
        attention_dropout: on attention weights.
        activation_dropout: on the hidden layers of the feed-forward networks.
        label_smoothing: mass moved from the target to the ids of ``smoothing_over``.
        smoothing_over: ids that receive it, ``"others"`` or ``"all"``.
        loss_normaliser: whether the loss is a mean over ``"sentences"`` or ``"tokens"``.

    Raises:
        ValueError: if an option is not one of its choices, a size is not positive or does not fit,
            or a rate is not in [0, 1).
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {**_GERMAN, **_PAPER},
        "paper_bias": {**_GERMAN, **_PAPER, "use_attention_bias": True},
        "paper_big": {**_GERMAN, **_BIG, "dropout": 0.3},
        "paper_french": {**_FRENCH, **_PAPER},
        "paper_big_french": {**_FRENCH, **_BIG, "dropout": 0.1},
        "small": {"model_dim": 128, "feed_forward_dim": 256, "num_heads": 4, "depth": 4},
        "tiny": {
            "source_vocabulary_size": 17,
            "target_vocabulary_size": 13,
            "model_dim": 6,
            "feed_forward_dim": 7,
            "num_heads": 2,
            "depth": 2,
            "shared_embeddings": False,
            "maximum_positions": 4,
            "loss_normaliser": "sentences",
        },
    }
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "encoder": AttentionMap(
            axes.Tokens("source"), axes.Tokens("source"), stacked=_LAYERS_AND_HEADS
        ),
        "decoder": AttentionMap(
            axes.Steps("target"), axes.Steps("target"), stacked=_LAYERS_AND_HEADS
        ),
        "cross": AttentionMap(
            axes.Steps("target"), axes.Tokens("source"), stacked=_LAYERS_AND_HEADS
        ),
        "alignment": AttentionMap(axes.Steps("target"), axes.Tokens("source")),
    }

    def __init__(
        self,
        source_vocabulary_size: int,
        target_vocabulary_size: int,
        model_dim: int = 512,
        feed_forward_dim: int = 2048,
        num_heads: int = 8,
        depth: int = 6,
        key_dim: int | None = None,
        value_dim: int | None = None,
        shared_embeddings: bool = True,
        positions: Positions = "sinusoidal",
        maximum_positions: int = 512,
        norm: Norm = "post",
        use_attention_bias: bool = False,
        alignment_layer: int | None = None,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation_dropout: float = 0.0,
        label_smoothing: float = 0.0,
        smoothing_over: SmoothingOver = "others",
        loss_normaliser: LossNormaliser = "tokens",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self._check_arguments()
        self._make_layers()

    def _check_arguments(self) -> None:
        for name in ("source_vocabulary_size", "target_vocabulary_size", "model_dim"):
            check_sizes(**{name: getattr(self, name)})
        for name in ("feed_forward_dim", "num_heads", "depth", "maximum_positions"):
            check_sizes(**{name: getattr(self, name)})
        for name in ("dropout", "attention_dropout", "activation_dropout", "label_smoothing"):
            check_rate(name, getattr(self, name))
        check_choice("positions", self.positions, get_args(Positions))
        check_choice("norm", self.norm, get_args(Norm))
        check_choice("smoothing_over", self.smoothing_over, get_args(SmoothingOver))
        check_choice("loss_normaliser", self.loss_normaliser, get_args(LossNormaliser))
        check_choice("alignment_layer", self.alignment_layer, [None, *range(self.depth)])
        if self.shared_embeddings and self.source_vocabulary_size != self.target_vocabulary_size:
            raise ValueError(
                f"target_vocabulary_size must be {self.source_vocabulary_size}, the source's, with"
                f" shared_embeddings, got {self.target_vocabulary_size}"
            )

    def _make_layers(self) -> None:
        policy, d = self.dtype_policy, self.model_dim
        normal = keras.initializers.RandomNormal(0.0, d**-0.5)
        sides = ["shared"] if self.shared_embeddings else ["source", "target"]
        sizes = [self.source_vocabulary_size, self.target_vocabulary_size]
        tables = [
            WordEmbedding(size, d, initializer=normal, name=f"{side}_embedding", dtype=policy)
            for side, size in zip(sides, sizes, strict=False)
        ]
        self.source_embedding, self.target_embedding = tables[0], tables[-1]
        self.softmax = None
        if not self.shared_embeddings:
            self.softmax = keras.layers.Dense(
                self.target_vocabulary_size, use_bias=False, name="softmax", dtype=policy
            )
        self.source_positions = self._make_positions("source")
        self.target_positions = self._make_positions("target")
        options = {name: getattr(self, name) for name in OPTIONS}
        self.encoder = EncoderStack(self.depth, **options, name="encoder", dtype=policy)
        self.decoder = DecoderStack(self.depth, **options, name="decoder", dtype=policy)
        self.drop = keras.layers.Dropout(self.dropout, name="dropout", dtype=policy)

    def _make_positions(self, side: str) -> keras.layers.Layer:
        name, d = f"{side}_positions", self.model_dim
        if self.positions == "sinusoidal":
            return SinusoidalPositions(d, name=name, dtype=self.dtype_policy)
        normal = keras.initializers.RandomNormal(0.0, d**-0.5)
        return LearnedPositions(
            self.maximum_positions, d, initializer=normal, name=name, dtype=self.dtype_policy
        )

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        self.source_embedding.build()
        if not self.shared_embeddings:
            self.target_embedding.build()
        for positions in (self.source_positions, self.target_positions):
            positions.build((None,))
        self.encoder.build()
        self.decoder.build()
        if self.softmax is not None:
            self.softmax.build((None, None, self.model_dim))
        self.built = True

    def encode(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Tensor]:
        """Computes keys and values of the source for each decoder layer."""
        values, mask, _ = self._read(inputs["source"], training)
        return {"mask": mask} | self.decoder.prepare(values)

    @property
    def shared_state(self) -> frozenset[str]:
        """Names the shared state: the cache and its length. Each row's mask is its own."""
        return frozenset(["position", *self.decoder.cache_names])

    def initial_state(self, memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """Makes an empty cache."""
        batch = ops.shape(memory["mask"])[0]
        start = {"position": ops.zeros((batch,), "int32"), "seen": ops.zeros((batch, 0), "bool")}
        return start | self.decoder.empty_cache(batch)

    def embed(self, tokens: Tensor, training: bool = False) -> dict[str, Tensor]:
        """Looks up words times sqrt(d), (R, T, d), without positions."""
        return {"words": self._scaled(self.target_embedding(tokens))}

    def advance(
        self, inputs: dict[str, Tensor], state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        """Reads one more token in every row; all rows are at the same position."""
        words, position = inputs["words"], state["position"]
        rows, batch = ops.shape(words)[0], ops.shape(position)[0]
        beam = rows // ops.maximum(batch, 1)  # R / B
        values = words + self.target_positions(position[:1])  # (R, d)
        seen = ops.concatenate([state["seen"], own_columns(rows, beam)], axis=1)
        by_source = ops.reshape(seen, (batch, beam, ops.shape(seen)[1]))
        features, cache, maps = self.decoder.advance(
            values, state, by_source, memory, memory["mask"]
        )
        alignment = ops.mean(maps[self.aligned_layer], axis=1)  # (B, R / B, S)
        alignment = ops.reshape(alignment, (rows, ops.shape(memory["mask"])[1]))
        new = {"position": position + 1, "seen": seen} | cache
        return features, new, {"alignment": alignment}

    def project(self, features: Tensor, training: bool = False) -> Tensor:
        """Computes logits (..., V) with the embedding table or a separate matrix."""
        if self.softmax is not None:
            return self.softmax(features)
        return project(features, self._tied_kernel())

    def for_beam(self) -> Any:
        """Returns its steps with a kernel that is transposed once, before the first of them."""
        return self if self.softmax is not None else TiedSteps(self, self._tied_kernel())

    def _tied_kernel(self) -> Tensor:
        """Makes a kernel (d, V) of the embedding table."""
        return ops.transpose(self.target_embedding.table)

    def read_pairs(
        self, inputs: dict[str, Tensor], training: bool = False
    ) -> tuple[Tensor, dict[str, Any]]:
        """Reads whole targets, all positions at once.

        Args:
            inputs: as in ``call``.
            training: whether dropout is on.

        Returns:
            Features (B, T, d). ``attention``, rows of padding zero: ``encoder`` (B, N, h, S, S),
            ``decoder`` (B, N, h, T, T), ``cross`` (B, N, h, T, S), ``alignment`` (B, T, S).
        """
        values, mask, encoder = self._read(inputs["source"], training)
        memory, target = self.decoder.prepare(values), inputs["target"]
        real = mask_from_ids(target)
        words = self._add_positions(self.embed(target)["words"], self.target_positions, training)
        features, decoder, cross = self.decoder(words, memory, mask, real, training=training)
        alignment = ops.mean(cross[:, self.aligned_layer], axis=1)  # (B, T, S)
        maps = {
            "encoder": _mask_queries(encoder, mask),
            "decoder": _mask_queries(decoder, real),
            "cross": _mask_queries(cross, real),
            "alignment": mask_rows(alignment, real),
        }
        return features, {"attention": maps}

    def _read(self, source: Tensor, training: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Encodes the source: (B, S, d), the mask (B, S) and the weights (B, N, h, S, S)."""
        mask = mask_from_ids(source)
        words = self._scaled(self.source_embedding(source))
        words = self._add_positions(words, self.source_positions, training)
        values, weights = self.encoder(words, mask, training=training)
        return values, mask, weights

    def _scaled(self, words: Tensor) -> Tensor:
        return words * math.sqrt(self.model_dim)

    def _add_positions(
        self, words: Tensor, positions: keras.layers.Layer, training: bool
    ) -> Tensor:
        vectors = positions(ops.arange(ops.shape(words)[1]))  # (T, d)
        return self.drop(words + vectors, training=training)

    @property
    def aligned_layer(self) -> int:
        """Index of the layer whose cross attention is the alignment."""
        if self.alignment_layer is not None:
            return self.alignment_layer
        return max(self.depth - 2, 0)


def _mask_queries(maps: Tensor, real: Tensor) -> Tensor:
    """Zeros the rows of maps (B, N, h, Q, S) whose query is padding, by ``real`` (B, Q)."""
    return ops.where(real[:, None, None, :, None], maps, ops.zeros((), maps.dtype))
