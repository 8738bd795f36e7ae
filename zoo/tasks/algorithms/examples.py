"""Sequences of an algorithm: batches without end, and evaluation."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from zoo.data.algorithms import Algorithm, RepeatCopy, Sequences
from zoo.tasks.shared.drawn import DrawnBatches, DrawnEvaluator


class AlgorithmBatches(DrawnBatches):
    """Pairs of ``vectors`` (B, T, d) with their ``length`` (B,), and int32 targets (B, T, o)."""

    @property
    def signature(self) -> Any:
        """Describes them."""
        return signature(self.algorithm)

    def as_pair(self, sequences: Sequences) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Returns inputs and targets of a model."""
        return as_pair(sequences)


class AlgorithmEvaluator(DrawnEvaluator):
    """Scores a model: ``bits`` and ``wrong_bits``, means over the sequences.

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
        super().__init__(model, algorithm, lengths, count, seed, signature(algorithm))

    def as_pair(self, sequences: Sequences) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Returns inputs and targets of the model."""
        return as_pair(sequences)

    def parts(self, length: int) -> list[Sequences]:
        """Draws equally many sequences for each number of repeats, where there are several."""
        algorithm = self.algorithm
        if not isinstance(algorithm, RepeatCopy):
            return super().parts(length)
        fewest, most = algorithm.repeats
        share, more = divmod(self.count, most - fewest + 1)
        generator = self.generator(length)
        return [
            replace(algorithm, repeats=(repeats, repeats)).draw(generator, rows, length)
            for place, repeats in enumerate(range(fewest, most + 1))
            if (rows := share + (place < more))
        ]

    def compute(self, inputs: Any, targets: tf.Tensor) -> dict[str, tf.Tensor]:
        """Computes the mean loss of a sequence in bits, and the share of wrong bits in percent."""
        outputs = self.model(inputs, training=False)
        losses, _ = self.model.example_losses(targets, outputs)
        asked = tf.cast(targets >= 0, tf.float32)
        answers = tf.cast(outputs["logits"] > 0, targets.dtype)
        wrong = asked * tf.cast(answers != targets, tf.float32)
        share = tf.reduce_sum(wrong) / tf.reduce_sum(asked)
        return {"bits": tf.reduce_mean(losses), "wrong_bits": 100 * share}


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
