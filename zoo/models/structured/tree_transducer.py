"""Tree transducer: a source of word vectors and their soft parents, and a decoder that attends.

Yoon Kim, Carl Denton, Luong Hoang, Alexander M. Rush: Structured Attention Networks. ICLR 2017,
arXiv 1702.00887. Covered: sections 3.2 and 4.1, appendices A.1 and A.2.

    h = BiLSTM(x)                                                 A.1
    theta_ij = tanh(s^T tanh(W_1 h_i + W_2 h_j + b))              A.1, i the head of j
    c_j = sum_i p(z_ij = 1) x_i                                   section 4.1, the soft parent
    x^_j = [x_j; c_j]                                             section 4.1
    h'_t = LSTM(y_{t-1}, h'_{t-1})                                A.2
    alpha_t = softmax(x^_i^T W h'_t),  m_t = sum_i alpha_ti x^_i  A.2
    h~_t = tanh(U [m_t; h'_t]),  logits = V h~_t + b              A.2

``attention`` says where parents come from: ``"structured"``, marginals of projective trees;
``"simple"``, a softmax of theta_ij over i; ``"none"``, there are none, and x^ = x.

Where the paper leaves a choice:
    root: the first word of a source, which is ``$`` before every formula; it has no parent, and may
        have several children, as in the released parser (``multi_root``). Softmax knows no root;
    end of the source: ``</s>`` is the last word, for the tree too;
    units of the score: the size of h, as in the released parser;
    biases: of LSTMs, of the score and of the softmax over words; they start at zero;
    dropout: none in the paper; here on the inputs of the decoder's LSTM and of the softmax.

Shape letters: B sources, R rows (hypotheses), S source tokens, T target tokens, m embedding,
n hidden, k = 2m source vector (m without parents), V target vocabulary.

Expected result: ``docs/architectures/structured.md`` has the figures on formulas.

NumPy reference: ``tests/references/tree_transducer.py``. Docs:
``docs/architectures/structured.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.attention.attend import attend
from zoo.attention.multiplicative_scores import GeneralScore
from zoo.attention.structured import SyntacticAttention
from zoo.layers.lstm import BidirectionalLSTM, StackedLSTM
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.recurrent_translator import RecurrentTranslator
from zoo.models.core.registry import register_model
from zoo.models.core.sequence_to_sequence import (
    Features,
    LossNormaliser,
    group_rows,
    ungroup_rows,
)
from zoo.ops.initializers import fresh
from zoo.ops.masking import Tensor, mask_from_ids, mask_rows, masked_softmax
from zoo.ops.numbers import check_choice, check_positive

SelfAttention = Literal["structured", "simple", "none"]
_SYMBOLS = {"source_vocabulary_size": 30, "target_vocabulary_size": 29}


@keras.saving.register_keras_serializable(package="zoo")
class SoftSelection(SyntacticAttention):
    """Soft parents without a tree: ``c_j = sum_i softmax_i(theta_ij) x_i``; arguments as there."""

    def weigh(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Computes the weights (B, N, N) from theta (B, N, N), dependents by heads."""
        return mask_rows(masked_softmax(scores, mask[:, None]), mask)


@register_model(task="translation")
class TreeTransducer(RecurrentTranslator):
    """Writes a target for a source, whose words are known by themselves and by their soft parents.

    Args:
        source_vocabulary_size: number of source ids.
        target_vocabulary_size: number of target ids V.
        embedding_dim: size m of a word vector.
        hidden_dim: size n of the decoder's state.
        attention: where soft parents come from: ``"structured"``, ``"simple"`` or ``"none"``.
        parser_dim: hidden size of the parser's LSTM, in each direction.
        score_dim: units of the score of an arc.
        multi_root: whether the root of a tree may have several children, or exactly one.
        initial_range: weights start uniform in plus or minus this number.
        dropout: rate of dropout in training.
        label_smoothing: mass moved from the target to the other ids; the paper has none.
        loss_normaliser: whether the loss is a mean over ``"sentences"`` or ``"tokens"``.

    Raises:
        ValueError: if an option is not one of its choices, a size or the range is not positive, or
            ``dropout`` or ``label_smoothing`` is not a rate.
    """

    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "alignment": AttentionMap(axes.Steps("target"), axes.Tokens("source")),
        "parents": AttentionMap(axes.Tokens("source"), axes.Tokens("source"), rooted=True),
    }
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {**_SYMBOLS},
        "paper_simple": {**_SYMBOLS, "attention": "simple"},
        "paper_none": {**_SYMBOLS, "attention": "none"},
        "small": {"embedding_dim": 256, "hidden_dim": 256},
        "tiny": {
            "source_vocabulary_size": 17,
            "target_vocabulary_size": 13,
            "embedding_dim": 4,
            "hidden_dim": 5,
            "parser_dim": 3,
            "score_dim": 4,
        },
    }

    def __init__(
        self,
        source_vocabulary_size: int,
        target_vocabulary_size: int,
        embedding_dim: int = 50,
        hidden_dim: int = 50,
        attention: SelfAttention = "structured",
        parser_dim: int = 50,
        score_dim: int = 100,
        multi_root: bool = True,
        initial_range: float = 0.1,
        dropout: float = 0.0,
        label_smoothing: float = 0.0,
        loss_normaliser: LossNormaliser = "sentences",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.check_common_arguments()
        check_choice("attention", attention, get_args(SelfAttention))
        check_sizes(parser_dim=parser_dim, score_dim=score_dim)
        check_positive(initial_range=initial_range)
        self._declare_maps()
        self._make_layers()

    def _declare_maps(self) -> None:
        """Declares the maps of the chosen attention."""
        maps = dict(self.ATTENTION)
        if self.attention == "none":
            del maps["parents"]
        elif self.attention == "simple":
            maps["parents"] = maps["parents"]._replace(rooted=False)
        self.declare(attention=maps)

    def _make_layers(self) -> None:
        uniform = keras.initializers.RandomUniform(-self.initial_range, self.initial_range)
        layer = {"kernel_initializer": uniform, "dtype": self.dtype_policy}
        lstm = {"recurrent_initializer": uniform, "unit_forget_bias": False, **layer}
        self.source_embedding, self.target_embedding = self.make_embeddings(uniform)
        if self.attention != "none":
            parents = SoftSelection if self.attention == "simple" else SyntacticAttention
            self.parser = BidirectionalLSTM(self.parser_dim, name="parser", **lstm)
            self.parents = parents(
                self.score_dim,
                multi_root=self.multi_root,
                scale_initializer=uniform,
                name="parents",
                **layer,
            )
        self.decoder = StackedLSTM(
            self.hidden_dim, depth=1, dropout=self.dropout, name="decoder", **lstm
        )
        self.score = GeneralScore(name="score", **layer)
        self.combine = keras.layers.Dense(
            self.hidden_dim, activation="tanh", use_bias=False, name="combine", **layer
        )
        layer["kernel_initializer"] = fresh(uniform)
        self.softmax = keras.layers.Dense(self.target_vocabulary_size, name="softmax", **layer)
        self.drop = keras.layers.Dropout(self.dropout, name="dropout", dtype=self.dtype_policy)

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        words, source_dim = (None, None, self.embedding_dim), self.embedding_dim
        self.source_embedding.build()
        self.target_embedding.build()
        if self.attention != "none":
            self.parser.build(words)
            self.parents.build((None, None, 2 * self.parser_dim), words)
            source_dim = 2 * self.embedding_dim
        self.decoder.build(words)
        self.score.build((None, None, self.hidden_dim), (None, None, source_dim))
        self.combine.build((None, source_dim + self.hidden_dim))
        self.softmax.build((None, self.hidden_dim))
        self.drop.build((None, None, self.hidden_dim))
        self.built = True

    def encode(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Tensor]:
        """Computes x^ (B, S, k), its prepared keys, and ``parents`` (B, S, S)."""
        source = inputs["source"]
        mask = mask_from_ids(source)
        values = self.source_embedding(source)  # x (B, S, m)
        memory = {"mask": mask}
        if self.attention != "none":
            states, _ = self.parser(values, mask)  # h (B, S, 2p)
            parents, memory["parents"] = self.parents(states, mask, values)
            values = ops.concatenate([values, parents], axis=-1)  # x^ (B, S, 2m)
        return memory | {"values": values, "keys": self.score.prepare(values)}

    def initial_state(self, memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """Returns zeros: of the source the decoder knows only what it attends to."""
        shape = (ops.shape(memory["mask"])[0], self.hidden_dim)
        return {name: ops.zeros(shape, self.compute_dtype) for name in ("hidden_0", "cell_0")}

    def embed(self, tokens: Tensor, training: bool = False) -> dict[str, Tensor]:
        """Projects y_{t-1} for the LSTM (R, T, 4n), with dropout."""
        return self.decoder.project(self.target_embedding(tokens), training=training)

    def advance(
        self, inputs: dict[str, Tensor], state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        """Computes h'_t, then alpha_t and m_t, then h~_t (R, n)."""
        state = self.decoder.advance(inputs, state)
        hidden = state["hidden_0"]  # h'_t (R, n)
        queries = group_rows(hidden, ops.shape(memory["mask"])[0])  # (B, R / B, n)
        scores = self.score(queries, memory["keys"])  # (B, R / B, S)
        context, weights = attend(scores, memory["values"], memory["mask"])
        read = ops.concatenate([ungroup_rows(context), hidden], axis=-1)  # (R, k + n)
        return self.combine(read), state, {"alignment": ungroup_rows(weights)}

    def project(self, features: Tensor, training: bool = False) -> Tensor:
        """Computes logits (..., V)."""
        return self.softmax(self.drop(features, training=training))

    def read_target(
        self, target: Tensor, memory: dict[str, Tensor], training: bool = False
    ) -> tuple[Features, dict[str, Any]]:
        """Runs over whole targets; gives ``parents`` (B, S, S) beside the alignment."""
        features, outputs = super().read_target(target, memory, training)
        if "parents" in memory:
            outputs["attention"] |= {"parents": memory["parents"]}
        return features, outputs
