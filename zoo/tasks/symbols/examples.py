"""Sequences of an algorithm on symbols: batches without end, and evaluation.

Shape letters: B sequences, all of one length, N places, of input and answer alike.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from zoo.data.symbol_algorithms import SymbolAlgorithm, SymbolSequences
from zoo.text.batching import without_tuning

_TRAINING, _EVALUATION = 1, 2  # begin the seeds: no sequence is in both but by chance
_PLACES = tf.TensorSpec((None, None), tf.int32)
_SIGNATURE = ({"symbols": _PLACES}, _PLACES)


@dataclass(frozen=True, eq=False)
class SymbolBatches:
    """Batches that are drawn when they are needed, each of sequences of one length.

    Sequences grow from epoch to epoch, until the longest ones are among them.

    Attributes:
        algorithm: The algorithm.
        lengths: The shortest and the longest sequence; a batch's length is drawn from between them.
        growing: Epochs after which sequences are as long as they get; 1: from the beginning.
        batch_size: Sequences per batch.
        steps_per_epoch: Number of batches that are called an epoch.
        seed: Seed of all of them.

    Raises:
        ValueError: A number is not positive, or the shortest sequence is longer than the longest.
    """

    algorithm: SymbolAlgorithm
    lengths: tuple[int, int]
    growing: int
    batch_size: int
    steps_per_epoch: int
    seed: int = 0

    def __post_init__(self) -> None:
        """Checks the arguments."""
        for name in ("growing", "batch_size", "steps_per_epoch"):
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
            Pairs: a dict with ``symbols``, int32 (batch, N), and answers, int32 (batch, N).
        """
        steps = range(first_step, self.steps_per_epoch)

        def draw() -> Iterator[Any]:
            for step in steps:
                yield as_pair(self.draw(epoch, step), self.algorithm)

        data = tf.data.Dataset.from_generator(draw, output_signature=_SIGNATURE)
        data = without_tuning(data).apply(tf.data.experimental.assert_cardinality(len(steps)))
        return data.prefetch(tf.data.AUTOTUNE)

    def longest(self, epoch: int) -> int:
        """Returns the length of the longest sequences of an epoch."""
        shortest, longest = self.lengths
        share = min((epoch + 1) / self.growing, 1.0)
        return shortest + math.ceil(share * (longest - shortest))

    def draw(self, epoch: int, step: int) -> SymbolSequences:
        """Draws one batch."""
        generator = np.random.default_rng([_TRAINING, self.seed, epoch, step])
        length = int(generator.integers(self.lengths[0], self.longest(epoch) + 1))
        return self.algorithm.draw(generator, self.batch_size, length)


class SymbolEvaluator:
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
        algorithm: SymbolAlgorithm,
        lengths: Sequence[int],
        count: int,
        seed: int,
    ) -> None:
        self.algorithm = algorithm
        self.lengths = tuple(lengths)
        self.count = count
        self.seed = seed
        self._model = model
        self._scores = tf.function(self._score, input_signature=_SIGNATURE, autograph=False)

    def __call__(self) -> Mapping[str, float]:
        """Returns the means over all lengths of what ``by_length`` returns."""
        scores = [*self.by_length().values()]
        return {name: float(np.mean([one[name] for one in scores])) for name in scores[0]}

    def by_length(self) -> dict[int, dict[str, float]]:
        """Scores each length.

        Returns:
            Length -> ``whole``, the share of sequences all of whose symbols are right, in percent;
            ``wrong_symbols``, that of symbols that are wrong; ``loss``, per symbol.
        """
        found = {}
        for length in self.lengths:
            inputs, answers = as_pair(self.draw(length), self.algorithm)
            whole, wrong, loss = (float(one) for one in self._scores(inputs, answers))
            found[length] = {"whole": 100 * whole, "wrong_symbols": 100 * wrong, "loss": loss}
        return found

    def draw(self, length: int) -> SymbolSequences:
        """Draws the sequences of a length."""
        generator = np.random.default_rng([_EVALUATION, self.seed, length])
        return self.algorithm.draw(generator, self.count, length)

    def _score(self, inputs: Any, answers: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """The shares of whole sequences and of wrong symbols, and the mean loss of a symbol."""
        outputs = self._model(inputs, training=False)
        losses, counts = self._model.example_losses(answers, outputs)
        right = likeliest(outputs["logits"]) == answers  # (B, N)
        whole = tf.reduce_mean(tf.cast(tf.reduce_all(right, axis=1), tf.float32))
        wrong = 1.0 - tf.reduce_mean(tf.cast(right, tf.float32))
        return whole, wrong, tf.reduce_sum(losses) / tf.reduce_sum(counts)


def likeliest(logits: tf.Tensor) -> tf.Tensor:
    """Returns the likeliest symbols, int32 (B, N), none of them padding, from logits (B, N, V)."""
    return tf.argmax(logits[:, :, 1:], axis=-1, output_type=tf.int32) + 1


def as_pair(
    sequences: SymbolSequences, algorithm: SymbolAlgorithm
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Returns inputs and targets of a model, filled up to their places with the blank symbol."""
    length = sequences.symbols.shape[1]
    places = algorithm.places_per_symbol * length
    symbols, answers = (
        np.pad(one, [(0, 0), (0, places - one.shape[1])], constant_values=algorithm.symbols).astype(
            "int32"
        )
        for one in sequences
    )
    return {"symbols": symbols}, answers
