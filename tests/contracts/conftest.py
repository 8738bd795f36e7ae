"""Fixtures of several contracts."""

import keras
import numpy as np
import pytest
import tensorflow as tf


@pytest.fixture
def draws_without_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws the least likely real position, and the same numbers for every example.

    Replicas cannot draw what one device draws.
    """

    def least_likely(logits, num_samples, dtype, seed):
        assert num_samples == 1
        assert seed is not None
        lowest = tf.argmin(tf.where(logits > -1e29, logits, np.inf), axis=-1)
        return tf.cast(lowest, dtype)[:, None]

    def alike(shape, *values, dtype, seed):
        """The same numbers for each example, between 0.1 and 0.5 of a deviation or a bound."""
        assert seed is not None
        numbers = 0.3 + 0.2 * tf.cos(tf.range(np.prod(shape[1:]), dtype=tf.float32))
        numbers = tf.reshape(tf.cast(values[-1] * numbers, dtype), shape[1:])
        return tf.broadcast_to(numbers, tf.stack(list(shape)))

    monkeypatch.setattr(keras.random, "categorical", least_likely)
    monkeypatch.setattr(keras.random, "normal", alike)
    monkeypatch.setattr(keras.random, "uniform", alike)
