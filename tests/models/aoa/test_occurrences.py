"""Sums over the occurrences of words."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.models.aoa.occurrences import log_total_of_words, total_of_each_position
from zoo.ops.masking import MASKED_SCORE

IDS = np.array([[7, 5, 7, 9, 5, 7, 0], [4, 4, 0, 0, 0, 0, 0]])
WEIGHTS = np.array([[0.1, 0.2, 0.05, 0.3, 0.05, 0.3, 0.0], [0.75, 0.25, 0, 0, 0, 0, 0]])
WORDS = np.array([[5, 7, 8, 0], [4, 4, 5, 9]])
TOTALS = np.array([[0.25, 0.45, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]])


def log_weights():
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(WEIGHTS), MASKED_SCORE)


def test_words_weigh_what_their_occurrences_do_and_absent_ones_nothing():
    totals = log_total_of_words(log_weights(), IDS, WORDS).numpy()
    np.testing.assert_allclose(np.exp(totals), TOTALS, rtol=1e-12)
    np.testing.assert_allclose(totals[TOTALS == 0], MASKED_SCORE)


def test_totals_far_below_what_float32_holds_keep_their_logarithm_and_their_gradient():
    values = tf.constant([[-300.0, -301.0, -1.0]])
    with tf.GradientTape() as tape:
        tape.watch(values)
        total = log_total_of_words(values, tf.constant([[5, 5, 6]]), tf.constant([[5]]))
    np.testing.assert_allclose(total, [[np.logaddexp(-300.0, -301.0)]], rtol=1e-6)
    share = 1 / (1 + np.exp(-1.0))
    np.testing.assert_allclose(tape.gradient(total, values), [[share, 1 - share, 0]], rtol=1e-5)


def test_an_absent_word_gives_no_gradient():
    values = tf.constant(log_weights())
    with tf.GradientTape() as tape:
        tape.watch(values)
        total = log_total_of_words(values, IDS, WORDS[:, 2:3])
    assert not tf.convert_to_tensor(tape.gradient(total, values)).numpy().any()


def test_each_position_has_the_total_of_its_word():
    expected = [[0.45, 0.25, 0.45, 0.3, 0.25, 0.45, 0.0], [1.0, 1.0, 0, 0, 0, 0, 0]]
    np.testing.assert_allclose(total_of_each_position(WEIGHTS, IDS), expected, rtol=1e-12)


@pytest.mark.parametrize("length", [1, 2, 40])
def test_positions_equal_a_comparison_of_each_with_each(length):
    generator = np.random.default_rng(length)
    ids, weights = generator.integers(0, 6, (5, length)), generator.random((5, length))
    expected = ((ids[:, :, None] == ids[:, None, :]) * weights[:, None, :]).sum(axis=2)
    np.testing.assert_allclose(total_of_each_position(weights, ids), expected, rtol=1e-12)


def test_positions_work_in_a_graph_of_unknown_sizes_also_without_rows():
    signature = [tf.TensorSpec((None, None), tf.float64), tf.TensorSpec((None, None), tf.int64)]
    graph = tf.function(total_of_each_position, input_signature=signature, autograph=False)
    np.testing.assert_allclose(graph(WEIGHTS, IDS), total_of_each_position(WEIGHTS, IDS))
    assert graph(WEIGHTS[:0], IDS[:0]).shape == (0, 7)
