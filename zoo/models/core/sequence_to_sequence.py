"""Base of models that write a target for a source.

A model is taken apart into the steps that a search needs; training runs the same steps over the
whole target and projects to the vocabulary once, after the loop:

    memory = encode(inputs)              once per source
    state = initial_state(memory)        before the first target token
    inputs = embed(tokens)               what depends on neither state nor time, for all tokens
    features, state, attention = advance(inputs_t, state, memory)
    logits = project(features)

``step`` composes the last three. Memory and state are flat dicts. The memory has one row a source
and is never tiled: with k hypotheses a source the state has k times as many rows, source by source.

Shape letters: B sources, R rows (B, or k B in a search), S source tokens, T target tokens,
V vocabulary.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from keras import ops, tree

from zoo.layers.recurrence import scan
from zoo.models.core import axes
from zoo.models.core.base import AttentionMap, BaseModel
from zoo.models.core.inputs import InputKind, Tokens
from zoo.models.core.targets import Targets
from zoo.ops.cross_entropy import SmoothingOver, precise_cross_entropy
from zoo.ops.masking import Tensor, mask_from_ids, mask_rows

Features = Tensor | dict[str, Tensor]
"""Input of ``project``: a tensor, or a flat dict of tensors where there are several parts."""
LossNormaliser = Literal["sentences", "tokens"]
START_ID = 2
"""Id of ``<s>``, with which every target begins."""
END_ID = 3
"""Id of ``</s>``, with which every source ends, and what is to be written."""


class SequenceToSequenceModel(BaseModel):
    """A model from ``source`` and ``target`` ids to ``logits`` of the next target ids.

    A subclass sets ``loss_normaliser`` and implements the steps above.
    """

    INPUTS: ClassVar[Mapping[str, InputKind]] = {
        "source": Tokens(size="source_vocabulary_size"),
        "target": Tokens(size="target_vocabulary_size"),
    }
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "alignment": AttentionMap(axes.Steps("target"), axes.Tokens("source"))
    }
    PREDICTION = "logits"
    TARGETS = Targets(tokens="target")
    loss_normaliser: LossNormaliser
    label_smoothing: float = 0.0
    smoothing_over: SmoothingOver = "others"

    @abstractmethod
    def encode(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Tensor]:
        """Reads the sources.

        Args:
            inputs: ``source`` int32 (B, S), 0 where padded.
            training: whether dropout is on.

        Returns:
            The memory, a flat dict (B, ...); ``mask`` bool (B, S) is in it.
        """

    @abstractmethod
    def initial_state(self, memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """The state before the first token, a flat dict (B, ...)."""

    @property
    def shared_state(self) -> frozenset[str]:
        """Names of what the rows of a source have together in the state: (B, ...).

        A search neither repeats nor reorders it; of all else each row has its own, (R, ...).
        """
        return frozenset()

    @abstractmethod
    def embed(self, tokens: Tensor, training: bool = False) -> dict[str, Tensor]:
        """Embeds the decoder's tokens int32 (R, T): a flat dict (R, T, ...)."""

    @abstractmethod
    def advance(
        self, inputs: dict[str, Tensor], state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[Features, dict[str, Tensor], dict[str, Tensor]]:
        """One step of the decoder.

        Args:
            inputs: one step of ``embed``, (R, ...).
            state: (R, ...).
            memory: (B, ...).

        Returns:
            What ``project`` needs, (R, f); the new state; the attention, as ``expand`` takes it.
        """

    @abstractmethod
    def project(self, features: Features, training: bool = False) -> Tensor:
        """Logits (..., V) of the next token from features (..., f)."""

    def expand(self, attention: dict[str, Tensor], memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """Maps over the source, (R, T, S), from what ``advance`` returned, with a time axis."""
        return attention

    def details(self, attention: dict[str, Tensor]) -> dict[str, Tensor]:
        """More outputs of ``call``, (B, T, ...), from what ``expand`` takes."""
        return {}

    def step(
        self, tokens: Tensor, state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        """Writes one token more: what a search calls.

        Args:
            tokens: int32 (R,), the token before, ``<s>`` at first.
            state: (R, ...), row r belongs to source ``r // (R // B)``.
            memory: (B, ...).

        Returns:
            Logits (R, V), the new state, and ``{"alignment": (R, S)}``, (R, H, W) where S are the
            cells of a grid, or no map at all.
        """
        features, state, maps = self.step_features(tokens, state, memory)
        return self.project(features), state, maps

    def step_features(
        self, tokens: Tensor, state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[Features, dict[str, Tensor], dict[str, Tensor]]:
        """As ``step``, with what ``project`` needs instead of logits."""
        embedded = self.embed(tokens[:, None])
        inputs = {name: values[:, 0] for name, values in embedded.items()}
        features, state, attention = self.advance(inputs, state, memory)
        maps = {name: values[:, None] for name, values in attention.items()}
        maps = {name: values[:, 0] for name, values in self.expand(maps, memory).items()}
        return features, state, maps

    def for_beam(self) -> Any:
        """Returns what a beam search steps: the model, or a form of it that is faster in a loop."""
        return self

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Predicts every target token from those before it.

        Args:
            inputs: ``source`` int32 (B, S), ``target`` int32 (B, T), beginning with ``<s>``; 0
                where padded.
            training: whether dropout is on.

        Returns:
            ``logits`` (B, T, V), and the outputs of ``read_pairs``.
        """
        features, outputs = self.read_pairs(inputs, training)
        return {"logits": self.project(features, training=training)} | outputs

    def read_pairs(
        self, inputs: dict[str, Tensor], training: bool = False
    ) -> tuple[Features, dict[str, Any]]:
        """Runs over whole targets, up to what ``project`` needs.

        Args:
            inputs: as in ``call``.
            training: whether dropout is on.

        Returns:
            Features (B, T, f). ``attention``: ``alignment`` (B, T, S), rows of padded targets zero;
            and whatever ``details`` adds.
        """
        memory = self.encode(inputs, training=training)
        return self.read_target(inputs["target"], memory, training)

    def read_target(
        self, target: Tensor, memory: dict[str, Tensor], training: bool = False
    ) -> tuple[Features, dict[str, Any]]:
        """Runs over whole targets, int32 (B, T), with the sources encoded: see ``read_pairs``."""
        embedded = self.embed(target, training=training)

        def one_step(inputs: Any, state: Any) -> tuple[Any, Any]:
            features, state, attention = self.advance(inputs, state, memory)
            return (features, attention), state

        (features, attention), _ = scan(one_step, embedded, self.initial_state(memory))
        maps = self.expand(attention, memory)
        real = mask_from_ids(target)
        masked = {name: mask_rows(weights, real) for name, weights in maps.items()}
        return features, {"attention": masked} | self.details(attention)

    def forward(self, inputs: Any, targets: Any) -> dict[str, Any]:
        """Computes the outputs of a training step, with ``losses`` (B, T) instead of logits.

        So the projection skips padding. Where a metric asks for logits they are made all the same;
        and for XLA, whose shapes have to be known beforehand.
        """
        if self.jit_compile or self._compile_metrics is not None:
            return super().forward(inputs, targets)
        return self.losses_of_pairs(inputs, targets)

    def losses_of_pairs(self, inputs: dict[str, Tensor], targets: Tensor) -> dict[str, Any]:
        """As ``call`` in training, with ``losses`` (B, T), 0 where padded, instead of logits."""
        features, outputs = self.read_pairs(inputs, training=True)
        return {"losses": self._losses_of_real(features, targets, training=True)} | outputs

    def _maybe_symbolic_build(self, iterator: Any = None, data_batch: Any = None) -> None:
        """Builds the model, as Keras does when it is called: a training step calls its parts."""
        self._build_at_once()
        super()._maybe_symbolic_build(iterator, data_batch)

    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Cross entropy of the target ids (B, T), 0 where padded, with smoothed labels."""
        return self.weighted_losses(targets, outputs, None)

    def weighted_losses(
        self, targets: Any, outputs: dict[str, Any], weights: Any
    ) -> tuple[Tensor, Tensor]:
        """As ``example_losses``, each token's loss times its weight, of (B, T) or None."""
        losses = outputs.get("losses")
        if losses is None:
            losses = self._token_losses(outputs["logits"], targets)
        return sum_of_tokens(losses, targets, weights, self.loss_normaliser)

    def _losses_of_real(self, features: Features, targets: Tensor, training: bool) -> Tensor:
        """Losses (B, T), zero where padded, from features (B, T, f)."""
        ids = ops.reshape(targets, (-1,))
        (places,) = ops.nonzero(ids)  # (N,)
        rows = tree.map_structure(lambda x: _take_rows(x, places), features)  # (N, f)
        logits = self.project(rows, training=training)
        losses = self._token_losses(logits, ops.take(ids, places))
        spread = ops.scatter(places[:, None], losses, ops.shape(ids))
        return ops.reshape(spread, ops.shape(targets))

    def _token_losses(self, logits: Tensor, ids: Tensor) -> Tensor:
        """Losses (...) of logits (..., V), at least in single precision."""
        return precise_cross_entropy(logits, ids, self.label_smoothing, self.smoothing_over)


def sum_of_tokens(
    losses: Tensor, targets: Tensor, weights: Tensor | None, normaliser: LossNormaliser
) -> tuple[Tensor, Tensor]:
    """Adds up the losses of each example's tokens, and counts its units.

    Args:
        losses: float (B, T).
        targets: int (B, T), 0 where padded, which has no loss.
        weights: (B, T), by which losses are multiplied; None: by one.
        normaliser: units are real tokens, or sentences.

    Returns:
        (B,) and float (B,).
    """
    real = ops.cast(mask_from_ids(targets), "float32")
    factors = real if weights is None else real * ops.cast(weights, real.dtype)
    losses = ops.sum(losses * ops.cast(factors, losses.dtype), axis=-1)
    if normaliser == "tokens":
        return losses, ops.sum(real, axis=-1)
    return losses, ops.ones_like(losses)


def mean_weights(targets: Tensor, weights: Tensor, dtype: str = "float32") -> Tensor:
    """Means (B,) of the weights (B, T) of each example's real tokens, computed in ``dtype``."""
    real = ops.cast(mask_from_ids(targets), dtype)
    count = ops.maximum(ops.sum(real, axis=-1), 1.0)
    return ops.sum(real * ops.cast(weights, dtype), axis=-1) / count


def _take_rows(values: Tensor, places: Tensor) -> Tensor:
    """The vectors (N, f) at these places of (B, T, f), counted along both axes."""
    return ops.take(ops.reshape(values, (-1, values.shape[-1])), places, axis=0)


def group_rows(values: Tensor, batch: Tensor | int) -> Tensor:
    """Rows (R, d) as the queries (B, R / B, d) of their sources."""
    rows, dim = ops.shape(values)
    # An empty batch has no rows to divide by.
    return ops.reshape(values, (batch, rows // ops.maximum(batch, 1), dim))


def ungroup_rows(values: Tensor) -> Tensor:
    """(B, R / B, ...) as rows (R, ...)."""
    batch, beam, *rest = ops.shape(values)
    return ops.reshape(values, (batch * beam, *rest))


def repeat_rows(values: Tensor, rows: Tensor | int) -> Tensor:
    """Repeats the vector of each source (B, d) for all of its rows: (R, d)."""
    batch, dim = ops.shape(values)
    beam = rows // ops.maximum(batch, 1)
    return ops.reshape(ops.broadcast_to(values[:, None], (batch, beam, dim)), (rows, dim))
