"""Dynamic Coattention Network for extractive question answering.

Caiming Xiong, Victor Zhong, Richard Socher: Dynamic Coattention Networks for Question Answering.
ICLR 2017, arXiv 1611.01604. Covered: section 2.1 (encoders), 2.2 (coattention, equations 1-4),
2.3 (dynamic pointing decoder, equations 5-12).

Where the paper is silent or several readings exist:
    initial estimates: (first, last real position);
    end scorer: reads the previous start as printed; ``end_uses="current"`` reads the new one;
    loss: summed over all iterations; ``loss_over="halt"`` stops with the procedure;
    dropout: none is described; here on word vectors, on the fusion's input and on its output.

The ablations of table 2: ``iterations=1``, ``attention="question"``, ``scorer="perceptron"``.

Shape letters: B batch, m document ("context") words, n question words, d embedding, l hidden,
I iterations.

Expected result: the paper's single model reaches 65.4 exact match / 75.6 F1 on SQuAD 1.1's
development set with GloVe 840B. For results of this code see
``saved_models/squad_dcn/model_card.json``.

NumPy reference: ``tests/references/dcn.py``. Docs: ``docs/architectures/dcn.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.layers.embedding import WordEmbedding
from zoo.layers.lstm import LSTM, BidirectionalLSTM
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap, BaseModel
from zoo.models.core.inputs import InputKind, Tokens
from zoo.models.core.registry import register_model
from zoo.models.core.targets import Targets
from zoo.models.dcn.coattention import Coattention, QuestionAttention, QuestionInitializer
from zoo.models.dcn.perceptron import PerceptronPointingDecoder
from zoo.models.dcn.pointing import (
    DynamicPointingDecoder,
    EndUses,
    LossOver,
    pointing_losses,
    pointing_outputs,
)
from zoo.ops.masking import Tensor, mask_from_ids, mask_rows
from zoo.ops.numbers import check_choice, check_rate, check_table_dtype

AttentionKind = Literal["coattention", "question"]
Scorer = Literal["highway_maxout", "perceptron"]


@register_model(task="reading")
class DynamicCoattentionNetwork(BaseModel):
    """Finds the span of a context that answers a question.

    Args:
        vocabulary_size: number of word ids V.
        embedding_dim: size d of a word vector.
        hidden_dim: hidden size l of every part.
        pool_size: linear pieces p of each maxout.
        iterations: number I of estimates of the decoder.
        end_uses: the start estimate that the end scorer reads, ``"previous"`` or ``"current"``.
        loss_over: ``"all"`` iterations, or until the estimates ``"halt"``.
        question_initializer: of W_Q; with ``"identity"``, the model can match words of question and
            context from the start.
        attention: ``"coattention"``, or of the context's words to the ``"question"`` alone, which
            leaves the summaries of the context out, and the map ``question_to_context``.
        scorer: of positions, ``"highway_maxout"`` or a ``"perceptron"`` of two layers, which has no
            use for ``pool_size``.
        dropout: rate of dropout in training.
        trainable_embeddings: whether word vectors are trained; the paper keeps them fixed.
        embedding_dtype: dtype the word vectors are stored in; None: the model's.

    Raises:
        ValueError: if a choice is not one of its options, a size is not positive, or ``dropout`` is
            not a rate.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {
            "vocabulary_size": 400_004,
            "embedding_dim": 300,
            "hidden_dim": 200,
            "pool_size": 16,
            "iterations": 4,
        },
        "small": {"embedding_dim": 100, "hidden_dim": 100, "pool_size": 4, "iterations": 4},
        "tiny": {
            "vocabulary_size": 30,
            "embedding_dim": 6,
            "hidden_dim": 5,
            "pool_size": 3,
            "iterations": 3,
        },
    }
    INPUTS: ClassVar[Mapping[str, InputKind]] = {
        "question": Tokens(size="vocabulary_size"),
        "context": Tokens(size="vocabulary_size"),
    }
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "context_to_question": AttentionMap(
            axes.Tokens("context"), axes.Tokens("question", sentinel=True)
        ),
        "question_to_context": AttentionMap(
            axes.Tokens("question"), axes.Tokens("context", sentinel=True)
        ),
    }

    TARGETS = Targets(names=("start", "end"), positions="context")

    def __init__(
        self,
        vocabulary_size: int,
        embedding_dim: int = 300,
        hidden_dim: int = 200,
        pool_size: int = 16,
        iterations: int = 4,
        end_uses: EndUses = "previous",
        loss_over: LossOver = "all",
        question_initializer: QuestionInitializer = "glorot_uniform",
        attention: AttentionKind = "coattention",
        scorer: Scorer = "highway_maxout",
        dropout: float = 0.0,
        trainable_embeddings: bool = False,
        embedding_dtype: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        check_sizes(vocabulary_size=vocabulary_size, embedding_dim=embedding_dim)
        check_sizes(hidden_dim=hidden_dim, pool_size=pool_size, iterations=iterations)
        check_choice("end_uses", end_uses, get_args(EndUses))
        check_choice("loss_over", loss_over, get_args(LossOver))
        check_choice("question_initializer", question_initializer, get_args(QuestionInitializer))
        check_choice("attention", attention, get_args(AttentionKind))
        check_choice("scorer", scorer, get_args(Scorer))
        check_rate("dropout", dropout)
        check_table_dtype("embedding_dtype", embedding_dtype)
        if attention == "question":
            maps = self.ATTENTION.items()
            self.declare(attention={n: m for n, m in maps if n != "question_to_context"})
        self._make_layers()

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
        self.encoder = LSTM(self.hidden_dim, name="encoder", dtype=policy)
        attends = Coattention if self.attention == "coattention" else QuestionAttention
        self.coattention = attends(self.question_initializer, name="coattention", dtype=policy)
        self.fusion = BidirectionalLSTM(self.hidden_dim, name="fusion", dtype=policy)
        maxout = self.scorer == "highway_maxout"
        self.decoder = (DynamicPointingDecoder if maxout else PerceptronPointingDecoder)(
            self.hidden_dim,
            self.pool_size,
            self.iterations,
            self.end_uses,
            name="decoder",
            dtype=policy,
        )
        self.drop = keras.layers.Dropout(self.dropout, name="dropout", dtype=policy)

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        self.embedding.build()
        self.encoder.build((None, None, self.embedding_dim))
        self.coattention.build((None, None, self.hidden_dim))
        parts = 3 if self.attention == "coattention" else 2
        self.fusion.build((None, None, parts * self.hidden_dim))
        self.decoder.build((None, None, 2 * self.hidden_dim))
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Estimates the answer's span.

        Args:
            inputs: ``question`` int32 (B, n) and ``context`` int32 (B, m), 0 where padded.
            training: whether dropout is on.

        Returns:
            ``start``, ``end``: float32 (B, m), logits of the last active iteration; ``span``: int32
            (B, 2), its estimates; ``start_per_iteration`` and ``end_per_iteration`` (B, I, m),
            ``span_per_iteration`` (B, I, 2), ``active`` bool (B, I); ``attention``:
            ``context_to_question`` (B, m, n + 1) and, of coattention, ``question_to_context``
            (B, n, m + 1), the last column the sentinel's.
        """
        question, context = inputs["question"], inputs["context"]
        question_mask, context_mask = mask_from_ids(question), mask_from_ids(context)

        # Section 2.1: one encoder reads both.
        document, _ = self.encoder(self._words(context, training), context_mask)  # (B, m, l)
        query, _ = self.encoder(self._words(question, training), question_mask)  # (B, n, l)

        # Section 2.2: coattention, then U = BiLSTM([d_t; c_t^D]).
        attended = self.coattention(document, context_mask, query, question_mask)
        parts = [document, attended.question_summary]
        if self.attention == "coattention":
            parts.append(attended.context)
        fused = ops.concatenate(parts, axis=-1)  # [d_t; c_t^D] (B, m, 3l)
        encoding, _ = self.fusion(self.drop(fused, training=training), context_mask)
        encoding = self.drop(encoding, training=training)  # U (B, m, 2l)

        # Section 2.3: the decoder refines its estimates.
        estimates = self.decoder(encoding, context_mask)
        attention = {"context_to_question": mask_rows(attended.document_to_question, context_mask)}
        if self.attention == "coattention":
            to_context = mask_rows(attended.question_to_document, question_mask)
            attention["question_to_context"] = to_context
        return pointing_outputs(estimates) | {"attention": attention}

    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Computes cross entropy of start and end, summed over iterations, of one answer each."""
        return self.weighted_losses(targets, outputs, None)

    def weighted_losses(
        self, targets: Any, outputs: dict[str, Any], weights: Any
    ) -> tuple[Tensor, Tensor]:
        """Computes ``example_losses`` with weights (B,) or None for start and end."""
        losses = pointing_losses(targets, outputs, self.loss_over, weights)
        return losses, ops.ones_like(losses)

    def _words(self, ids: Tensor, training: bool) -> Tensor:
        return self.drop(self.embedding(ids), training=training)  # (B, T, d)
