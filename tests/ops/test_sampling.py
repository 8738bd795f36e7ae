"""Draws and their score function: exact on few choices, by enumeration."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.references.recurrent import softmax
from zoo.ops.sampling import draw_categorical, pick_categorical, score_function_loss

SCORES = np.array([0.3, -1.2, 0.9, 0.0])
REWARDS = np.array([1.0, 0.0, -0.5, 2.0])


@pytest.mark.parametrize("baseline", [0.0, 0.7])
def test_the_expected_gradient_is_that_of_the_expected_reward_whatever_the_baseline(baseline):
    p = softmax(SCORES)
    scores, constant = tf.Variable(SCORES), tf.Variable(baseline, dtype="float64")
    with tf.GradientTape() as tape:
        log_p = tf.nn.log_softmax(scores)
        losses = score_function_loss(log_p, REWARDS - constant)
        expected_loss = tf.reduce_sum(p * losses)  # over all choices, each as often as it is drawn
    np.testing.assert_array_equal(losses, np.zeros(4))
    into_scores, into_baseline = tape.gradient(expected_loss, [scores, constant])
    one_hot = np.eye(4)
    expected = sum(p[s] * REWARDS[s] * (one_hot[s] - p) for s in range(4))
    np.testing.assert_allclose(-into_scores, expected, rtol=1e-12)
    assert into_baseline is None


def test_the_expected_choice_of_values_is_soft_attention():
    """A choice of each of many rows, and how often each was made."""
    logits = np.broadcast_to(SCORES, (200, 50, 4))
    drawn = draw_categorical(logits, keras.random.SeedGenerator(3)).numpy()
    assert drawn.shape == (200, 50)
    assert drawn.dtype == "int32"
    p, values = softmax(SCORES), np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0], [-1.0, 1.0]])
    shares = np.bincount(drawn.ravel(), minlength=4) / drawn.size
    deviation = np.sqrt(p * (1 - p) / drawn.size)
    assert (np.abs(shares - p) < 4 * deviation).all()
    np.testing.assert_allclose(values[drawn].mean(axis=(0, 1)), p @ values, atol=0.05)


def test_draws_are_new_each_time_and_never_of_a_choice_without_probability():
    logits = np.array([[0.0, -1e30, 0.0]] * 100)
    seed = keras.random.SeedGenerator(0)
    first, second = (draw_categorical(logits, seed).numpy() for _ in range(2))
    assert (first != second).any()
    assert set(first) == {0, 2}


def test_uniform_numbers_pick_each_choice_as_often_as_its_probability_says():
    p = np.array([0.0, 0.2, 0.0, 0.5, 0.3, 0.0], "float32")
    count = 1000
    uniforms = ((np.arange(count) + 0.5) / count).astype("float32")
    picked = pick_categorical(np.broadcast_to(p, (2, count, 6)), np.stack([uniforms] * 2)).numpy()
    assert picked.dtype == "int32"
    np.testing.assert_array_equal(picked[0], picked[1])
    np.testing.assert_array_equal(picked[0], np.repeat([1, 3, 4], [200, 500, 300]))


@pytest.mark.parametrize("total", [0.9999, 1.0, 1.0001])  # as sums are rounded
def test_no_choice_without_probability_is_picked_at_the_ends_of_the_interval(total):
    p = np.array([[0.0, 0.25, 0.75, 0.0]] * 2, "float32") * total
    ends = np.array([0.0, np.nextafter(np.float32(1), np.float32(0))])
    np.testing.assert_array_equal(pick_categorical(p, ends.astype("float32")), [1, 2])
