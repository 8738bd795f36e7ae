"""Fixtures of several contracts."""

import keras
import numpy as np
import pytest
import tensorflow as tf


@pytest.fixture
def draws_without_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws the least likely real position: replicas cannot draw what one device draws."""

    def least_likely(logits, num_samples, dtype, seed):
        assert num_samples == 1
        assert seed is not None
        lowest = tf.argmin(tf.where(logits > -1e29, logits, np.inf), axis=-1)
        return tf.cast(lowest, dtype)[:, None]

    monkeypatch.setattr(keras.random, "categorical", least_likely)
