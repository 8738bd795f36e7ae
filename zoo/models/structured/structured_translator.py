"""Translation by segmentation attention: a chain of binary states selects segments of the source.

Yoon Kim, Carl Denton, Luong Hoang, Alexander M. Rush: Structured Attention Networks. ICLR 2017,
arXiv 1702.00887. Covered: section 3.1 (the chain), 4.2 (neural machine translation), with both
baselines: simple attention, a softmax, and sigmoid attention, the chain without its pairs.

The decoder's states depend on the words written so far alone, not on the attention. Training
therefore computes them for a whole target first, and then runs the chains of all target words side
by side, in one loop along the source.

Where the paper is silent or several readings exist:
    states: the decoder starts from zeros, as in the released code, and no attention is fed back to
        it; ``decoder_start="encoder"`` starts from the encoder's last states;
    counting: as printed, the unary potential of an inner position is in both of its pairs, so that
        it counts twice; here, as in the released code, once (``double_count``). That code also has
        start and end edges, which the paper does not have; nor does this;
    penalty: ``pairwise_l2`` times the sum of the squares of b;
    initialisation: uniform, but biases and b start at zero, where the released code draws them too;
    dropout: on the inputs of LSTM layers, words among them, and of the softmax; the released code
        spares the words.

Shape letters: B sources, R rows (hypotheses), S source tokens, T target tokens, m embedding,
n hidden, V target vocabulary.

Expected result: 14.6 BLEU on WAT Japanese-English from characters (simple attention: 12.6, sigmoid
attention: 13.1), 14.3 from words (14.1, 13.8).

NumPy reference: ``tests/references/structured_translator.py``. Docs:
``docs/architectures/structured.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.attention.multiplicative_scores import GeneralScore
from zoo.attention.score import Score
from zoo.attention.structured import SegmentationAttention
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.registry import register_model
from zoo.models.core.sequence_to_sequence import LossNormaliser, group_rows, ungroup_rows
from zoo.models.core.stacked_translator import StackedTranslator
from zoo.ops.masking import (
    Tensor,
    at_least_float32,
    attention_weights,
    mask_from_ids,
    mask_rows,
)
from zoo.ops.numbers import check_choice

AttentionName = Literal["structured", "sigmoid", "simple"]
DecoderStart = Literal["zeros", "encoder"]


@register_model(task="translation")
class StructuredTranslator(StackedTranslator):
    """Translates with stacked LSTMs, reading segments of the source for every target word.

    Args:
        source_vocabulary_size: number of source ids.
        target_vocabulary_size: number of target ids V.
        embedding_dim: size m of a word vector.
        hidden_dim: hidden size n of every layer.
        depth: layers of encoder and decoder.
        attention: ``"structured"``, marginals of the chain; ``"sigmoid"``, one sigmoid a position;
            ``"simple"``, a softmax.
        total: lambda, the sum of the chain's weights.
        double_count: whether the chain's unary potentials count twice at inner positions, as
            printed.
        pairwise_l2: coefficient of the penalty on the squares of b; 0: none.
        decoder_start: ``"zeros"``, or ``"encoder"``: the last states of the encoder's layers.
        use_bias: whether LSTMs and softmax have biases.
        initial_range: weights start uniform in plus or minus this number.
        dropout: rate of dropout in training; the paper's is 0.3.
        label_smoothing: mass moved from the target to the other ids; the paper has none.
        loss_normaliser: whether the loss is a mean over ``"sentences"`` or ``"tokens"``.

    Raises:
        ValueError: if an option is not one of its choices, a size, the range or ``total`` is not
            positive, ``pairwise_l2`` is negative, or ``dropout`` or ``label_smoothing`` is not a
            rate.
    """

    # The chain's weights sum to lambda, and sigmoids to anything.
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "alignment": AttentionMap(
            axes.Steps("target"), axes.Tokens("source"), normalised=False, bounded=False
        )
    }
    _PAPER: ClassVar = {
        "source_vocabulary_size": 50_000,
        "target_vocabulary_size": 50_000,
        "dropout": 0.3,
    }
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": _PAPER,
        "paper_sigmoid": {**_PAPER, "attention": "sigmoid"},
        "paper_simple": {**_PAPER, "attention": "simple"},
        "small": {"embedding_dim": 256, "hidden_dim": 256},
        "tiny": {
            "source_vocabulary_size": 17,
            "target_vocabulary_size": 13,
            "embedding_dim": 4,
            "hidden_dim": 5,
            "depth": 1,
            "pairwise_l2": 0.0,  # so that the loss is the mean of those of the examples
        },
    }

    def __init__(
        self,
        source_vocabulary_size: int,
        target_vocabulary_size: int,
        embedding_dim: int = 500,
        hidden_dim: int = 500,
        depth: int = 2,
        attention: AttentionName = "structured",
        total: float = 2.0,
        double_count: bool = False,
        pairwise_l2: float = 0.005,
        decoder_start: DecoderStart = "zeros",
        use_bias: bool = True,
        initial_range: float = 0.1,
        dropout: float = 0.0,
        label_smoothing: float = 0.0,
        loss_normaliser: LossNormaliser = "sentences",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.check_common_arguments()
        check_sizes(depth=depth)
        check_choice("attention", attention, get_args(AttentionName))
        check_choice("decoder_start", decoder_start, get_args(DecoderStart))
        self._make_layers()

    def _make_layers(self) -> None:
        self.make_stacks()
        score = GeneralScore(name="score", **self.uniform())
        chain = SegmentationAttention(
            score,
            total=self.total,
            double_count=self.double_count,
            pairwise_l2=self.pairwise_l2,
            name="attend",
            dtype=self.dtype_policy,
        )
        self.attend: SegmentationAttention | Score = (
            chain if self.attention == "structured" else score
        )
        self.combine = keras.layers.Dense(
            self.hidden_dim, activation="tanh", use_bias=False, name="combine", **self.uniform()
        )

    @property
    def score(self) -> Score:
        """The score ``theta_i(1) = h_i^T W h'_j``, from which every kind makes its weights."""
        return self.attend.score if self.attention == "structured" else self.attend

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        sequence = (None, None, self.hidden_dim)
        self.build_stacks()
        self.attend.build(sequence, sequence)
        self.combine.build((None, 2 * self.hidden_dim))
        self.built = True

    def encode(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Tensor]:
        """Computes the top layer's states, ``W^T h_i`` and every layer's last state."""
        source = inputs["source"]
        mask = mask_from_ids(source)
        words = self.source_embedding(source)  # (B, S, m); the stack applies dropout
        annotations, final = self.encoder(words, mask, training=training)  # (B, S, n)
        keys = self.score.prepare(annotations)  # (B, S, n)
        return {"annotations": annotations, "keys": keys, "mask": mask} | final

    def initial_state(self, memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """Returns the decoder's first states, layer by layer."""
        names = [f"{part}_{k}" for part in ("hidden", "cell") for k in range(self.depth)]
        if self.decoder_start == "encoder":
            return {name: memory[name] for name in names}
        return {name: ops.zeros_like(memory[name]) for name in names}

    def embed(self, tokens: Tensor, training: bool = False) -> dict[str, Tensor]:
        """Projects y_{t-1} for the lowest layer (R, T, 4n) and samples the dropout masks."""
        return self.decoder.project(self.target_embedding(tokens), training=training)

    def advance(
        self, inputs: dict[str, Tensor], state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        """Computes h'_j, then c_j, then ``tanh(U [c_j; h'_j])`` (R, n)."""
        new = self.decoder.advance(inputs, state)
        hidden = new[f"hidden_{self.depth - 1}"]  # (R, n)
        queries = group_rows(hidden, ops.shape(memory["mask"])[0])  # (B, R / B, n)
        features, weights = self.read_source(queries, memory)
        return ungroup_rows(features), new, {"alignment": ungroup_rows(weights)}

    def project(self, features: Tensor, training: bool = False) -> Tensor:
        """Computes logits (..., V): ``V tanh(U [c_j; h'_j])``, plus the bias."""
        return self.softmax(self.drop(features, training=training))

    def read_target(
        self, target: Tensor, memory: dict[str, Tensor], training: bool = False
    ) -> tuple[Tensor, dict[str, Any]]:
        """As ``advance`` for all target words at once: no state depends on the attention."""
        real = mask_from_ids(target)
        words, first = self.target_embedding(target), self.initial_state(memory)
        states, _ = self.decoder(words, real, training=training, state=first)  # (B, T, n)
        features, weights = self.read_source(states, memory)
        return features, {"attention": {"alignment": mask_rows(weights, real)}}

    def read_source(self, states: Tensor, memory: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Attends with states h' (B, Q, n).

        Returns:
            ``tanh(U [c; h'])`` (B, Q, n), and the weights (B, Q, S), at least in single precision.
        """
        weights = self.weigh(self.score(states, memory["keys"]), memory["mask"])
        annotations = memory["annotations"]
        wide = at_least_float32(annotations)
        contexts = ops.matmul(ops.cast(weights, wide.dtype), wide)  # (B, Q, n)
        both = ops.concatenate([ops.cast(contexts, states.dtype), states], axis=-1)  # (B, Q, 2n)
        return self.combine(both), weights

    def weigh(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Computes weights (B, Q, S) from theta(1) (B, Q, S) and the mask bool (B, S)."""
        if self.attention == "structured":
            return self.attend.weigh(scores, mask)
        if self.attention == "simple":
            return attention_weights(scores, mask)
        return ops.where(mask[:, None], ops.sigmoid(scores), ops.zeros((), scores.dtype))
