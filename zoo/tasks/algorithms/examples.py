"""Sequences of an algorithm: batches without end, and evaluation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from zoo.data.algorithms import Algorithm, Sequences
from zoo.text.batching import without_tuning

_TRAINING, _EVALUATION = 1, 2  # begin the seeds: no sequence is in both but by chance


@dataclass(frozen=True, eq=False)
class AlgorithmBatches:
    """Batches that are drawn when they are needed, each of sequences of one length.

    Attributes:
        algorithm: The algorithm.
        lengths: The shortest and the longest sequence; a batch's length is drawn from between them.
        batch_size: Sequences per batch.
        steps_per_epoch: Number of batches that are called an epoch.
        seed: Seed of all of them.

    Raises:
        ValueError: A size is not positive, or the shortest sequence is longer than the longest.
    """

    algorithm: Algorithm
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

    def training(self, epoch: int, first_step: int = 0) -> tf.data.Dataset:
        """Returns the batches of an epoch, a pure function of seed, epoch and step.

        Args:
            epoch: Which epoch, from 0.
            first_step: Number of batches to skip at the beginning.

        Returns:
            Pairs: a dict with ``vectors``, float32 (batch, T, d), and ``length``, int32 (batch,);
            and targets, int32 (batch, T, o).
        """
        steps = range(first_step, self.steps_per_epoch)

        def draw() -> Iterator[Any]:
            for step in steps:
                yield as_pair(self.draw(epoch, step))

        data = tf.data.Dataset.from_generator(draw, output_signature=signature(self.algorithm))
        data = without_tuning(data).apply(tf.data.experimental.assert_cardinality(len(steps)))
        return data.prefetch(tf.data.AUTOTUNE)

    def draw(self, epoch: int, step: int) -> Sequences:
        """Draws one batch."""
        generator = np.random.default_rng([_TRAINING, self.seed, epoch, step])
        length = int(generator.integers(self.lengths[0], self.lengths[1] + 1))
        return self.algorithm.draw(generator, self.batch_size, length)


class AlgorithmEvaluator:
    """Scores a model on the same sequences each time it is called.

    Args:
        model: a built model; it is scored as it is when this is called.
        algorithm: of the sequences.
        lengths: of the sequences; of each as many are drawn.
        count: number of sequences of each length.
        seed: of the sequences.
    """

    def __init__(
        self,
        model: keras.Model,
        algorithm: Algorithm,
        lengths: Sequence[int],
        count: int,
        seed: int,
    ) -> None:
        self.algorithm = algorithm
        self.lengths = tuple(lengths)
        self.count = count
        self.seed = seed
        self._model = model
        self._scores = tf.function(
            self._score, input_signature=signature(algorithm), autograph=False
        )

    def __call__(self) -> Mapping[str, float]:
        """Returns the means over all lengths of what ``by_length`` returns."""
        scores = self.by_length().values()
        return {
            name: float(np.mean([one[name] for one in scores])) for name in ("bits", "wrong_bits")
        }

    def by_length(self) -> dict[int, dict[str, float]]:
        """Scores each length.

        Returns:
            Length -> ``bits``, the mean loss of a sequence in bits; ``wrong_bits``, the share of
            the answers' bits that are wrong, in percent.
        """
        found = {}
        for length in self.lengths:
            inputs, targets = as_pair(self.draw(length))
            bits, wrong = self._scores(inputs, targets)
            found[length] = {"bits": float(bits), "wrong_bits": 100 * float(wrong)}
        return found

    def draw(self, length: int) -> Sequences:
        """Draws the sequences of a length."""
        generator = np.random.default_rng([_EVALUATION, self.seed, length])
        return self.algorithm.draw(generator, self.count, length)

    def _score(self, inputs: Any, targets: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """The mean loss of a sequence, and the share of wrong bits."""
        outputs = self._model(inputs, training=False)
        losses, _ = self._model.example_losses(targets, outputs)
        asked = tf.cast(targets >= 0, tf.float32)
        answers = tf.cast(outputs["logits"] > 0, targets.dtype)
        wrong = asked * tf.cast(answers != targets, tf.float32)
        return tf.reduce_mean(losses), tf.reduce_sum(wrong) / tf.reduce_sum(asked)


def as_pair(sequences: Sequences) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Returns the inputs of a model, and targets, of sequences without padding."""
    count, steps = sequences.vectors.shape[:2]
    inputs = {"vectors": sequences.vectors, "length": np.full(count, steps, np.int32)}
    return inputs, sequences.targets


def signature(algorithm: Algorithm) -> Any:
    """Describes what ``as_pair`` returns, for any number of sequences of any length."""
    inputs = {
        "vectors": tf.TensorSpec((None, None, algorithm.input_dim), tf.float32),
        "length": tf.TensorSpec((None,), tf.int32),
    }
    return inputs, tf.TensorSpec((None, None, algorithm.output_dim), tf.int32)
