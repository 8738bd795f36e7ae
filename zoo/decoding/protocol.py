"""The interface between searches and models, and the result of a search."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, Protocol

import tensorflow as tf

Number = int | float | tf.Tensor
"""A Python number, or a scalar tensor: a SavedModel is fed these."""
Tensors = dict[str, tf.Tensor]
"""A flat dict of named tensors: a state, a memory, or attention weights."""


class StepModel(Protocol):
    """A model that writes one token after another; all that a search knows of it.

    ``memory`` is what the model made of the sources: a flat dict with leading axis B, among it
    ``"mask"``, bool (B, S), True where a source token is real. It is handed through as it is, but
    for the rows of sentences that have ended: B falls while a search goes on.

    ``state`` is a flat dict with a leading axis of rows. Row ``b * beam + k`` belongs to sentence
    b, so that ``rows // B`` is the number of rows of each; it is 1 in the first step. Rows are
    reordered between steps. What ``shared_state`` names has a leading axis B instead and is left as
    it is: a cache that all rows of a sentence write to. An axis that is empty at first may grow.
    """

    @property
    def ATTENTION(self) -> Mapping[str, Any]:  # noqa: N802
        """Names of the attention maps; only ``"alignment"``, (target, source), is looked at."""

    @property
    def shared_state(self) -> Collection[str]:
        """Names of what the rows of a sentence share in the state."""

    def initial_state(self, memory: Tensors) -> Tensors:
        """The state before the first token: memory to tensors (B, ...)."""

    def step(
        self, tokens: tf.Tensor, state: Tensors, memory: Tensors
    ) -> tuple[tf.Tensor, Tensors, Tensors]:
        """One step.

        Args:
            tokens: int32 (rows,), the token before: ``<s>`` at first.
            state: tensors (rows, ...).
            memory: tensors (B, ...).

        Returns:
            Logits of the next token (rows, V), the new state, and the attention weights, where the
            model has any: ``{"alignment": (rows, S)}``.
        """


class Hypotheses(NamedTuple):
    """N translations of each of B sentences, best first; L is the length of the longest of all.

    Where there are fewer than N, the rest is empty: length 0, score and log-probability -inf.
    """

    tokens: tf.Tensor
    """int32 (B, N, L): ends in ``</s>`` unless the maximum length came first; then padding."""
    lengths: tf.Tensor
    """int32 (B, N): number of tokens, ``</s>`` counted."""
    scores: tf.Tensor
    """float32 (B, N): what they are ranked by."""
    log_probabilities: tf.Tensor
    """float32 (B, N): sums of the tokens' log-probabilities under the model."""
    alignment: tf.Tensor
    """float32 (B, N, L, S): the attention that each token was written with, zeros after the end;
    (B, N, L, 0) for a model that has no map ``"alignment"``."""
