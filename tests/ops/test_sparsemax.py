"""Sparsemax against projections found without sorting, and its exact gradient."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.references.feature_attention import project_on_simplex
from zoo.ops.sparsemax import sparsemax

SCORES = np.random.default_rng(0).normal(0.0, 1.5, (40, 7))
MASK = np.random.default_rng(1).random(SCORES.shape) < 0.7
MASK[3] = False


def nearest_point(scores):
    """The point of the simplex nearest to scores, by projected descent on any start."""
    point = np.full(len(scores), 1 / len(scores))
    for _ in range(300):
        point = project_on_simplex(point - 0.5 * (point - scores))
    return point


def test_it_is_the_projection_on_the_simplex():
    found = sparsemax(tf.constant(SCORES)).numpy()
    for weights, scores in zip(found, SCORES, strict=True):
        np.testing.assert_allclose(weights, project_on_simplex(scores), atol=1e-12)
    np.testing.assert_allclose(found[0], nearest_point(SCORES[0]), atol=1e-9)
    others = np.random.default_rng(2).dirichlet(np.ones(7), 500)  # no other point is nearer
    for weights, scores in zip(found, SCORES, strict=True):
        distances = np.sum((others - scores) ** 2, axis=1)
        assert distances.min() >= np.sum((weights - scores) ** 2)


def test_rounding_makes_no_weight_negative():
    scores = np.random.default_rng(3).normal(size=(200_000, 7)).astype("float32")
    thresholds = scores[:, :1] - sparsemax(scores).numpy()[:, :1]  # right where that weight is > 0
    ulps = np.random.default_rng(4).integers(-2, 3, thresholds.shape)
    scores[:, -1:] = thresholds + ulps * np.spacing(thresholds)
    weights = sparsemax(scores).numpy()
    assert weights.min() == 0.0
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-6)


def test_masked_positions_take_no_part():
    found = sparsemax(tf.constant(SCORES), tf.constant(MASK)).numpy()
    assert not found[~MASK].any()
    assert not found[3].any()
    for weights, scores, mask in zip(found, SCORES, MASK, strict=True):
        if mask.any():
            expected = project_on_simplex(scores[mask])
            np.testing.assert_allclose(weights[mask], expected, atol=1e-12)


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers_show_in_their_row_alone(score):
    """As in a softmax: weights of zero would make a diverged model look like a working one."""
    scores, masked = SCORES.copy(), np.ones_like(MASK)
    scores[[1, 2], 4] = score
    masked[2, 4] = False
    for row, weights in enumerate(sparsemax(tf.constant(scores), tf.constant(masked)).numpy()):
        if row == 1:
            assert np.isnan(weights).all()
        else:
            expected = project_on_simplex(scores[row][masked[row]])
            np.testing.assert_allclose(weights[masked[row]], expected, atol=1e-12)
    assert np.isnan(sparsemax(tf.constant([[score]])).numpy()).all()


@pytest.mark.parametrize("size", [1, 2, 5])
def test_equal_scores_are_uniform_and_one_larger_by_one_takes_all(size):
    np.testing.assert_allclose(sparsemax(np.full((1, size), 3.0)), [[1 / size] * size])
    larger = np.full((1, size), -2.0)
    larger[0, 0] += 1
    np.testing.assert_array_equal(sparsemax(larger), [[1.0, *[0.0] * (size - 1)]])


def test_a_constant_changes_nothing_and_large_scores_stay_finite():
    moved = sparsemax(tf.constant(SCORES) + 1e4)
    np.testing.assert_allclose(moved, sparsemax(tf.constant(SCORES)), atol=1e-9)
    large = sparsemax(np.array([[1e4, -1e4, 9_999.5]], "float32")).numpy()
    np.testing.assert_allclose(large, [[0.75, 0.0, 0.25]])
    half = sparsemax(tf.constant(SCORES, "float16"))
    assert half.dtype == "float16"
    np.testing.assert_allclose(half, sparsemax(tf.constant(SCORES)), atol=4e-3)


def test_the_gradient_is_exact():
    upstream = np.random.default_rng(3).normal(size=SCORES.shape)
    for mask in (np.ones_like(MASK), MASK):
        scores = tf.Variable(SCORES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(sparsemax(scores, mask) * upstream)
        found = tape.gradient(loss, scores).numpy()
        weights = sparsemax(scores, mask).numpy()
        support = weights > 0
        means = (support * upstream).sum(1) / np.maximum(support.sum(1), 1)
        expected = support * (upstream - means[:, None])
        np.testing.assert_allclose(found, expected, atol=1e-12)
        direction = np.random.default_rng(4).normal(size=SCORES.shape)
        ahead, behind = (
            np.sum(sparsemax(SCORES + step * direction, mask) * upstream) for step in (1e-7, -1e-7)
        )
        np.testing.assert_allclose(np.sum(found * direction), (ahead - behind) / 2e-7, rtol=1e-5)


def test_other_masks_are_refused():
    with pytest.raises(ValueError, match="mask must be bool"):
        sparsemax(keras.ops.ones((2, 3)), keras.ops.ones((2, 3)))
    with pytest.raises(ValueError, match="mask must be bool of shape"):
        sparsemax(keras.ops.ones((2, 3)), keras.ops.ones((2, 2), "bool"))


def test_weights_of_whole_scores_are_not_rounded():
    scores = np.array([[1, 1, 0]])
    found = sparsemax(tf.constant(scores, "int32"))
    assert found.dtype == "float32"
    np.testing.assert_array_equal(found, [[0.5, 0.5, 0.0]])
