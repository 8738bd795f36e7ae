"""Attention over attention: a second attention weighs each query word's attention.

Source: Cui et al. 2016 (arXiv 1607.04423), section 3; the attention sum is from Kadlec et al. 2016
(arXiv 1603.01547), section 3. Neither has weights of its own.

Shape letters: B batch, D document words, Q query words, h encoding.
"""

from typing import NamedTuple

from keras import ops

from zoo.ops.masking import (
    Tensor,
    as_mask,
    at_least_float32,
    mask_rows,
    mask_scores,
    masked_log_softmax,
    masked_softmax,
)

_SMALLEST = 1e-37  # float32 logarithms are unreliable below


class OverAttentionOutput(NamedTuple):
    """Attention between document and query, float32 at least; 0 on padding."""

    document: Tensor
    """s (B, D): the distribution over the document, alpha weighted by the averaged beta."""
    log_document: Tensor
    """log s (B, D), ``MASKED_SCORE`` on padding."""
    query: Tensor
    """beta (B, Q): how much each query word matters, averaged over the document."""
    query_to_document: Tensor
    """alpha (B, Q, D): each query word's distribution over the document."""
    document_to_query: Tensor
    """beta(t) (B, D, Q): each document word's distribution over the query."""


def attend_over(
    document: Tensor, document_mask: Tensor, query: Tensor, query_mask: Tensor
) -> OverAttentionOutput:
    """Computes attention over attention.

    ``M(i, j) = h_doc(i) . h_query(j)``; ``alpha(j) = softmax_i M(i, j)``;
    ``beta(i) = softmax_j M(i, j)``; ``beta = sum_i beta(i) / |D|``; ``s = alpha^T beta``.

    Args:
        document: h_doc (B, D, h).
        document_mask: bool (B, D); beta is averaged over real positions only.
        query: h_query (B, Q, h).
        query_mask: bool (B, Q).

    Returns:
        See ``OverAttentionOutput``. s is zero if either side has no real position.

    Raises:
        ValueError: if a mask is None, holds floats or has another shape.
    """
    document_mask = as_mask(document_mask, document.shape[:2], name="document_mask")
    query_mask = as_mask(query_mask, query.shape[:2], name="query_mask")
    document, query = at_least_float32(document), at_least_float32(query)
    scores = ops.matmul(document, ops.swapaxes(query, 1, 2))  # M (B, D, Q)
    log_alpha = masked_log_softmax(scores, document_mask[:, :, None], axis=1)  # down each column
    beta_rows = masked_softmax(scores, query_mask[:, None, :], axis=2)  # along each row
    beta_rows = mask_rows(beta_rows, document_mask)
    length = ops.sum(ops.cast(document_mask, scores.dtype), axis=1)  # (B,)
    beta = ops.sum(beta_rows, axis=1) / ops.maximum(length, 1)[:, None]  # (B, Q)
    # s = sum_t alpha_t beta_t, in logarithms, so that weights that underflow have a gradient.
    log_beta = mask_scores(ops.log(ops.maximum(beta, _SMALLEST)), query_mask)
    log_s = ops.logsumexp(log_alpha + log_beta[:, None, :], axis=2)  # (B, D)
    log_s = mask_scores(log_s, document_mask & ops.any(query_mask, axis=1)[:, None])
    alpha = mask_rows(ops.swapaxes(ops.exp(log_alpha), 1, 2), query_mask)  # (B, Q, D)
    return OverAttentionOutput(ops.exp(log_s), log_s, beta, alpha, beta_rows)


def attend_sum(document: Tensor, document_mask: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
    """Computes the attention of the attention-sum reader: ``s = softmax_i h_doc(i) . u``.

    Args:
        document: h_doc (B, D, h).
        document_mask: bool (B, D).
        query: u (B, h), the query as a whole.

    Returns:
        s (B, D), 0 on padding, and log s, ``MASKED_SCORE`` on padding; float32 at least.

    Raises:
        ValueError: if the mask is None, holds floats or has another shape.
    """
    document_mask = as_mask(document_mask, document.shape[:2], name="document_mask")
    document, query = at_least_float32(document), at_least_float32(query)
    scores = ops.matmul(document, query[:, :, None])[:, :, 0]  # (B, D)
    log_s = masked_log_softmax(scores, document_mask, axis=1)
    return ops.exp(log_s), log_s
