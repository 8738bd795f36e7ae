"""DCN+: the Dynamic Coattention Network with deep residual coattention and a mixed objective.

Caiming Xiong, Victor Zhong, Richard Socher: DCN+: Mixed Objective and Deep Residual Coattention
for Question Answering. ICLR 2018, arXiv 1711.00106. Covered: section 2.1 (deep residual
coattention encoder), 2.2 (mixed objective) and the sparse mixture of experts of the decoder.

Where the paper is silent or several readings exist:
    sentinels: in layer 1 only, appended after the BiLSTM; their rows are dropped afterwards;
    layer 2 has no projection of the question;
    experts: the linear pieces of the replaced maxout layer; two are active;
    reward: F1 of the positions of two spans, 0 for a span that ends before it starts;
    objective: with the logarithms of Kendall et al. 2017, which the print omits: without them the
        learned weights of both losses go to zero;
    inputs: word vectors only, without the paper's character n-grams and CoVe.

Shape letters: B batch, m document ("context") words, n question words, d embedding, l hidden,
I iterations.

Expected result: the paper reports 74.5 exact match / 83.1 F1 on SQuAD 1.1's development set, with
CoVe and character n-grams.

NumPy reference: ``tests/references/dcn_plus.py``. Docs: ``docs/architectures/dcn.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.layers.embedding import WordEmbedding
from zoo.layers.lstm import BidirectionalLSTM
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap, BaseModel
from zoo.models.core.inputs import InputKind, Tokens
from zoo.models.core.registry import register_model
from zoo.models.core.targets import Targets
from zoo.models.dcn.coattention import (
    Coattention,
    CoattentionOutput,
    QuestionInitializer,
    coattend,
)
from zoo.models.dcn.pointing import (
    EndUses,
    LossOver,
    MixturePointingDecoder,
    pointing_losses,
    pointing_outputs,
    sampled_log_probability,
    span_overlap_f1,
)
from zoo.ops.masking import Tensor, mask_from_ids, mask_rows
from zoo.ops.numbers import check_choice, check_rate, check_table_dtype
from zoo.ops.sampling import draw_categorical

Objective = Literal["mixed", "cross_entropy"]


@register_model(task="reading")
class DynamicCoattentionNetworkPlus(BaseModel):
    """Finds the span of a context that answers a question.

    Args:
        vocabulary_size: number of word ids V.
        embedding_dim: size d of a word vector.
        hidden_dim: hidden size l of each direction of every part.
        pool_size: linear pieces of each maxout, and number of experts.
        iterations: number I of estimates of the decoder.
        end_uses: the start estimate that the end scorer reads, ``"previous"`` or ``"current"``.
        loss_over: ``"all"`` iterations, or until the estimates ``"halt"``.
        objective: ``"mixed"`` (cross entropy and self-critical reinforcement) or cross entropy
            alone.
        question_initializer: of W_Q; with ``"identity"``, the model can match words of question and
            context from the start.
        dropout: rate of dropout in training.
        trainable_embeddings: whether word vectors are trained.
        embedding_dtype: dtype the word vectors are stored in; None: the model's.

    Raises:
        ValueError: if an option is not one of its values, a size is not positive, or ``dropout`` is
            not a rate.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"vocabulary_size": 400_004},
        "small": {"embedding_dim": 100, "hidden_dim": 100, "pool_size": 4},
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
        "deep_context_to_question": AttentionMap(axes.Tokens("context"), axes.Tokens("question")),
        "deep_question_to_context": AttentionMap(axes.Tokens("question"), axes.Tokens("context")),
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
        objective: Objective = "mixed",
        question_initializer: QuestionInitializer = "glorot_uniform",
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
        check_choice("objective", objective, get_args(Objective))
        check_choice("question_initializer", question_initializer, get_args(QuestionInitializer))
        check_rate("dropout", dropout)
        check_table_dtype("embedding_dtype", embedding_dtype)
        self._make_layers()

    def _make_layers(self) -> None:
        policy, units = self.dtype_policy, self.hidden_dim
        self.embedding = WordEmbedding(
            self.vocabulary_size,
            self.embedding_dim,
            self.embedding_dtype,
            trainable=self.trainable_embeddings,
            name="embedding",
            dtype=policy,
        )
        self.first_encoder = BidirectionalLSTM(units, name="first_encoder", dtype=policy)
        self.coattention = Coattention(self.question_initializer, name="coattention", dtype=policy)
        self.second_encoder = BidirectionalLSTM(units, name="second_encoder", dtype=policy)
        self.fusion = BidirectionalLSTM(units, name="fusion", dtype=policy)
        self.decoder = MixturePointingDecoder(
            units, self.pool_size, self.iterations, self.end_uses, name="decoder", dtype=policy
        )
        self.drop = keras.layers.Dropout(self.dropout, name="dropout", dtype=policy)
        self.sampling_seed = keras.random.SeedGenerator()

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        width = 2 * self.hidden_dim
        self.embedding.build()
        self.first_encoder.build((None, None, self.embedding_dim))
        self.coattention.build((None, None, width))
        self.second_encoder.build((None, None, width))
        self.fusion.build((None, None, 6 * width))
        self.decoder.build((None, None, width))
        if self.objective == "mixed":
            self.log_s_ce = self.add_weight(shape=(), initializer="zeros", name="log_s_ce")
            self.log_s_rl = self.add_weight(shape=(), initializer="zeros", name="log_s_rl")
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Estimates the answer's span.

        Args:
            inputs: ``question`` int32 (B, n) and ``context`` int32 (B, m), 0 where padded.
            training: whether dropout is on and spans are sampled.

        Returns:
            The outputs of ``DynamicCoattentionNetwork`` and the second layer's attention,
            ``deep_context_to_question`` (B, m, n) and ``deep_question_to_context`` (B, n, m); with
            the mixed objective, in training, also ``sampled_span_per_iteration`` (B, I, 2).
        """
        question, context = inputs["question"], inputs["context"]
        question_mask, context_mask = mask_from_ids(question), mask_from_ids(context)

        encoding, first, second = self._encode(
            question, question_mask, context, context_mask, training
        )
        outputs: dict[str, Any] = pointing_outputs(self.decoder(encoding, context_mask))
        if training and self.objective == "mixed":
            outputs["sampled_span_per_iteration"] = self._sample(outputs)
        maps = {
            "context_to_question": mask_rows(first.document_to_question, context_mask),
            "question_to_context": mask_rows(first.question_to_document, question_mask),
            "deep_context_to_question": mask_rows(second.document_to_question, context_mask),
            "deep_question_to_context": mask_rows(second.question_to_document, question_mask),
        }
        return outputs | {"attention": maps}

    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Computes the mixed objective, or cross entropy alone; one answer per example."""
        return self.weighted_losses(targets, outputs, None)

    def weighted_losses(
        self, targets: Any, outputs: dict[str, Any], weights: Any
    ) -> tuple[Tensor, Tensor]:
        """Computes ``example_losses`` with weights (B,) or None for start and end.

        The mixed objective is also a sum over both sides, so each gets half of log s_ce + log s_rl.
        """
        losses = pointing_losses(targets, outputs, self.loss_over, weights)  # (B,)
        if self.objective == "mixed":
            reinforcement = self._reinforcement(targets, outputs, weights)
            log_s_ce = ops.cast(self.log_s_ce, losses.dtype)
            log_s_rl = ops.cast(self.log_s_rl, losses.dtype)
            losses = ops.exp(-2 * log_s_ce) * losses + ops.exp(-2 * log_s_rl) * reinforcement
            uncertainty = log_s_ce + log_s_rl
            if weights is not None:
                halves = [ops.cast(weights[side], losses.dtype) / 2 for side in ("start", "end")]
                uncertainty = uncertainty * sum(halves)
            losses = losses / 2 + uncertainty
        return losses, ops.ones_like(losses)

    def _encode(
        self,
        question: Tensor,
        question_mask: Tensor,
        context: Tensor,
        context_mask: Tensor,
        training: bool,
    ) -> tuple[Tensor, CoattentionOutput, CoattentionOutput]:
        """Encodes both texts (section 2.1): U (B, m, 2l) and the attention of both layers."""
        document, _ = self.first_encoder(self._words(context, training), context_mask)  # E_1^D
        query, _ = self.first_encoder(self._words(question, training), question_mask)
        first = self.coattention(document, context_mask, query, question_mask)

        deep_document, _ = self.second_encoder(first.question_summary, context_mask)  # E_2^D
        deep_query, _ = self.second_encoder(first.document_summary, question_mask)
        second = coattend(deep_document, context_mask, deep_query, question_mask)

        # The residual connections: U = BiLSTM([E_1; E_2; S_1; S_2; C_1; C_2]).
        summaries = [first.question_summary, second.question_summary, first.context, second.context]
        fused = ops.concatenate([document, deep_document, *summaries], axis=-1)  # (B, m, 12l)
        encoding, _ = self.fusion(self.drop(fused, training=training), context_mask)
        return self.drop(encoding, training=training), first, second

    def _sample(self, outputs: dict[str, Tensor]) -> Tensor:
        """Samples a start and an end at each iteration: int32 (B, I, 2)."""
        every = [outputs[f"{side}_per_iteration"] for side in ("start", "end")]  # (B, I, m) each
        draws = [draw_categorical(logits, self.sampling_seed) for logits in every]
        return ops.stack(draws, axis=-1)

    def _reinforcement(self, targets: Any, outputs: dict[str, Any], weights: Any) -> Tensor:
        """Computes -(F1(sampled) - F1(greedy)) sum_t log p(sampled_t) (section 2.2), (B,).

        Both sides are weighted. Outside training nothing is sampled and the result is 0.
        """
        if "sampled_span_per_iteration" not in outputs:
            return ops.zeros_like(outputs["start"][:, 0])
        sampled = outputs["sampled_span_per_iteration"]
        answer = ops.stack([targets["start"], targets["end"]], axis=-1)  # (B, 2)
        advantage = span_overlap_f1(sampled[:, -1], answer)
        advantage = advantage - span_overlap_f1(outputs["span"], answer)
        log_probability = sampled_log_probability(sampled, outputs, weights)
        return -ops.stop_gradient(ops.cast(advantage, log_probability.dtype)) * log_probability

    def _words(self, ids: Tensor, training: bool) -> Tensor:
        return self.drop(self.embedding(ids), training=training)  # (B, T, d)
