"""Cross entropy over large vocabularies, and its own gradient."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.ops.cross_entropy import cross_entropy, precise_cross_entropy

SMOOTHINGS = [{}, *({"smoothing": 0.3, "smoothing_over": over} for over in ("others", "all"))]


def wanted(ids, size, smoothing=0.0, smoothing_over="others"):
    """The distributions that are to be predicted, (..., V)."""
    hot = np.eye(size)[ids]
    if smoothing_over == "others":
        return (1 - smoothing) * hot + smoothing / (size - 1) * (1 - hot)
    return (1 - smoothing) * hot + smoothing / size


def reference(logits, ids, upstream, **smoothing):
    """Losses and gradient in float64, with explicit probabilities."""
    logits = np.asarray(logits, "float64")
    shifted = logits - logits.max(-1, keepdims=True)
    probabilities = np.exp(shifted) / np.exp(shifted).sum(-1, keepdims=True)
    logarithms = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    q = wanted(ids, logits.shape[-1], **smoothing)
    return -np.sum(q * logarithms, -1), upstream[..., None] * (probabilities - q)


def losses_and_gradient(logits, ids, upstream, smoothing=0.0, smoothing_over="others"):
    with tf.GradientTape() as tape:
        tape.watch(logits)
        losses = cross_entropy(logits, ids, smoothing, smoothing_over)
    return losses, tape.gradient(losses, logits, upstream)


@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=lambda one: one.get("smoothing_over", "off"))
@pytest.mark.parametrize("shape", [(7,), (2, 3), (2, 1, 3), (0,), (3, 0)])
@pytest.mark.parametrize("graph", [False, True])
def test_equals_explicit_probabilities(shape, graph, smoothing):
    random = np.random.default_rng(len(shape))
    logits, upstream = 3 + random.normal(size=(*shape, 11)), random.normal(size=shape)
    ids = random.integers(0, 11, shape)
    function = tf.function(losses_and_gradient, autograph=False) if graph else losses_and_gradient
    found = function(tf.constant(logits), tf.constant(ids), tf.constant(upstream), **smoothing)
    expected = reference(logits, ids, upstream, **smoothing)
    for value, one in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=lambda one: one.get("smoothing_over", "off"))
def test_the_gradient_is_that_of_finite_differences(smoothing):
    random = np.random.default_rng(1)
    logits, ids, upstream = random.normal(size=(3, 5)), np.array([4, 0, 4]), np.array([1, -2, 0.5])
    _, found = losses_and_gradient(tf.constant(logits), ids, tf.constant(upstream), **smoothing)
    differences = np.zeros_like(logits)
    for place in np.ndindex(logits.shape):
        for sign in (1, -1):
            moved = logits.copy()
            moved[place] += sign * 1e-6
            losses = cross_entropy(tf.constant(moved), ids, **smoothing)
            differences[place] += sign * np.sum(upstream * losses) / 2e-6
    np.testing.assert_allclose(found, differences, atol=1e-8)


@pytest.mark.parametrize(("over", "own", "other"), [("others", 0.9, 0.025), ("all", 0.92, 0.02)])
def test_the_least_smoothed_loss_is_the_entropy_of_what_is_wanted(over, own, other):
    logits = tf.Variable(np.log([[own, other, other, other, other]]))
    with tf.GradientTape() as tape:
        loss = cross_entropy(logits, tf.constant([0]), 0.1, over)
    entropy = -own * np.log(own) - 4 * other * np.log(other)
    np.testing.assert_allclose(loss, [entropy], rtol=1e-12)
    np.testing.assert_allclose(tape.gradient(loss, logits), np.zeros((1, 5)), atol=1e-15)


def test_smoothing_is_as_exact_far_from_zero_and_over_many_ids():
    random = np.random.default_rng(2)
    logits = (random.normal(size=(4, 10_000)) + 300).astype("float32")
    ids, upstream = np.array([0, 1, 9_999, 5]), np.ones(4)
    found = losses_and_gradient(tf.constant(logits), ids, tf.ones(4), 0.1)
    expected = reference(logits, ids, upstream, smoothing=0.1)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"smoothing": 1.0}, "smoothing must be at least 0 and less than 1, got 1.0"),
        ({"smoothing": float("nan")}, "smoothing must be at least 0 and less than 1, got nan"),
        ({"smoothing_over": "some"}, "smoothing_over must be one of .*, got 'some'"),
    ],
)
def test_bad_smoothing_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        cross_entropy(tf.zeros((2, 3)), tf.constant([0, 1]), **arguments)


def test_a_single_class_has_no_others():
    one = tf.zeros((2, 1)), tf.constant([0, 0])
    np.testing.assert_array_equal(cross_entropy(*one), np.zeros(2))
    np.testing.assert_array_equal(cross_entropy(*one, 0.1, "all"), np.zeros(2))
    with pytest.raises(ValueError, match="logits must have at least 2 classes with smoothing, got"):
        cross_entropy(*one, 0.1)


@pytest.mark.parametrize("scale", [1e-3, 1e4, 1e30])
def test_extreme_logits_neither_overflow_nor_lose_the_loss(scale):
    logits = np.array([[1.0, -1.0, 0.5], [-1.0, 1.0, 1.0]], "float32") * np.float32(scale)
    ids, upstream = np.array([1, 0]), np.ones(2)
    found = losses_and_gradient(tf.constant(logits), ids, tf.ones(2))
    expected = reference(logits, ids, upstream)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-6)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-6)


def test_keeps_the_dtype_and_takes_any_integer_ids():
    for dtype in ("float32", "float64"):
        for ids in (tf.int32, tf.int64):
            losses = cross_entropy(tf.zeros((2, 4), dtype), tf.constant([0, 3], ids))
            assert losses.dtype == dtype
            np.testing.assert_allclose(losses, np.log(4), rtol=1e-6)


@pytest.mark.parametrize(("dtype", "result"), [("float16", "float32"), ("float64", "float64")])
def test_half_precision_is_left_before_the_softmax(dtype, result):
    logits = np.array([[9.0, -9.0, 0.5]], dtype)
    losses = precise_cross_entropy(keras.ops.convert_to_tensor(logits), np.array([1]))
    assert keras.backend.standardize_dtype(losses.dtype) == result
    expected = np.log(np.exp(logits.astype("float64")).sum()) + 9.0
    np.testing.assert_allclose(losses, [expected], rtol=1e-6)
