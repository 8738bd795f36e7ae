"""LSTMN for natural language inference: a hypothesis read with attention to a premise.

Jianpeng Cheng, Li Dong, Mirella Lapata: Long Short-Term Memory-Networks for Machine Reading. EMNLP
2016, arXiv 1601.06733. Covered: sections 3 and 4 (equations 5-9, 11-16) and section 5.3: the means
of both hidden tapes go through two rectified layers and the softmax.

Where the paper is silent or several readings exist:
    cells: premise and hypothesis share weights, as the published parameter counts imply;
        ``share_cells=False`` has two cells, as the released code does;
    slot 0: the zero state, and for the hypothesis in deep fusion the premise's last state, as in
        the released code; ``include_initial=False`` sums over words alone, as printed;
    shallow fusion: tanh(W_j [context; h_t]) of additive attention replaces h_t in the mean;
    padding: masked before the softmax; the released code multiplies scores by the mask;
    dropout: on the inputs of the classifier's layers, as in the released code; ``word_dropout``, on
        word vectors, is not in the paper.

Shape letters: B pairs, P premise words, H hypothesis words, d embedding, n hidden, C classes.

Expected result: the paper reports 86.3 % on the test part of SNLI with deep fusion, 450 units and
GloVe 840B, 85.7 % with 300.

NumPy reference: ``tests/references/lstmn_inference.py``. Docs: ``docs/architectures/lstmn.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, get_args

import keras
from keras import ops

from zoo.layers.classifier_head import ClassifierHead
from zoo.layers.embedding import WordEmbedding
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.classifier import Classifier
from zoo.models.core.inputs import InputKind, Tokens
from zoo.models.core.registry import register_model
from zoo.models.lstmn.cell import Query
from zoo.models.lstmn.lstmn import check_window, intra_attention
from zoo.models.lstmn.reader_pair import FusionKind, ReaderPair
from zoo.ops.masking import Tensor, mask_from_ids
from zoo.ops.numbers import check_choice, check_rate, check_table_dtype
from zoo.ops.pooling import masked_mean

_PAPER = {"vocabulary_size": 36_809, "trainable_embeddings": False}


@register_model(task="inference")
class LSTMNInference(Classifier):
    """Classifies the relation of a hypothesis to a premise.

    Args:
        vocabulary_size: number of word ids V.
        classes: number of classes.
        embedding_dim: size d of a word vector.
        hidden_dim: hidden size n of both readers, of their scores and of the classifier.
        fusion: ``"deep"``, ``"shallow"`` or ``"none"``.
        share_cells: whether both texts share one cell's weights.
        window: number of most recent slots that a step reads; None: all.
        include_initial: whether the initial state is slot 0.
        query: what asks: ``"summary"``, as printed, or ``"hidden"``; see ``LSTMN``.
        dropout: rate of dropout in the classifier.
        word_dropout: rate of dropout on word vectors.
        trainable_embeddings: whether word vectors are trained.
        embedding_dtype: dtype the word vectors are stored in; None: the model's.

    Raises:
        ValueError: if ``fusion`` is not one of its options, a size or ``window`` is not positive,
            or ``dropout`` or ``word_dropout`` is not a rate.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {**_PAPER, "hidden_dim": 450},
        "paper_300": {**_PAPER, "hidden_dim": 300},
        "paper_100": {**_PAPER, "hidden_dim": 100},
        "paper_two_cells": {**_PAPER, "hidden_dim": 450, "share_cells": False},
        "paper_shallow_300": {**_PAPER, "hidden_dim": 300, "fusion": "shallow"},
        "tiny": {"vocabulary_size": 19, "embedding_dim": 4, "hidden_dim": 6},
    }
    INPUTS: ClassVar[Mapping[str, InputKind]] = {
        "premise": Tokens(size="vocabulary_size"),
        "hypothesis": Tokens(size="vocabulary_size"),
    }
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "premise_intra": AttentionMap(
            axes.Tokens("premise"), axes.Tokens("premise", sentinel=True)
        ),
        "hypothesis_intra": AttentionMap(
            axes.Tokens("hypothesis"), axes.Tokens("hypothesis", sentinel=True)
        ),
        "inter": AttentionMap(axes.Tokens("hypothesis"), axes.Tokens("premise")),
    }

    def __init__(
        self,
        vocabulary_size: int,
        classes: int = 3,
        embedding_dim: int = 300,
        hidden_dim: int = 450,
        fusion: FusionKind = "deep",
        share_cells: bool = True,
        window: int | None = None,
        include_initial: bool = True,
        query: Query = "summary",
        dropout: float = 0.0,
        word_dropout: float = 0.0,
        trainable_embeddings: bool = True,
        embedding_dtype: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        check_sizes(vocabulary_size=vocabulary_size, classes=classes, embedding_dim=embedding_dim)
        check_sizes(hidden_dim=hidden_dim)
        check_choice("fusion", fusion, get_args(FusionKind))
        check_rate("dropout", dropout)
        check_table_dtype("embedding_dtype", embedding_dtype)
        check_rate("word_dropout", word_dropout)
        check_window(window)
        check_choice("query", query, get_args(Query))
        self._declare_maps()
        self._make_layers()

    def _declare_maps(self) -> None:
        """Declares the maps of the chosen fusion, and whether the first words read anything."""
        maps = dict(self.ATTENTION)
        if self.fusion == "none":
            del maps["inter"]
        for name in ("premise_intra", "hypothesis_intra"):
            maps[name] = maps[name]._replace(rooted=not self.include_initial)
        self.declare(attention=maps)

    def _make_layers(self) -> None:
        policy = self.dtype_policy
        self.embedding = WordEmbedding(
            self.vocabulary_size,
            self.embedding_dim,
            self.embedding_dtype,
            trainable=self.trainable_embeddings,
            name="embedding",
            dtype=policy,
        )
        self.readers = ReaderPair(
            self.hidden_dim,
            self.fusion,
            self.share_cells,
            self.window,
            self.include_initial,
            self.query,
            name="readers",
            dtype=policy,
        )
        self.classifier = ClassifierHead(
            self.classes, self.hidden_dim, 2, self.dropout, name="classifier", dtype=policy
        )
        self.drop = keras.layers.Dropout(self.word_dropout, name="dropout", dtype=policy)

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        self.embedding.build()
        self.readers.build((None, None, self.embedding_dim))
        self.classifier.build((None, 2 * self.hidden_dim))
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Reads pairs.

        Args:
            inputs: ``premise`` int32 (B, P) and ``hypothesis`` int32 (B, H), 0 where padded.
            training: whether dropout is on.

        Returns:
            ``logits`` (B, C); ``attention``: ``premise_intra`` (B, P, P + 1) and
            ``hypothesis_intra`` (B, H, H + 1), the earlier words read at each word, with slot 0 in
            the last column; with fusion also ``inter`` (B, H, P).
        """
        premise, hypothesis = inputs["premise"], inputs["hypothesis"]
        premise_mask, hypothesis_mask = mask_from_ids(premise), mask_from_ids(hypothesis)
        words, other_words = (
            self.drop(self.embedding(ids), training=training) for ids in (premise, hypothesis)
        )  # (B, P, d), (B, H, d)
        states = self.readers(words, premise_mask, other_words, hypothesis_mask)
        means = (
            masked_mean(states.first.hidden, premise_mask),
            masked_mean(states.features, hypothesis_mask),
        )
        logits = self.classifier(ops.concatenate(means, axis=-1), training=training)
        attention = {
            "premise_intra": intra_attention(states.first.weights),
            "hypothesis_intra": intra_attention(states.second.weights),
        }
        if states.weights is not None:
            attention["inter"] = states.weights  # (B, H, P)
        return {"logits": logits, "attention": attention}
