"""The terms of the loss on attention weights, against their sums written out."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.models.captioning.attention_losses import (
    SOFT,
    attention_entropy,
    doubly_stochastic_loss,
    location_loss,
)

ALPHA = np.array(
    [
        [[0.5, 0.25, 0.25], [0.1, 0.9, 0.0], [0.2, 0.3, 0.5]],
        [[1.0, 0.0, 0.0], [0.25, 0.5, 0.25], [0.0, 0.0, 0.0]],  # two words
    ]
)


def test_doubly_stochastic_attention_wants_each_location_to_be_looked_at_once():
    expected = [(1 - 0.8) ** 2 + (1 - 1.45) ** 2 + (1 - 0.75) ** 2, 0.25**2 + 0.5**2 + 0.75**2]
    np.testing.assert_allclose(doubly_stochastic_loss(ALPHA), expected)
    np.testing.assert_array_equal(doubly_stochastic_loss(np.eye(3)[None]), [0.0])


def test_the_entropy_is_that_of_all_real_words_and_has_a_finite_gradient_at_zero():
    alpha = tf.Variable(ALPHA)
    with tf.GradientTape() as tape:
        entropy = attention_entropy(alpha)
    expected = [-sum(p * np.log(p) for p in caption.ravel() if p > 0) for caption in ALPHA]
    np.testing.assert_allclose(entropy, expected)
    assert np.isfinite(tape.gradient(entropy, alpha)).all()


def test_the_loss_of_locations_has_the_gradient_of_their_log_probability_times_the_advantage():
    locations = np.array([[0, 1, SOFT], [0, 2, 1]])
    advantages = tf.Variable([2.0, -3.0], dtype="float64")
    alpha = tf.Variable(ALPHA)
    with tf.GradientTape() as tape:
        loss = location_loss(alpha, locations, advantages)
    np.testing.assert_array_equal(loss, [0.0, 0.0])
    into_alpha, into_advantages = tape.gradient(loss, [alpha, advantages])
    expected = np.zeros_like(ALPHA)
    expected[0, 0, 0], expected[0, 1, 1] = -2.0 / 0.5, -2.0 / 0.9
    expected[1, 0, 0], expected[1, 1, 2] = 3.0 / 1.0, 3.0 / 0.25
    np.testing.assert_allclose(into_alpha, expected)
    assert into_advantages is None


@pytest.mark.parametrize("term", [doubly_stochastic_loss, attention_entropy])
def test_terms_are_computed_in_single_precision_at_least(term):
    assert term(ALPHA.astype("float16")).dtype == "float32"
    assert term(ALPHA).dtype == "float64"
