"""Batches of examples of similar length, in an order that depends on nothing but seed and epoch.

The examples are tokenised once and cached as ragged tensors; a batch gathers its rows by index and
pads them to its own longest. Sorting by length inside shuffled pools saves most of the padding and
keeps the order random.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import tensorflow as tf

Column: TypeAlias = tf.RaggedTensor | tf.Tensor | np.ndarray
Targets: TypeAlias = dict[str, tf.Tensor] | tf.Tensor


@dataclass(frozen=True)
class BucketedBatches:
    """Cuts columns of examples into batches.

    Attributes:
        columns: The examples by name, all with the same number of rows. Ragged columns (rows,
            tokens) are padded, others are only gathered.
        inputs: Names of the columns the model reads.
        targets: Names of the columns the model is trained towards; a single name, not in a
            sequence, gives batches whose target is that column and no dict.
        lengths: (rows,) what examples are sorted by.
        batch_size: Examples per batch; the last batch of an epoch may be smaller.
        seed: Seed of the order in training.
        pool_batches: How many batches a pool holds. Examples are sorted inside a pool only.
    """

    columns: Mapping[str, Column]
    inputs: Sequence[str]
    targets: Sequence[str] | str
    lengths: np.ndarray
    batch_size: int
    seed: int = 0
    pool_batches: int = 32

    def __post_init__(self) -> None:
        """Checks the arguments.

        Raises:
            ValueError: If a size is not positive, a column is missing, or rows differ in number.
        """
        if self.batch_size < 1:
            raise ValueError(f"batch_size must be positive, got {self.batch_size}")
        if self.pool_batches < 1:
            raise ValueError(f"pool_batches must be positive, got {self.pool_batches}")
        for name in (*self.inputs, *self._target_names):
            if name not in self.columns:
                raise ValueError(f"columns must hold {name!r}, got {sorted(self.columns)}")
        for name, column in self.columns.items():
            if int(column.shape[0]) != len(self.lengths):
                raise ValueError(
                    f"columns[{name!r}] must have as many rows as lengths, {len(self.lengths)}, "
                    f"got {column.shape[0]}"
                )

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches in an epoch."""
        return -(-len(self.lengths) // self.batch_size)

    def indices(self, epoch: int) -> list[np.ndarray]:
        """Returns the batches of an epoch as row numbers.

        Args:
            epoch: Which epoch, from 0.

        Returns:
            int64 arrays of at most `batch_size` rows; every row occurs exactly once. A pure
            function of (seed, epoch).
        """
        random = np.random.default_rng([self.seed, epoch])
        order = random.permutation(len(self.lengths))
        pool_size = self.batch_size * self.pool_batches
        batches: list[np.ndarray] = []
        for start in range(0, len(order), pool_size):
            pool = order[start : start + pool_size]
            pool = pool[np.argsort(self.lengths[pool], kind="stable")]
            batches += [pool[i : i + self.batch_size] for i in range(0, len(pool), self.batch_size)]
        return [batches[i] for i in random.permutation(len(batches))]

    def training(self, epoch: int, first_step: int = 0) -> tf.data.Dataset:
        """Returns one epoch of training batches.

        Args:
            epoch: Which epoch, from 0.
            first_step: How many batches to leave out at the beginning, at no cost.

        Returns:
            Pairs (inputs, targets), dicts of tensors (batch, ...), or a bare tensor of targets.
            Ragged columns are padded with 0 to the longest of the batch, and to one column at
            least.
        """

        def gather(rows: tf.Tensor) -> tuple[dict[str, tf.Tensor], Targets]:
            targets: Targets = self._gather(self._target_names, rows)
            if isinstance(self.targets, str):
                targets = targets[self.targets]
            return self._gather(self.inputs, rows), targets

        return (
            self._dataset(self.indices(epoch)[first_step:])
            .map(gather, num_parallel_calls=tf.data.AUTOTUNE)
            .prefetch(tf.data.AUTOTUNE)
        )

    def evaluation(self) -> tf.data.Dataset:
        """Returns all rows once, in order of length.

        Returns:
            Pairs (inputs, rows): inputs as in `training`, rows (batch,) int64 row numbers.
        """
        order = np.argsort(self.lengths, kind="stable")
        batches = [order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size)]

        def gather(rows: tf.Tensor) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
            return self._gather(self.inputs, rows), rows

        return (
            self._dataset(batches)
            .map(gather, num_parallel_calls=tf.data.AUTOTUNE)
            .prefetch(tf.data.AUTOTUNE)
        )

    @property
    def _target_names(self) -> Sequence[str]:
        return (self.targets,) if isinstance(self.targets, str) else self.targets

    @staticmethod
    def _dataset(batches: list[np.ndarray]) -> tf.data.Dataset:
        """Returns a dataset of row numbers (batch,) int64."""
        rows = np.concatenate(batches) if batches else np.zeros(0, np.int64)
        ragged = tf.RaggedTensor.from_row_lengths(
            tf.constant(rows, tf.int64), tf.constant([len(batch) for batch in batches], tf.int64)
        )
        dataset = tf.data.Dataset.from_tensor_slices(ragged)
        return dataset.map(lambda batch: tf.ensure_shape(tf.convert_to_tensor(batch), [None]))

    def _gather(self, names: Sequence[str], rows: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns rows of the named columns, padded."""
        gathered = {}
        for name in names:
            values = tf.gather(self.columns[name], rows)
            if isinstance(values, tf.RaggedTensor):
                width = tf.maximum(values.bounding_shape(axis=1), 1)
                values = values.to_tensor(shape=tf.stack([-1, width]))
            gathered[name] = values
        return gathered
