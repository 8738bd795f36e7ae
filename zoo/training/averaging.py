"""Averages of the weights over time, which often score better than the weights themselves."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import keras
import tensorflow as tf

from zoo.training.checkpoints import read_weights


class WeightAverage(ABC, keras.callbacks.Callback):
    """Averages of the trainable weights, kept apart from the weights themselves.

    Unlike the averages of a Keras optimizer they never replace the weights during training. They
    are put into the model temporarily (`averaged`) or permanently (`assign`). Validation inside
    `fit` sees the averages. A subclass defines the average and when it is updated.
    """

    def __init__(self) -> None:
        super().__init__()
        self.variables: list[tf.Variable] = []
        self._in_model = False

    def build(self, model: keras.Model) -> None:
        """Create the variables, which belong in checkpoints, for a built model."""
        self._weights = [weight.value for weight in model.trainable_variables]
        self._build()

    def on_train_begin(self, logs: Mapping[str, float] | None = None) -> None:
        """Create the variables unless they exist, so that several `fit`s share them."""
        if not self.variables:
            self.build(self.model)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Put the averages into the model within a `with` block, which may be nested."""
        if self._in_model:
            yield
            return
        trained = [weight.read_value() for weight in self._weights]
        self.assign()
        self._in_model = True
        try:
            yield
        finally:
            self._in_model = False
            for weight, value in zip(self._weights, trained, strict=True):
                weight.assign(value)

    def assign(self) -> None:
        """Overwrite the weights of the model with the averages."""
        for index, weight in enumerate(self._weights):
            weight.assign(tf.cast(self._average(index), weight.dtype))

    def on_test_begin(self, logs: Mapping[str, float] | None = None) -> None:
        """Let the validation of `fit` see the averages."""
        self._validation = self.averaged()
        self._validation.__enter__()

    def on_test_end(self, logs: Mapping[str, float] | None = None) -> None:
        """Restore the trained weights."""
        self._validation.__exit__(None, None, None)

    @abstractmethod
    def _build(self) -> None:
        """Create `variables`."""

    @abstractmethod
    def _average(self, index: int) -> tf.Tensor:
        """Return the average, float32, of one of `_weights`."""


class ExponentialMovingAverage(WeightAverage):
    """Exponential moving average of the weights: average = d average + (1 - d) weight."""

    def __init__(self, decay: float = 0.999, warm_up: bool = True) -> None:
        """Set the decay.

        Args:
            decay: d, in [0, 1).
            warm_up: use d = min(decay, (1 + t) / (10 + t)) after t updates, so that the random
                initial weights are soon forgotten.

        Raises:
            ValueError: `decay` is not in [0, 1).
        """
        super().__init__()
        if not 0.0 <= decay < 1.0:
            raise ValueError(f"decay must be in [0, 1), got {decay}")
        self.decay = decay
        self.warm_up = warm_up

    def on_train_batch_end(self, batch: int, logs: Mapping[str, float] | None = None) -> None:
        """Update the averages with the new weights."""
        self._update()

    def _build(self) -> None:
        """Create the averages, float32, equal to the weights."""
        self._averages = [
            tf.Variable(tf.cast(weight.read_value(), tf.float32), trainable=False)
            for weight in self._weights
        ]
        self._updates = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.variables = [self._updates, *self._averages]
        # One call per batch instead of one eager operation per weight.
        self._update = tf.function(self._update_all, autograph=False)

    def _average(self, index: int) -> tf.Tensor:
        return self._averages[index].read_value()

    def _update_all(self) -> None:
        """Update every average; traced once."""
        updates = tf.cast(self._updates, tf.float32)
        decay = tf.constant(self.decay, tf.float32)
        if self.warm_up:
            decay = tf.minimum(decay, (1.0 + updates) / (10.0 + updates))
        for weight, average in zip(self._weights, self._averages, strict=True):
            difference = average - tf.cast(weight.read_value(), tf.float32)
            average.assign_sub((1.0 - decay) * difference)
        self._updates.assign_add(1)


class AverageOfLast(WeightAverage):
    """Unweighted average of the weights at the last few points in time.

    Vaswani et al. 2017 (arXiv 1706.03762), section 6.1, average their last 5 or 20 checkpoints. The
    weights at those points are kept in float32, which takes `count` times the size of the model.
    Before the first point the averages are the weights themselves.
    """

    def __init__(self, count: int = 10, every: int | None = None) -> None:
        """Set the points in time.

        Args:
            count: number of points averaged.
            every: steps between points; None: the end of each epoch.

        Raises:
            ValueError: one of them is less than 1.
        """
        super().__init__()
        for name, value in {"count": count, "every": every}.items():
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.count = count
        self.every = every

    def on_train_batch_end(self, batch: int, logs: Mapping[str, float] | None = None) -> None:
        """Record the weights every `every` steps."""
        self._steps.assign_add(1)
        if self.every is not None and int(self._steps.numpy()) % self.every == 0:
            self.take()

    def on_epoch_end(self, epoch: int, logs: Mapping[str, float] | None = None) -> None:
        """Record the weights if `every` is None."""
        if self.every is None:
            self.take()

    def take(self) -> None:
        """Record the present weights in place of the oldest."""
        slot = int(self._taken.numpy()) % self.count
        for weight, kept in zip(self._weights, self._kept, strict=True):
            kept[slot].assign(tf.cast(weight.read_value(), tf.float32))
        self._taken.assign_add(1)

    def _build(self) -> None:
        """Create places for `count` values of each weight."""
        self._steps = tf.Variable(0, dtype=tf.int64, trainable=False)
        self._taken = tf.Variable(0, dtype=tf.int64, trainable=False)
        self._kept = [
            tf.Variable(tf.zeros((self.count, *weight.shape)), trainable=False)
            for weight in self._weights
        ]
        self.variables = [self._steps, self._taken, *self._kept]

    def _average(self, index: int) -> tf.Tensor:
        taken = min(int(self._taken.numpy()), self.count)
        if not taken:
            return tf.cast(self._weights[index].read_value(), tf.float32)
        return tf.reduce_mean(self._kept[index][:taken], axis=0)


def average_saved_weights(model: keras.Model, paths: Sequence[str | os.PathLike[str]]) -> None:
    """Load the mean of saved weights, computed in float32, into a built model.

    Args:
        model: a model of the same architecture.
        paths: checkpoints of a run folder, or files that `save_weights` or `save` of a Keras model
            has written (`.weights.h5`, `.keras`).

    Raises:
        ValueError: there are no paths, or one does not fit the model.
    """
    if not paths:
        raise ValueError("paths must be the weights of at least one model, got none")
    sums = [tf.zeros(weight.shape) for weight in model.weights]
    for path in map(Path, paths):
        if path.is_dir():
            read_weights(path, model)
        else:
            model.load_weights(path)
        sums = [
            one + tf.cast(w.value, tf.float32) for one, w in zip(sums, model.weights, strict=True)
        ]
    for weight, total in zip(model.weights, sums, strict=True):
        if weight.dtype.startswith(("float", "bfloat")):  # counters keep the last file's values
            weight.assign(tf.cast(total / len(paths), weight.dtype))
