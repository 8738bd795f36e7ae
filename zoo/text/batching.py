"""Batches of examples of similar length, in an order that depends only on seed and epoch.

The examples are tokenised once and cached as ragged tensors; a batch gathers its rows by index and
pads them to its own longest. `BucketedBatches` have a fixed number of examples: sorting by length
inside shuffled pools saves most of the padding and keeps the order random. `TokenBatches` have a
token budget, so that all steps do about the same work, whether sentences are long or short.
"""

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import tensorflow as tf

Column: TypeAlias = tf.RaggedTensor | tf.Tensor | np.ndarray
Targets: TypeAlias = dict[str, tf.Tensor] | tf.Tensor


def without_tuning(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Fixes the threads of a data set at the number of processors.

    TensorFlow would tune their number in a separate thread. It wakes that thread just before it
    marks the iterator as deleted, so the thread sometimes goes back to sleep, and the end of an
    epoch waits for it for up to a minute.
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)


@dataclass(frozen=True)
class _Batches(abc.ABC):
    """Columns of examples, gathered by row into padded tensors."""

    columns: Mapping[str, Column]
    inputs: Sequence[str]
    targets: Sequence[str] | str
    lengths: np.ndarray

    def __post_init__(self) -> None:
        """Checks the columns.

        Raises:
            ValueError: If a column is missing, or rows differ in number.
        """
        for name in (*self.inputs, *self._target_names):
            if name not in self.columns:
                raise ValueError(f"columns must hold {name!r}, got {sorted(self.columns)}")
        for name, column in self.columns.items():
            if int(column.shape[0]) != len(self.lengths):
                raise ValueError(
                    f"columns[{name!r}] must have as many rows as lengths, {len(self.lengths)}, "
                    f"got {column.shape[0]}"
                )

    @abc.abstractmethod
    def indices(self, epoch: int) -> list[np.ndarray]:
        """Returns the batches of an epoch as row numbers."""

    @abc.abstractmethod
    def _cut(self, rows: np.ndarray) -> list[np.ndarray]:
        """Cuts rows in order of length into batches."""

    def training(self, epoch: int, first_step: int = 0) -> tf.data.Dataset:
        """Returns one epoch of training batches.

        Args:
            epoch: Which epoch, from 0.
            first_step: Number of batches to skip at the beginning, at no cost.

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
        batches = self._cut(np.argsort(self.lengths, kind="stable"))

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
        dataset = without_tuning(tf.data.Dataset.from_tensor_slices(ragged))
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


@dataclass(frozen=True)
class BucketedBatches(_Batches):
    """Batches with a fixed number of examples.

    Attributes:
        columns: The examples by name, all with the same number of rows. Ragged columns (rows,
            tokens) are padded, others are only gathered.
        inputs: Names of the columns the model reads.
        targets: Names of the target columns. A bare name instead of a sequence gives that column as
            the target instead of a dict.
        lengths: (rows,) lengths by which examples are sorted.
        batch_size: Examples per batch; the last batch of an epoch may be smaller.
        seed: Seed of the order in training.
        pool_batches: Batches per pool. Examples are sorted only within a pool.

    Raises:
        ValueError: If a size is not positive, a column is missing, or rows differ in number.
    """

    batch_size: int
    seed: int = 0
    pool_batches: int = 32

    def __post_init__(self) -> None:
        """Checks the arguments."""
        if self.batch_size < 1:
            raise ValueError(f"batch_size must be positive, got {self.batch_size}")
        if self.pool_batches < 1:
            raise ValueError(f"pool_batches must be positive, got {self.pool_batches}")
        super().__post_init__()

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
            batches += self._cut(pool[np.argsort(self.lengths[pool], kind="stable")])
        return [batches[i] for i in random.permutation(len(batches))]

    def _cut(self, rows: np.ndarray) -> list[np.ndarray]:
        return [rows[i : i + self.batch_size] for i in range(0, len(rows), self.batch_size)]


@dataclass(frozen=True)
class TokenBatches(_Batches):
    """Batches with a token budget, padding included.

    All examples are sorted by length, so batches need almost no padding. A batch takes examples as
    long as their number times the longest length stays within the budget. Examples of equal length
    are shuffled, and so are the batches. Batch boundaries, and thus their number, are the same in
    every epoch.

    Attributes:
        columns: As `BucketedBatches`.
        inputs: Likewise.
        targets: Likewise.
        lengths: (rows,) tokens of an example; with several padded columns, of the longest.
        batch_tokens: Maximum number of tokens of a batch, padding included.
        seed: Seed of the order in training.

    Raises:
        ValueError: If an example is longer than the budget, a column is missing, or rows differ in
            number.
    """

    batch_tokens: int
    seed: int = 0

    def __post_init__(self) -> None:
        """Checks the arguments."""
        super().__post_init__()
        longest = int(max(self.lengths, default=1))
        if self.batch_tokens < max(longest, 1):
            raise ValueError(
                f"batch_tokens must be at least the longest example's {longest} tokens, got "
                f"{self.batch_tokens}"
            )

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches in an epoch."""
        return len(self._starts)

    @property
    def batch_size(self) -> int:
        """Average number of examples per batch, rounded."""
        return max(1, round(len(self.lengths) / max(1, self.steps_per_epoch)))

    def indices(self, epoch: int) -> list[np.ndarray]:
        """Returns the batches of an epoch as row numbers.

        Args:
            epoch: Which epoch, from 0.

        Returns:
            int64 arrays of rows within the budget; every row occurs exactly once. A pure function
            of (seed, epoch).
        """
        random = np.random.default_rng([self.seed, epoch])
        order = random.permutation(len(self.lengths))
        batches = self._cut(order[np.argsort(self.lengths[order], kind="stable")])
        return [batches[i] for i in random.permutation(len(batches))]

    @cached_property
    def _starts(self) -> list[int]:
        """Finds the first row of each batch, in order of length."""
        starts: list[int] = []
        for position, length in enumerate(np.sort(self.lengths).tolist()):
            # The latest example is the longest. Even an empty text is padded to one column.
            if not starts or (position + 1 - starts[-1]) * max(length, 1) > self.batch_tokens:
                starts.append(position)
        return starts

    def _cut(self, rows: np.ndarray) -> list[np.ndarray]:
        return np.split(rows, self._starts[1:]) if self._starts else []
