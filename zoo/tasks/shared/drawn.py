"""Sequences of learnt algorithms, drawn when they are needed: batches without end, and evaluation.

Tasks say how sequences become inputs and targets of their models, and how answers are scored.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from zoo.text.batching import without_tuning

_TRAINING, _EVALUATION = 1, 2  # begin the seeds: no sequence is in both but by chance
_SPREAD = 6  # lengths of an evaluation, where not all are measured


@dataclass(frozen=True, eq=False)
class DrawnBatches(ABC):
    """Batches that are drawn when they are needed, each of sequences of one length.

    Attributes:
        algorithm: The algorithm.
        lengths: The shortest and the longest sequence; a batch's length is drawn from between them.
        batch_size: Sequences per batch.
        steps_per_epoch: Number of batches that are called an epoch.
        seed: Seed of all of them.

    Raises:
        ValueError: A number is not positive, or the shortest sequence is longer than the longest.
    """

    algorithm: Any
    lengths: tuple[int, int]
    batch_size: int
    steps_per_epoch: int
    seed: int = 0

    def __post_init__(self) -> None:
        """Checks the arguments."""
        for name in ("batch_size", "steps_per_epoch"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        shortest, longest = self.lengths
        if not 1 <= shortest <= longest:
            raise ValueError(
                f"lengths must be two positive numbers in ascending order, got {self.lengths}"
            )

    @property
    @abstractmethod
    def signature(self) -> Any:
        """Describes inputs and targets, for any number of sequences of any length."""

    @abstractmethod
    def as_pair(self, sequences: Any) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Returns inputs and targets of a model."""

    def longest(self, epoch: int) -> int:
        """Returns the length of the longest sequences of an epoch."""
        return self.lengths[1]

    def training(self, epoch: int, first_step: int = 0) -> tf.data.Dataset:
        """Returns the batches of an epoch, a pure function of seed, epoch and step.

        Args:
            epoch: Which epoch, from 0.
            first_step: Number of batches to skip at the beginning.

        Returns:
            Pairs of inputs and targets, as ``signature`` describes them.
        """
        steps = range(first_step, self.steps_per_epoch)

        def draw() -> Iterator[Any]:
            for step in steps:
                yield self.as_pair(self.draw(epoch, step))

        data = tf.data.Dataset.from_generator(draw, output_signature=self.signature)
        data = without_tuning(data).apply(tf.data.experimental.assert_cardinality(len(steps)))
        return data.prefetch(tf.data.AUTOTUNE)

    def draw(self, epoch: int, step: int) -> Any:
        """Draws one batch."""
        generator = np.random.default_rng([_TRAINING, self.seed, epoch, step])
        length = int(generator.integers(self.lengths[0], self.longest(epoch) + 1))
        return self.algorithm.draw(generator, self.batch_size, length)


class DrawnEvaluator(ABC):
    """Scores a model on the same sequences each time it is called.

    Args:
        model: a built model; it is scored as it is when this is called.
        algorithm: of the sequences.
        lengths: of the sequences; of each as many are drawn.
        count: number of sequences of each length.
        seed: of the sequences.
        signature: describes inputs and targets, for any number of sequences of any length.
    """

    def __init__(
        self,
        model: keras.Model,
        algorithm: Any,
        lengths: Sequence[int],
        count: int,
        seed: int,
        signature: Any,
    ) -> None:
        self.model = model
        self.algorithm = algorithm
        self.lengths = tuple(lengths)
        self.count = count
        self.seed = seed
        self._compute = tf.function(self.compute, input_signature=signature, autograph=False)

    def __call__(self) -> Mapping[str, float]:
        """Returns the means over all lengths of what ``by_length`` returns."""
        scores = [*self.by_length().values()]
        return {name: float(np.mean([one[name] for one in scores])) for name in scores[0]}

    def by_length(self) -> dict[int, dict[str, float]]:
        """Scores each length: length -> the scores that ``compute`` names."""
        return {length: self._scores(length) for length in self.lengths}

    def draw(self, length: int) -> Any:
        """Draws the sequences of a length."""
        return self.algorithm.draw(self.generator(length), self.count, length)

    def parts(self, length: int) -> list[Any]:
        """Draws the sequences of a length, in parts of equal sizes."""
        return [self.draw(length)]

    def generator(self, length: int) -> np.random.Generator:
        """Makes the generator of the sequences of a length."""
        return np.random.default_rng([_EVALUATION, self.seed, length])

    @abstractmethod
    def as_pair(self, sequences: Any) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Returns inputs and targets of the model."""

    @abstractmethod
    def compute(self, inputs: Any, targets: tf.Tensor) -> dict[str, tf.Tensor]:
        """Computes the scores of a batch, in the graph."""

    def _scores(self, length: int) -> dict[str, float]:
        pairs = [self.as_pair(part) for part in self.parts(length)]
        scores = [self._compute(*pair) for pair in pairs]
        rows = [len(targets) for _, targets in pairs]
        return {
            name: float(np.average([float(one[name]) for one in scores], weights=rows))
            for name in scores[0]
        }


def spread_lengths(shortest: int, longest: int) -> list[int]:
    """Returns six lengths at equal distances, both ends among them, or all if there are fewer."""
    spread = np.linspace(shortest, longest, _SPREAD).round().astype(int)
    return [int(length) for length in np.unique(spread)]
