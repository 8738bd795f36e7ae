"""Scores by their formula, and a bound that nothing exceeds."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.decoding.ranking import LEAST_COVERAGE, make_ranking

MASK = tf.constant([[True, True, False]])
LENGTHS = np.array([[1, 4, 10]])
LOG_PROBABILITIES = np.array([[-0.5, -2.0, -7.0]], "float32")


def ranking(normalisation="none", alpha=1.0, beta=0.0):
    return make_ranking(normalisation, alpha, beta, MASK)


def scores(**options):
    received = tf.constant([[[0.5, 2.0, 0.0], [1.0, 1.0, 0.5], [0.25, 0.5, 9.0]]])
    arguments = map(tf.constant, (LOG_PROBABILITIES, LENGTHS))
    return ranking(**options).score(*arguments, received).numpy()


def test_scores_follow_the_formulas():
    np.testing.assert_array_equal(scores(), LOG_PROBABILITIES)
    np.testing.assert_allclose(scores(normalisation="length"), [[-0.5, -0.5, -0.7]], rtol=1e-6)
    np.testing.assert_allclose(
        scores(normalisation="gnmt", alpha=0.6),
        LOG_PROBABILITIES / ((5 + LENGTHS) / 6) ** 0.6,
        rtol=1e-6,
    )
    np.testing.assert_array_equal(scores(normalisation="gnmt", alpha=0.0), LOG_PROBABILITIES)


def test_coverage_counts_real_positions_up_to_one_unit_each():
    expected = LOG_PROBABILITIES + 0.3 * np.log([0.5, 1.0, 0.125])
    np.testing.assert_allclose(scores(beta=0.3), expected, rtol=1e-6)
    np.testing.assert_allclose(scores(beta=tf.constant(0.3)), expected, rtol=1e-6)
    np.testing.assert_array_equal(scores(beta=tf.constant(0.0)), LOG_PROBABILITIES)


def test_a_word_without_any_attention_costs_much_but_not_everything():
    nothing = ranking(beta=1.0).score(
        tf.constant([[-1.0]]), tf.constant([[2]]), tf.zeros((1, 1, 3))
    )
    np.testing.assert_allclose(nothing, [[-1.0 + 2 * np.log(LEAST_COVERAGE)]], rtol=1e-6)


@pytest.mark.parametrize("normalisation", ["none", "length", "gnmt"])
@pytest.mark.parametrize("alpha", [0.0, 0.6, 3.0, -1.0])
def test_no_future_exceeds_the_bound_and_one_reaches_it(normalisation, alpha):
    """However it goes on for up to 12 tokens, and whether alpha favours long or short ones."""
    rank = ranking(normalisation, alpha)
    lengths = tf.range(5, 13)
    for log_probability in (0.0, -0.3, -8.0):
        futures = rank.score(tf.constant([[log_probability]]), lengths[None], tf.zeros((1, 1, 3)))
        bound = rank.bound(tf.constant([log_probability]), tf.constant(4), tf.constant([12]))
        assert (futures <= bound).numpy().all()
        np.testing.assert_allclose(np.max(futures), bound[0], rtol=1e-6)


def test_no_hypothesis_has_no_score():
    received = tf.zeros((1, 1, 3))
    for normalisation in ("none", "length", "gnmt"):
        rank = ranking(normalisation, beta=0.5)
        nothing = tf.constant([[-np.inf]], tf.float32)
        assert rank.score(nothing, tf.constant([[3]]), received).numpy() == -np.inf
        assert rank.bound(nothing[0], tf.constant(3), tf.constant([9])).numpy() == -np.inf


@pytest.mark.parametrize("alpha", [1000.0, -1000.0, 3e38, tf.constant(1e38)])
def test_extreme_length_penalties_keep_the_order_of_equal_lengths(alpha):
    """A divisor of infinity would make NaN of an empty place, one of 0 an empty place of all."""
    rank = ranking("gnmt", alpha)
    found = rank.score(tf.constant([[-1.0, -2.0, -np.inf]]), tf.constant([[30]]), MASK)
    assert np.isfinite(found[0, :2]).all()
    assert found[0, 0] > found[0, 1] > found[0, 2] == -np.inf
    assert rank.score(tf.constant([[0.0]]), tf.constant([[30]]), MASK).numpy() == 0.0


def test_the_largest_coverage_penalty_leaves_a_score():
    found = ranking(beta=3e38).score(
        tf.constant([[-1.0, -np.inf]]), tf.constant([[2]]), tf.zeros((1, 2, 3))
    )
    assert np.isfinite(found[0, 0])
    assert found[0, 1] == -np.inf


def test_penalties_out_of_range_are_refused():
    for options in ({"alpha": 1e300}, {"alpha": -1e300}, {"beta": 1e39}):
        with pytest.raises(ValueError, match="penalty must be finite in float32, got"):
            ranking(**options)
    with pytest.raises(ValueError, match="length_penalty must be finite, got nan"):
        ranking(alpha=float("nan"))
    with pytest.raises(ValueError, match=r"coverage_penalty must be at least 0, got -1\.0"):
        ranking(beta=np.float32(-1))
    for name, options in (
        ("length_penalty must be finite", {"alpha": tf.constant(np.nan)}),
        ("coverage_penalty must be at least 0", {"beta": tf.constant(-1.0)}),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=name):
            ranking(**options)
