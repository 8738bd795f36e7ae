"""Interface between searches and models, and the result of a search."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, Protocol

import tensorflow as tf

Number = int | float | tf.Tensor
"""A Python number, or a scalar tensor, which is what a SavedModel receives."""
Tensors = dict[str, tf.Tensor]
"""Flat dict of named tensors: a state, a memory, or attention weights."""


class StepModel(Protocol):
    """Model that writes one token after another, as searches see it.

    ``memory`` is the encoded sources: a flat dict with leading axis B that includes ``"mask"``,
    bool (B, S), True at real source tokens. A search passes it on unchanged, but drops the rows of
    ended sentences, so B decreases during a search.

    ``state`` is a flat dict with a leading axis of rows. Row ``b * beam + k`` belongs to sentence
    b, so each sentence has ``rows // B`` rows, and one in the first step. Rows are reordered
    between steps. Entries named by ``shared_state`` have a leading axis B instead and are not
    reordered: they are a cache to which all rows of a sentence write. An initially empty axis may
    grow.
    """

    @property
    def ATTENTION(self) -> Mapping[str, Any]:  # noqa: N802
        """Names of the attention maps; searches use only ``"alignment"``, (target, source)."""

    @property
    def shared_state(self) -> Collection[str]:
        """Names of the state entries that the rows of a sentence share."""

    def initial_state(self, memory: Tensors) -> Tensors:
        """Makes the state before the first token, tensors (B, ...), from the memory."""

    def step(
        self, tokens: tf.Tensor, state: Tensors, memory: Tensors
    ) -> tuple[tf.Tensor, Tensors, Tensors]:
        """Runs one step.

        Args:
            tokens: int32 (rows,), the previous token, initially ``<s>``.
            state: tensors (rows, ...).
            memory: tensors (B, ...).

        Returns:
            Logits of the next token (rows, V), the new state, and the attention weights, if the
            model has any: ``{"alignment": (rows, S)}``, or (rows, H, W) for a grid of S = H W
            cells.
        """


class Hypotheses(NamedTuple):
    """N translations of each of B sentences, best first; L is the length of the longest of all.

    If fewer than N are found, the rest is empty: length 0, score and log-probability -inf.
    """

    tokens: tf.Tensor
    """int32 (B, N, L): tokens up to ``</s>`` or the maximum length, then padding."""
    lengths: tf.Tensor
    """int32 (B, N): number of tokens, ``</s>`` included."""
    scores: tf.Tensor
    """float32 (B, N): scores that rank them."""
    log_probabilities: tf.Tensor
    """float32 (B, N): sums of the tokens' log-probabilities under the model."""
    alignment: tf.Tensor
    """float32 (B, N, L, S): each token's attention, zeros after the end; (B, N, L, 0) for a model
    without a map ``"alignment"``."""
