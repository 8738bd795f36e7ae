"""Attention-over-Attention Reader for cloze questions.

Yiming Cui, Zhipeng Chen, Si Wei, Shijin Wang, Ting Liu, Guoping Hu: Attention-over-Attention
Neural Networks for Reading Comprehension. ACL 2017, arXiv 1607.04423. Covered: section 3
(contextual embedding, pairwise matching, both attentions, attention over attention, predictions)
and the initialisation and regularisation of section 4.1.

``attention="sum"`` is the reader it is compared with, of Rudolf Kadlec, Martin Schmid, Ondrej
Bajgar, Jan Kleindienst: Text Understanding with the Attention Sum Reader Network. ACL 2016, arXiv
1603.01547, section 3: the query is one vector, its two last states.

Where the papers are silent or several readings exist:
    encoders: two, one of the document and one of the query; ``shared_encoder`` makes them one;
    gated units: of Bahdanau et al. 2014, the reset gate before the matrix, one bias a gate;
    dropout: on word vectors;
    L2: ``embedding_l2`` times the sum of squares of the word vectors, that of padding left out;
    an answer that the document lacks: its probability is 0, its loss a constant.

Shape letters: B batch, D document words, Q query words, C candidates, d embedding, n hidden.

Expected result: the paper's single model reaches 74.4 % on the test part of CNN news, 72.0 and
69.4 on the named entities and common nouns of the Children's Book Test.

NumPy reference: ``tests/references/aoa_reader.py``. Docs: ``docs/architectures/aoa.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.layers.embedding import WordEmbedding
from zoo.layers.gated_unit import BidirectionalGatedUnit
from zoo.models.aoa.occurrences import log_total_of_words, total_of_each_position
from zoo.models.aoa.over_attention import attend_over, attend_sum
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap, BaseModel
from zoo.models.core.inputs import InputKind, Tokens
from zoo.models.core.registry import register_model
from zoo.models.core.targets import Targets
from zoo.ops.masking import MASKED_SCORE, Tensor, mask_from_ids, masked_argmax
from zoo.ops.numbers import check_choice, check_not_negative, check_rate

Attention = Literal["over", "sum"]

ABSENT_LOSS = 100.0
"""Loss of an answer that is not in the document; constant, so it has no gradient."""


@register_model(task="cloze")
class AttentionOverAttentionReader(BaseModel):
    """Fills the blank of a query with a word of a document.

    Args:
        vocabulary_size: number of word ids V.
        embedding_dim: size d of a word vector.
        hidden_dim: hidden size n of each direction.
        attention: ``"over"`` attention, or the ``"sum"`` reader's.
        shared_encoder: whether one encoder reads document and query.
        dropout: rate of dropout on word vectors in training.
        embedding_l2: weight of the sum of squares of the word vectors in the loss.

    Raises:
        ValueError: if ``attention`` is not one of its options, a size is not positive, ``dropout``
            is not a rate, or ``embedding_l2`` is negative.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"vocabulary_size": 118_497},  # CNN news
        "paper_named_entities": {"vocabulary_size": 53_063},  # of the Children's Book Test
        "paper_common_nouns": {"vocabulary_size": 53_185},
        "small": {"embedding_dim": 128, "hidden_dim": 128},
        "tiny": {
            "vocabulary_size": 30,
            "embedding_dim": 6,
            "hidden_dim": 5,
            "dropout": 0.0,
            "embedding_l2": 0.0,
        },
    }
    INPUTS: ClassVar[Mapping[str, InputKind]] = {
        "document": Tokens(size="vocabulary_size"),
        "query": Tokens(size="vocabulary_size"),
    }
    OPTIONAL_INPUTS: ClassVar[Mapping[str, InputKind]] = {
        "candidates": Tokens(size="vocabulary_size", scattered=True)
    }
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "query_to_document": AttentionMap(axes.Tokens("query"), axes.Tokens("document")),
        "document_to_query": AttentionMap(axes.Tokens("document"), axes.Tokens("query")),
    }
    """Maps of ``attention="over"``; ``"sum"`` has a single distribution and no map per word."""
    PREDICTION = "answer"
    TARGETS = Targets()

    def __init__(
        self,
        vocabulary_size: int,
        embedding_dim: int = 384,
        hidden_dim: int = 256,
        attention: Attention = "over",
        shared_encoder: bool = False,
        dropout: float = 0.1,
        embedding_l2: float = 1e-4,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        check_sizes(vocabulary_size=vocabulary_size, embedding_dim=embedding_dim)
        check_sizes(hidden_dim=hidden_dim)
        check_choice("attention", attention, get_args(Attention))
        check_rate("dropout", dropout)
        check_not_negative(embedding_l2=embedding_l2)
        if attention == "sum":
            self.declare(attention={})
        self._make_layers()

    def _make_layers(self) -> None:
        policy = self.dtype_policy
        self.embedding = WordEmbedding(
            self.vocabulary_size,
            self.embedding_dim,
            initializer=keras.initializers.RandomUniform(-0.05, 0.05),
            l2=self.embedding_l2,
            name="embedding",
            dtype=policy,
        )
        self.drop = keras.layers.Dropout(self.dropout, name="dropout", dtype=policy)
        names = ["encoder"] if self.shared_encoder else ["document_encoder", "query_encoder"]
        encoders = [
            BidirectionalGatedUnit(
                self.hidden_dim,
                kernel_initializer="orthogonal",
                recurrent_initializer="orthogonal",
                name=name,
                dtype=policy,
            )
            for name in names
        ]
        self.document_encoder, self.query_encoder = encoders[0], encoders[-1]

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        self.embedding.build()
        for encoder in (self.document_encoder, self.query_encoder):
            if not encoder.built:
                encoder.build((None, None, self.embedding_dim))
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Attends to the document, and adds up the attention of each word's occurrences.

        Args:
            inputs: ``document`` int32 (B, D) and ``query`` int32 (B, Q), 0 where padded; the blank
                is an ordinary word. Optionally ``candidates`` int32 (B, C), 0 where padded, which
                restricts the answer to these words.
            training: whether dropout is on.

        Returns:
            ``answer``: int32 (B,), the most probable candidate (the first of a tie), or without
            candidates the most probable word of the document; ``probabilities``: float32 (B, C),
            P(w) of each candidate, or (B, D) of the word at each position, 0 where padded;
            ``document_attention`` s and ``log_document_attention`` (B, D); ``document``: the ids,
            as given; ``query_attention``: beta (B, Q), of ``attention="over"``; ``attention``: of
            the same, ``query_to_document`` alpha (B, Q, D), ``document_to_query`` (B, D, Q).
        """
        attended = self.attend(inputs["document"], inputs["query"], training)
        return attended | self.choose(attended, inputs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """As in every model; ``"accuracy"`` is the share of right answers.

        An answer is one id, which Keras would take for that of a binary classifier.
        """
        for name in {"metrics", "weighted_metrics"} & kwargs.keys():
            kwargs[name] = keras.tree.map_structure(_of_answers, kwargs[name])
        super().compile(*args, **kwargs)

    def attend(self, document: Tensor, query: Tensor, training: bool = False) -> dict[str, Any]:
        """Encodes both texts (section 3, "contextual embedding") and computes the attentions.

        Args:
            document: as in `call`.
            query: as in `call`.
            training: whether dropout is on.

        Returns:
            The attention entries of `call`.
        """
        document_mask, query_mask = mask_from_ids(document), mask_from_ids(query)
        encoded, _, _ = self.document_encoder(  # h_doc (B, D, 2n)
            self._words(document, training), document_mask
        )
        states, last, first = self.query_encoder(  # h_query (B, Q, 2n)
            self._words(query, training), query_mask
        )
        if self.attention == "sum":
            summary = ops.concatenate([last, first], axis=-1)  # u (B, 2n)
            s, log_s = attend_sum(encoded, document_mask, summary)
            return {"document_attention": s, "log_document_attention": log_s, "attention": {}}
        attended = attend_over(encoded, document_mask, states, query_mask)
        return {
            "document_attention": attended.document,
            "log_document_attention": attended.log_document,
            "query_attention": attended.query,
            "attention": {
                "query_to_document": attended.query_to_document,
                "document_to_query": attended.document_to_query,
            },
        }

    def choose(self, attended: Mapping[str, Any], inputs: Mapping[str, Tensor]) -> dict[str, Any]:
        """Adds up the attention of each word's occurrences (section 3, "final predictions").

        Args:
            attended: ``document_attention`` and ``log_document_attention`` are used.
            inputs: as in `call`.

        Returns:
            The other entries of `call`.
        """
        document = inputs["document"]
        if inputs.get("candidates") is not None:
            words = inputs["candidates"]
            log_s = attended["log_document_attention"]
            probabilities = ops.exp(log_total_of_words(log_s, document, words))  # (B, C)
        else:
            words = document
            probabilities = total_of_each_position(attended["document_attention"], document)
        real = mask_from_ids(words)
        best = masked_argmax(probabilities, real, axis=1)  # (B,)
        return {
            "answer": ops.take_along_axis(words, best[:, None], axis=1)[:, 0],
            "probabilities": probabilities * ops.cast(real, probabilities.dtype),
            "document": document,
        }

    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Computes ``-log P(answer)``; one answer per example."""
        answers = ops.cast(targets, "int32")[:, None]  # (B, 1)
        log_s, document = outputs["log_document_attention"], outputs["document"]
        log_probability = log_total_of_words(log_s, document, answers)[:, 0]  # (B,)
        present = log_probability > 0.5 * MASKED_SCORE
        losses = ops.where(present, -log_probability, ABSENT_LOSS)
        return losses, ops.ones_like(losses)

    def _words(self, ids: Tensor, training: bool) -> Tensor:
        return self.drop(self.embedding(ids), training=training)  # (B, T, d)


def _of_answers(metric: Any) -> Any:
    """A compiled metric of ids; others than the accuracy are as they are."""
    return keras.metrics.Accuracy(name=metric) if metric in ("accuracy", "acc") else metric
