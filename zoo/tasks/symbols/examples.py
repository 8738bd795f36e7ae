"""Sequences of an algorithm on symbols: batches without end, and evaluation.

Shape letters: B sequences, all of one length, N places, of input and answer alike.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from zoo.data.symbol_algorithms import SymbolAlgorithm, SymbolSequences
from zoo.tasks.shared.drawn import DrawnBatches, DrawnEvaluator

_PLACES = tf.TensorSpec((None, None), tf.int32)
_SIGNATURE = ({"symbols": _PLACES}, _PLACES)


@dataclass(frozen=True, eq=False)
class SymbolBatches(DrawnBatches):
    """Pairs: ``symbols``, int32 (B, N), and answers, int32 (B, N).

    Sequences grow from epoch to epoch, until the longest ones are among them.

    Attributes:
        growing: Epochs after which sequences are as long as they get; 1: from the beginning.

    Raises:
        ValueError: As ``DrawnBatches``, or ``growing`` is not positive.
    """

    growing: int = 1

    def __post_init__(self) -> None:
        """Checks the arguments."""
        super().__post_init__()
        if self.growing < 1:
            raise ValueError(f"growing must be positive, got {self.growing}")

    @property
    def signature(self) -> Any:
        """Describes the pairs."""
        return _SIGNATURE

    def as_pair(self, sequences: SymbolSequences) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Returns inputs and targets of a model."""
        return as_pair(sequences, self.algorithm)

    def longest(self, epoch: int) -> int:
        """Returns the length of the longest sequences of an epoch."""
        shortest, longest = self.lengths
        share = min((epoch + 1) / self.growing, 1.0)
        return shortest + math.ceil(share * (longest - shortest))


class SymbolEvaluator(DrawnEvaluator):
    """Scores a model: ``whole``, ``wrong_symbols`` and ``loss``.

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
        super().__init__(model, algorithm, lengths, count, seed, _SIGNATURE)

    def as_pair(self, sequences: SymbolSequences) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Returns inputs and targets of the model."""
        return as_pair(sequences, self.algorithm)

    def compute(self, inputs: Any, targets: tf.Tensor) -> dict[str, tf.Tensor]:
        """Computes the shares of whole sequences and of wrong symbols, and a symbol's mean loss.

        Shares are in percent. A sequence is whole if all of its symbols are right.
        """
        outputs = self.model(inputs, training=False)
        losses, counts = self.model.example_losses(targets, outputs)
        right = likeliest(outputs["logits"]) == targets  # (B, N)
        whole = tf.reduce_mean(tf.cast(tf.reduce_all(right, axis=1), tf.float32))
        wrong = 1.0 - tf.reduce_mean(tf.cast(right, tf.float32))
        loss = tf.reduce_sum(losses) / tf.reduce_sum(counts)
        return {"whole": 100 * whole, "wrong_symbols": 100 * wrong, "loss": loss}


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
