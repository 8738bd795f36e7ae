"""Coattention: document and question attend to each other at once.

Source: Xiong et al. 2016 (arXiv 1611.01604), section 2.2, equations 1-3; and the attention to the
question alone that the paper compares with it (table 2).

Shape letters: B batch, m document words, n question words, l hidden. Each side has one trainable
sentinel, to attend to when nothing fits. It is at the last index, after the padding, which needs no
scatter; coattention does not depend on the order of positions.
"""

from typing import Any, Literal, NamedTuple

import keras
from keras import ops

from zoo.ops.masking import (
    Tensor,
    append_sentinel_mask,
    as_mask,
    at_least_float32,
    masked_softmax,
)

QuestionInitializer = Literal["glorot_uniform", "identity"]


class CoattentionOutput(NamedTuple):
    """Summaries and maps of all real words; the sentinels' own rows are dropped."""

    question_summary: Tensor
    """Q A^D (B, m, l): for each document word, the question words that it attends to."""
    document_summary: Tensor
    """C^Q = D A^Q (B, n, l): for each question word, the document words that it attends to."""
    context: Tensor
    """C^Q A^D (B, m, l): for each document word, the summaries of its question words."""
    document_to_question: Tensor
    """A^D (B, m, n + 1): each document word's distribution over the question and its sentinel."""
    question_to_document: Tensor
    """A^Q (B, n, m + 1): each question word's distribution over the document and its sentinel."""


class QuestionAttentionOutput(NamedTuple):
    """Summaries and map of all real document words."""

    question_summary: Tensor
    """Q A^D (B, m, l): for each document word, the question words that it attends to."""
    document_to_question: Tensor
    """A^D (B, m, n + 1): each document word's distribution over the question and its sentinel."""


@keras.saving.register_keras_serializable(package="zoo")
class QuestionAttention(keras.layers.Layer):
    """Attention of the document to the question alone, with a trainable sentinel.

    ``Q = tanh(W_Q Q' + b_Q)``; ``A^D = softmax((D^T Q)^T)`` over the question; ``C^D = Q A^D``. The
    paper calls it the attention of Wang and Jiang (2016), and writes ``C^D := C^Q``, whose columns
    are question words; what stands for document words without C^Q in equation 3 is ``Q A^D``.

    Args:
        question_initializer: Keras initialiser of W_Q, which the paper does not specify. With
            ``"identity"``, a word starts with similar encodings in question and document, so the
            model can match words before it has learned to.
    """

    def __init__(
        self, question_initializer: QuestionInitializer = "glorot_uniform", **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.question_initializer = question_initializer

    def build(self, document_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the question's sentinel (l,) and its projection (l, l)."""
        units = document_shape[-1]
        self.question_sentinel = self.add_weight(
            shape=(units,), initializer="glorot_uniform", name="question_sentinel"
        )
        self.question_projection = keras.layers.Dense(
            units,
            activation="tanh",
            kernel_initializer=self.question_initializer,
            name="question_projection",
            dtype=self.dtype_policy,
        )
        self.question_projection.build((None, None, units))

    def call(
        self, document: Tensor, document_mask: Tensor, question: Tensor, question_mask: Tensor
    ) -> Any:
        """Attends to the question; ``Coattention`` in both directions.

        Args:
            document: encoded document (B, m, l).
            document_mask: bool (B, m).
            question: encoded question (B, n, l), before its projection.
            question_mask: bool (B, n).

        Returns:
            See ``QuestionAttentionOutput``, or ``CoattentionOutput``. Rows of padded words are not
            masked.

        Raises:
            ValueError: if a mask is None, holds floats or has another shape.
        """
        document_mask = as_mask(document_mask, document.shape[:2], name="document_mask")
        question_mask = as_mask(question_mask, question.shape[:2], name="question_mask")
        question = append_sentinel(question, self.question_sentinel)  # (B, n + 1, l)
        question = self.question_projection(question)
        return self.attend(document, document_mask, question, append_sentinel_mask(question_mask))

    def attend(
        self, document: Tensor, document_mask: Tensor, question: Tensor, question_keys: Tensor
    ) -> Any:
        """Attends to Q (B, n + 1, l), whose last row is the sentinel, where keys are True."""
        dtype = document.dtype
        document, question = at_least_float32(document), at_least_float32(question)
        affinity = ops.matmul(document, ops.swapaxes(question, 1, 2))  # L (B, m, n + 1)
        to_question = masked_softmax(affinity, question_keys[:, None, :], axis=2)  # A^D, transposed
        output = QuestionAttentionOutput(ops.matmul(to_question, question), to_question)
        return QuestionAttentionOutput(*(ops.cast(values, dtype) for values in output))

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"question_initializer": self.question_initializer}


@keras.saving.register_keras_serializable(package="zoo")
class Coattention(QuestionAttention):
    """Coattention with separate trainable sentinels.

    ``Q = tanh(W_Q Q' + b_Q)``; ``L = D^T Q``; ``A^Q = softmax(L)`` over the document;
    ``A^D = softmax(L^T)`` over the question; ``C^Q = D A^Q``; ``C^D = [Q; C^Q] A^D``, here in
    its two halves.

    Args:
        question_initializer: as ``QuestionAttention`` has it.
    """

    def build(self, document_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the sentinels (l,) and the question's projection (l, l)."""
        self.document_sentinel = self.add_weight(
            shape=(document_shape[-1],), initializer="glorot_uniform", name="document_sentinel"
        )
        super().build(document_shape)

    def attend(
        self, document: Tensor, document_mask: Tensor, question: Tensor, question_keys: Tensor
    ) -> CoattentionOutput:
        """Attends in both directions, to a sentinel of the document too."""
        document = append_sentinel(document, self.document_sentinel)  # (B, m + 1, l)
        document_keys = append_sentinel_mask(document_mask)  # (B, m + 1)
        return coattend(document, document_keys, question, question_keys, sentinels=True)


def coattend(
    document: Tensor,
    document_mask: Tensor,
    question: Tensor,
    question_mask: Tensor,
    sentinels: bool = False,
) -> CoattentionOutput:
    """Computes coattention, which has no weights, of m document and n question positions.

    Args:
        document: D (B, m, l).
        document_mask: bool (B, m).
        question: Q (B, n, l).
        question_mask: bool (B, n).
        sentinels: whether the last position of each side is a sentinel, which is attended to but
            has no output row.

    Returns:
        See ``CoattentionOutput``; here maps have m and n columns. All are computed in
        float32 at least and returned in the dtype of D.

    Raises:
        ValueError: if a mask is None, holds floats or has another shape.
    """
    document_mask = as_mask(document_mask, document.shape[:2], name="document_mask")
    question_mask = as_mask(question_mask, question.shape[:2], name="question_mask")
    dtype = document.dtype
    document, question = at_least_float32(document), at_least_float32(question)
    affinity = ops.matmul(document, ops.swapaxes(question, 1, 2))  # L (B, m, n)
    to_document = masked_softmax(affinity, document_mask[:, :, None], axis=1)  # A^Q
    to_document = ops.swapaxes(to_document, 1, 2)  # (B, n, m)
    rows = affinity[:, :-1] if sentinels else affinity
    to_question = masked_softmax(rows, question_mask[:, None, :], axis=2)  # A^D, transposed
    summary = ops.matmul(to_document, document)  # C^Q (B, n, l)
    output = CoattentionOutput(
        question_summary=ops.matmul(to_question, question),  # (B, m, l)
        document_summary=summary[:, :-1] if sentinels else summary,
        context=ops.matmul(to_question, summary),  # (B, m, l)
        document_to_question=to_question,
        question_to_document=to_document[:, :-1] if sentinels else to_document,
    )
    return CoattentionOutput(*(ops.cast(values, dtype) for values in output))


def append_sentinel(values: Tensor, sentinel: Tensor) -> Tensor:
    """Appends ``sentinel`` (l,) to every row of ``values``: (B, T, l) -> (B, T + 1, l)."""
    batch, _, units = ops.shape(values)
    row = ops.broadcast_to(ops.cast(sentinel, values.dtype), (batch, 1, units))
    return ops.concatenate([values, row], axis=1)
