"""Training of small readers one question at a time, many times over: an epoch is one graph.

Gradient descent that takes one question after the other spends its time on starting operations. XLA
compiles a whole epoch to one loop on the CPU, which is twenty times as fast as operations one by
one. Runs that differ in their seeds use the same graphs again.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from zoo.tasks.stories.examples import Examples, StoryEvaluator

SCALE = 10**-0.5
"""Standard deviation of all weights at the start."""


@dataclass(frozen=True)
class Plan:
    """Settings of a run.

    Attributes:
        epochs: Passes over the training part.
        learning_rate: Of the first epoch.
        halve_every: Epochs after which the learning rate is halved, again and again.
        clip_norm: Maximum norm of a gradient.
        start_epochs: Epochs at the start in which the model has other options.
        stop_loss: Mean loss of an epoch below which a run ends.
    """

    epochs: int
    learning_rate: float
    halve_every: int
    clip_norm: float
    start_epochs: int
    stop_loss: float


class Trained(NamedTuple):
    """Result of a run."""

    weights: list[np.ndarray]
    """The weights with the best score on validation, in the order of ``model.weights``."""
    metrics: dict[str, float]
    """Their scores on validation."""
    epoch: int
    """After which they were so, from 1."""
    epochs: int
    """How many were trained."""


class CompiledTraining:
    """Trains a model again and again from new weights.

    Args:
        model: a built model, computing in float32.
        training: what it is trained on.
        validation: what chooses the weights.
        plan: of each run.
        start: options of the model in the first epochs, such as ``{"linear": True}``; without any
            they are like the others.
        logger: gets a line if a run diverges.
    """

    def __init__(
        self,
        model: Any,
        training: Examples,
        validation: Examples,
        plan: Plan,
        logger: logging.Logger,
        start: Mapping[str, Any] | None = None,
    ) -> None:
        self.model, self.plan, self.logger = model, plan, logger
        self.start = dict(start or {})
        self.count = len(training.answer)
        self._inputs = {name: tf.constant(ids) for name, ids in training.inputs.items()}
        self._answers = tf.constant(training.answer)
        self._evaluate = StoryEvaluator(model, validation)
        self._epochs = {
            starting: tf.function(self._traced(starting), jit_compile=True, autograph=False)
            for starting in (False, True)
        }

    def _traced(self, starting: bool) -> Callable[..., tf.Tensor]:
        """Makes the function of an epoch; the options of its model are those while it is traced."""

        def epoch(order: tf.Tensor, rate: tf.Tensor) -> tf.Tensor:
            options = self.start if starting else {}
            kept = {name: getattr(self.model, name) for name in options}
            try:
                for name, value in options.items():
                    setattr(self.model, name, value)
                return self._epoch(order, rate)
            finally:
                for name, value in kept.items():
                    setattr(self.model, name, value)

        return epoch

    def run(self, seed: int) -> Trained:
        """Trains from weights and in an order that the seed alone determines.

        The best weights are the most accurate on validation; a lower loss breaks ties.
        """
        plan, generator = self.plan, np.random.default_rng(seed)
        self.draw_weights(generator)
        first = plan.start_epochs if self.start else 0
        best: Trained | None = None
        for number in range(plan.epochs):
            rate = plan.learning_rate * 0.5 ** (number // plan.halve_every)
            loss = self.epoch(generator.permutation(self.count), rate, starting=number < first)
            if not np.isfinite(loss):
                self.logger.warning("seed %d: the loss is %s in epoch %d", seed, loss, number + 1)
                break
            if number < first:
                continue  # the model that is shipped has the other options
            metrics = dict(self._evaluate())
            if best is None or score(metrics) > score(best.metrics):
                weights = [weight.numpy() for weight in self.model.weights]
                best = Trained(weights, metrics, number + 1, number + 1)
            if loss < plan.stop_loss:
                break
        if best is None:
            raise FloatingPointError(
                f"the loss is not finite with seed {seed}: lower learning_rate"
            )
        return best._replace(epochs=number + 1)

    def draw_weights(self, generator: np.random.Generator) -> None:
        """Draws all weights from a normal distribution, as the paper's released code does."""
        for weight in self.model.weights:
            weight.assign(generator.normal(0.0, SCALE, weight.shape))

    def epoch(self, order: np.ndarray, rate: float, *, starting: bool = False) -> float:
        """Takes a step for each question in this order; returns the mean of their losses."""
        with tf.device("CPU:0"):  # where steps this small are fastest
            order = tf.constant(order, tf.int32)
            return float(self._epochs[starting](order, tf.constant(rate, tf.float32)))

    def _epoch(self, order: tf.Tensor, rate: tf.Tensor) -> tf.Tensor:
        weights = [weight.value for weight in self.model.trainable_weights]

        def step(number: tf.Tensor, total: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            row = tf.gather(order, number[None])  # (1,)
            inputs = {name: tf.gather(ids, row) for name, ids in self._inputs.items()}
            with tf.GradientTape() as tape:
                outputs = self.model(inputs, training=True)
                losses, _ = self.model.example_losses(tf.gather(self._answers, row), outputs)
                loss = tf.reduce_sum(losses)
            gradients = [tf.convert_to_tensor(one) for one in tape.gradient(loss, weights)]
            gradients, _ = tf.clip_by_global_norm(gradients, self.plan.clip_norm)
            for weight, gradient in zip(weights, gradients, strict=True):
                weight.assign_sub(rate * gradient)
            return number + 1, total + loss

        count = tf.size(order)
        loop = (tf.constant(0), tf.constant(0.0))
        _, total = tf.while_loop(lambda n, _: n < count, step, loop, parallel_iterations=1)
        return total / tf.cast(count, tf.float32)


def score(metrics: Mapping[str, float]) -> tuple[float, float]:
    """Orders scores on validation: by accuracy, and among equals by a low loss."""
    return metrics["accuracy"], -metrics["loss"]
