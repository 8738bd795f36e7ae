"""Dynamic pointing decoder: iterative estimates of the answer's start and end.

Source: Xiong et al. 2016 (arXiv 1611.01604), section 2.3, equations 5-8; 9-12 are in
`maxout.py`. Shared by the Dynamic Coattention Network and its successor DCN+.

Shape letters: B batch, m positions, l hidden, I iterations.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import keras
from keras import ops

from zoo.layers.lstm import LSTM
from zoo.models.dcn.maxout import HighwayMaxoutNetwork, HighwayMixtureNetwork
from zoo.ops.gathering import gather_positions, position_gatherer
from zoo.ops.masking import Tensor, as_mask, last_position, mask_scores

EndUses = Literal["previous", "current"]
LossOver = Literal["all", "halt"]


@keras.saving.register_keras_serializable(package="zoo")
class DynamicPointingDecoder(keras.layers.Layer):
    """Alternates between estimating the start and the end of the answer.

    ``h_i = LSTM(h_{i-1}, [u_{s_{i-1}}; u_{e_{i-1}}])``, then separate start and end scorers read
    every position together with h_i and the current estimates. The best position of each is the
    next estimate. No gradient passes through the choice of a position.

    Args:
        units: hidden size l.
        pool_size: number of linear pieces of the scorers' maxouts.
        iterations: number I of estimates; all are computed.
        end_uses: whether the end scorer reads the ``"previous"`` start (the paper as printed) or
            the ``"current"`` one, just estimated (most released code).
    """

    def __init__(
        self,
        units: int,
        pool_size: int,
        iterations: int = 4,
        end_uses: EndUses = "previous",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.pool_size = pool_size
        self.iterations = iterations
        self.end_uses = end_uses
        self.lstm = LSTM(units, name="lstm", dtype=self.dtype_policy)
        self.start_scorer = self.make_scorer("start_scorer")
        self.end_scorer = self.make_scorer("end_scorer")

    def make_scorer(self, name: str) -> keras.layers.Layer:
        """Makes a network that scores positions, one each for start and end."""
        return HighwayMaxoutNetwork(self.units, self.pool_size, name=name, dtype=self.dtype_policy)

    def build(self, encoding_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights for an encoding (B, m, 2l)."""
        self.lstm.build((None, 2 * encoding_shape[-1]))
        self.start_scorer.build(encoding_shape)
        self.end_scorer.build(encoding_shape)

    def call(self, encoding: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """Estimates start and end ``iterations`` times, from (first, last) position.

        Args:
            encoding: U (B, m, 2l).
            mask: bool (B, m).

        Returns:
            ``start``, ``end``: float32 logits (B, I, m), ``MASKED_SCORE`` where padded;
            ``span``: int32 (B, I, 2), the estimates (s_i, e_i);
            ``active``: bool (B, I), False once an earlier iteration has repeated its estimates.
        """
        mask = as_mask(mask, encoding.shape[:2])
        prepared = self.start_scorer.prepare(encoding), self.end_scorer.prepare(encoding)
        vector_at = position_gatherer(encoding)
        batch = ops.shape(encoding)[0]
        span = ops.zeros((batch,), "int32"), last_position(mask)
        state = (ops.zeros((batch, self.units), encoding.dtype),) * 2
        active = ops.ones((batch,), "bool")
        starts, ends, spans, actives = [], [], [], []
        for _ in range(self.iterations):
            previous = span
            state, scores, span = self._iterate(vector_at, mask, prepared, state, previous)
            starts.append(scores[0])
            ends.append(scores[1])
            spans.append(ops.stack(span, axis=-1))  # (B, 2)
            actives.append(active)
            confirmed = (span[0] == previous[0]) & (span[1] == previous[1])
            active = active & ~confirmed
        return {
            "start": ops.stack(starts, axis=1),
            "end": ops.stack(ends, axis=1),
            "span": ops.stack(spans, axis=1),
            "active": ops.stack(actives, axis=1),
        }

    def _iterate(
        self,
        vector_at: Callable[[Tensor], Tensor],
        mask: Tensor,
        prepared: tuple[Tensor, Tensor],
        state: tuple[Tensor, Tensor],
        span: tuple[Tensor, Tensor],
    ) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Runs one iteration: new LSTM state, (start, end) scores (B, m) and new estimates."""
        start_vector, end_vector = vector_at(span[0]), vector_at(span[1])  # (B, 2l)
        state = self.lstm.step(ops.concatenate([start_vector, end_vector], axis=-1), state)
        hidden = state[0]
        scores = self.start_scorer.scores(prepared[0], hidden, start_vector, end_vector)
        start_scores = mask_scores(scores, mask)
        start = ops.cast(ops.argmax(start_scores, axis=-1), "int32")
        if self.end_uses == "current":
            start_vector = vector_at(start)
        scores = self.end_scorer.scores(prepared[1], hidden, start_vector, end_vector)
        end_scores = mask_scores(scores, mask)
        end = ops.cast(ops.argmax(end_scores, axis=-1), "int32")
        return state, (start_scores, end_scores), (start, end)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "pool_size": self.pool_size,
            "iterations": self.iterations,
            "end_uses": self.end_uses,
        }


@keras.saving.register_keras_serializable(package="zoo")
class MixturePointingDecoder(DynamicPointingDecoder):
    """Pointing decoder of DCN+, whose scorers begin with a mixture of experts."""

    def make_scorer(self, name: str) -> HighwayMaxoutNetwork:
        """Makes a network that scores positions, one each for start and end."""
        return HighwayMixtureNetwork(self.units, self.pool_size, name=name, dtype=self.dtype_policy)


def pointing_outputs(estimates: dict[str, Tensor]) -> dict[str, Tensor]:
    """Gives the decoder's estimates the names that all readers share, and adds the prediction.

    Args:
        estimates: result of ``DynamicPointingDecoder``.

    Returns:
        ``start``, ``end`` (B, m) and ``span`` (B, 2) of the last active iteration;
        ``start_per_iteration``, ``end_per_iteration`` (B, I, m), ``span_per_iteration`` (B, I, 2)
        and ``active`` (B, I).
    """
    last = ops.sum(ops.cast(estimates["active"], "int32"), axis=1) - 1  # (B,)
    return {
        "start": gather_positions(estimates["start"], last),
        "end": gather_positions(estimates["end"], last),
        "span": gather_positions(estimates["span"], last),
        "start_per_iteration": estimates["start"],
        "end_per_iteration": estimates["end"],
        "span_per_iteration": estimates["span"],
        "active": estimates["active"],
    }


def pointing_losses(
    targets: dict[str, Tensor],
    outputs: dict[str, Tensor],
    over: LossOver,
    weights: Mapping[str, Tensor] | None = None,
) -> Tensor:
    """Computes the cross entropy of start and end, summed over the iterations.

    Args:
        targets: ``start`` and ``end``, int (B,).
        outputs: result of ``pointing_outputs``.
        over: ``"all"`` iterations, or ``"halt"``: only the active ones.
        weights: factors (B,) of the losses of ``start`` and ``end``; None: one.

    Returns:
        float32 (B,).
    """
    sides = {
        side: _cross_entropy(targets[side], outputs[f"{side}_per_iteration"])  # (B, I)
        for side in ("start", "end")
    }
    losses = _weighted_sum(sides, weights)  # (B, I)
    if over == "halt":
        losses = losses * ops.cast(outputs["active"], losses.dtype)
    return ops.sum(losses, axis=1)


def _cross_entropy(target: Tensor, logits: Tensor) -> Tensor:
    """Computes losses (B, I) of positions (B,) under logits (B, I, m)."""
    iterations = logits.shape[1]
    target = ops.repeat(ops.cast(target, "int32")[:, None], iterations, axis=1)  # (B, I)
    return ops.sparse_categorical_crossentropy(target, logits, from_logits=True)


def sampled_log_probability(
    sampled: Tensor, outputs: dict[str, Tensor], weights: Mapping[str, Tensor] | None = None
) -> Tensor:
    """Computes the log-probability of each iteration's sampled span, summed over iterations.

    Args:
        sampled: int (B, I, 2).
        outputs: result of ``pointing_outputs``.
        weights: as in ``pointing_losses``.

    Returns:
        float32 (B,).
    """
    sides = {
        side: -ops.sparse_categorical_crossentropy(
            sampled[..., index], outputs[f"{side}_per_iteration"], from_logits=True
        )
        for index, side in enumerate(("start", "end"))
    }
    return ops.sum(_weighted_sum(sides, weights), axis=1)


def _weighted_sum(sides: Mapping[str, Tensor], weights: Mapping[str, Tensor] | None) -> Tensor:
    """Sums both sides (B, I), each times its weights (B,)."""
    if weights is None:
        return sum(sides.values())
    return sum(one * ops.cast(weights[side], one.dtype)[:, None] for side, one in sides.items())


def span_overlap_f1(spans: Tensor, answers: Tensor) -> Tensor:
    """Computes the F1 of the positions of two spans, ends included.

    Args:
        spans: int (B, 2); one that ends before it starts has no positions and scores 0.
        answers: int (B, 2).

    Returns:
        float32 (B,).
    """
    spans, answers = ops.cast(spans, "int32"), ops.cast(answers, "int32")
    first = ops.maximum(spans[:, 0], answers[:, 0])
    last = ops.minimum(spans[:, 1], answers[:, 1])
    common = ops.cast(ops.maximum(last - first + 1, 0), "float32")
    sizes = [ops.maximum(span[:, 1] - span[:, 0] + 1, 0) for span in (spans, answers)]
    return 2 * common / ops.maximum(ops.cast(sizes[0] + sizes[1], "float32"), 1.0)
