"""Moving averages of the weights, which often answer better than the weights they follow."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import keras
import tensorflow as tf


class ExponentialMovingAverage(keras.callbacks.Callback):
    """Averages the trainable weights over time: average = d average + (1 - d) weight.

    Unlike the averages of a Keras optimizer they never replace the weights that are trained; they
    are put into the model for a while (`averaged`), or for good (`assign`). Validation inside
    `fit` sees the averages.
    """

    def __init__(self, decay: float = 0.999, warm_up: bool = True) -> None:
        """Set the decay.

        Args:
            decay: d, in [0, 1).
            warm_up: let d be min(decay, (1 + t) / (10 + t)) after t updates, so that the random
                first weights are soon forgotten.

        Raises:
            ValueError: `decay` is not in [0, 1).
        """
        super().__init__()
        if not 0.0 <= decay < 1.0:
            raise ValueError(f"decay must be in [0, 1); got {decay}")
        self.decay = decay
        self.warm_up = warm_up
        self.variables: list[tf.Variable] = []
        self._in_model = False

    def build(self, model: keras.Model) -> None:
        """Create the averages, float32, equal to the trainable weights of a built model."""
        self._weights = [weight.value for weight in model.trainable_variables]
        self._averages = [
            tf.Variable(tf.cast(weight.read_value(), tf.float32), trainable=False)
            for weight in self._weights
        ]
        self._updates = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.variables = [self._updates, *self._averages]
        # One call a batch, not one eager operation a weight.
        self._update = tf.function(self._update_all)

    def on_train_begin(self, logs: Mapping[str, float] | None = None) -> None:
        """Create the averages unless they exist, so that several `fit`s go on with them."""
        if not self.variables:
            self.build(self.model)

    def on_train_batch_end(self, batch: int, logs: Mapping[str, float] | None = None) -> None:
        """Take the new weights into the averages."""
        self._update()

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Put the averages into the model for the time of a `with` block; it may be nested."""
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
        for weight, average in zip(self._weights, self._averages, strict=True):
            weight.assign(tf.cast(average, weight.dtype))

    def on_test_begin(self, logs: Mapping[str, float] | None = None) -> None:
        """Let the validation of `fit` see the averages."""
        self._validation = self.averaged()
        self._validation.__enter__()

    def on_test_end(self, logs: Mapping[str, float] | None = None) -> None:
        """Go on with the trained weights."""
        self._validation.__exit__(None, None, None)

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
