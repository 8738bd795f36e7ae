"""How show, attend and tell is trained (Xu et al. 2015, arXiv 1502.03044, sections 4.1 and 4.2).

    soft loss = - log p(y | a) + lambda sum_i (1 - sum_t alpha_ti)^2
    hard gradient = that of log p(y | s, a) + lambda_r (r - b) that of log p(s | a)
                    + lambda_e that of H[s],    r = log p(y | s, a);    b <- 0.9 b + 0.1 mean of r

Neither r nor b has a gradient, and b is the average up to the batch before.

Shape letters: B images, T words.
"""

from typing import Any, Literal

import keras
from keras import ops

from zoo.models.captioning.attention_losses import (
    attention_entropy,
    doubly_stochastic_loss,
    location_loss,
)
from zoo.models.core.accumulation import sum_over_replicas
from zoo.models.core.sequence_to_sequence import (
    Features,
    SequenceToSequenceModel,
    mean_weights,
)
from zoo.ops.masking import Tensor, mask_from_ids, wide_dtype

AttentionKind = Literal["soft", "hard"]
Reward = Literal["mean", "sum"]

MOMENTUM = 0.9
"""Share of the moving average b that stays in a step."""


class CaptionTraining(SequenceToSequenceModel):
    """The loss of a captioner with soft or hard attention, and the baseline of the latter."""

    grid: tuple[int, int]
    sampling_seed: keras.random.SeedGenerator
    attention: AttentionKind
    doubly_stochastic: float
    reward: Reward
    reward_scale: float
    entropy_weight: float

    def build(self, *_: Any) -> None:
        """Creates the baseline of hard attention, which no gradient trains."""
        self.baseline = self.add_number("baseline", False) if self.attention == "hard" else None
        self.built = True

    def add_number(self, name: str, trainable: bool) -> Any:
        """Creates a weight () that starts at zero and is not rounded in half precision."""
        return self.add_weight(
            shape=(),
            initializer="zeros",
            trainable=trainable,
            autocast=False,
            aggregation="mean",
            name=name,
        )

    def draw(self, shape: tuple[Any, ...]) -> Tensor:
        """Draws uniform numbers from 0 to 1."""
        dtype = wide_dtype(self.compute_dtype)
        return keras.random.uniform(shape, 0.0, 1.0, dtype=dtype, seed=self.sampling_seed)

    def compile(
        self,
        optimizer: Any = "adam",
        *,
        jit_compile: bool = False,
        accumulate: int = 1,
        **kwargs: Any,
    ) -> None:
        """As in every model; hard attention, whose baseline moves once a step, takes whole batches.

        Args:
            optimizer: as in Keras.
            jit_compile: whether to use XLA.
            accumulate: number of parts of a batch; 1 with hard attention.
            **kwargs: as in Keras.

        Raises:
            ValueError: as in every model; if hard attention is to accumulate.
        """
        if self.attention == "hard" and accumulate != 1:
            raise ValueError(f"accumulate must be 1 with hard attention, got {accumulate}")
        super().compile(optimizer, jit_compile=jit_compile, accumulate=accumulate, **kwargs)

    def read_target(
        self, target: Tensor, memory: dict[str, Tensor], training: bool = False
    ) -> tuple[Features, dict[str, Any]]:
        """As in every such model; ``baselines`` (B,), b for each image, where locations are drawn.

        A step that moves b has read it before.
        """
        features, outputs = super().read_target(target, memory, training)
        if "sampled_locations" in outputs:
            images = ops.shape(target)[:1]
            outputs["baselines"] = ops.broadcast_to(ops.convert_to_tensor(self.baseline), images)
        return features, outputs

    def forward(self, inputs: Any, targets: Any) -> dict[str, Any]:
        """Computes the outputs of a training step, and moves the baseline by their rewards."""
        outputs = super().forward(inputs, targets)
        if self.baseline is not None:
            rewards = self.rewards(targets, outputs)
            count = ops.sum(ops.ones_like(rewards))
            total, count = sum_over_replicas((ops.sum(rewards), count))
            mean = ops.cast(total / ops.maximum(count, 1.0), self.baseline.dtype)
            moved = MOMENTUM * self.baseline + (1.0 - MOMENTUM) * mean
            self.baseline.assign(ops.where(count > 0.0, moved, self.baseline))
        return outputs

    def rewards(self, targets: Tensor, outputs: dict[str, Any]) -> Tensor:
        """Computes r (B,) of ids (B, T): the sum over the caption's real words, or their mean."""
        losses = outputs.get("losses")
        if losses is None:
            losses = self._token_losses(outputs["logits"], targets)
        real = ops.cast(mask_from_ids(targets), losses.dtype)
        sums = -ops.sum(losses * real, axis=-1)  # (B,)
        if self.reward == "sum":
            return sums
        return sums / ops.maximum(ops.sum(real, axis=-1), 1.0)

    def weighted_losses(
        self, targets: Any, outputs: dict[str, Any], weights: Any
    ) -> tuple[Tensor, Tensor]:
        """Cross entropy of the words, and the terms on the weights of the attention.

        The weight of the latter is the mean of the weights of the caption's real words.
        """
        losses, units = super().weighted_losses(targets, outputs, weights)
        terms = self._attention_terms(targets, outputs)
        if weights is not None:
            terms = terms * mean_weights(targets, weights, terms.dtype)
        return losses + ops.cast(terms, losses.dtype), units

    def _attention_terms(self, targets: Tensor, outputs: dict[str, Any]) -> Tensor:
        """Sums up the terms on alpha (B,); that of the drawn locations has the value zero."""
        alpha = outputs["attention"]["alignment"]
        rows, columns = self.grid
        alpha = ops.reshape(alpha, (*ops.shape(alpha)[:2], rows * columns))  # (B, T, L)
        terms = self.doubly_stochastic * doubly_stochastic_loss(alpha)
        if self.attention == "hard":
            terms = terms - self.entropy_weight * attention_entropy(alpha)
        if "sampled_locations" in outputs:
            rewards = ops.cast(self.rewards(targets, outputs), terms.dtype)
            advantages = rewards - ops.cast(outputs["baselines"], terms.dtype)
            drawn = location_loss(alpha, outputs["sampled_locations"], advantages)
            terms = terms + self.reward_scale * drawn
        return terms
