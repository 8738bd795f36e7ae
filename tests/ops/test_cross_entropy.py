"""Cross entropy over large vocabularies, and its own gradient."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.ops.cross_entropy import cross_entropy


def reference(logits, ids, upstream):
    """Losses and gradient in float64, with explicit probabilities."""
    logits = np.asarray(logits, "float64")
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    probabilities = exponentials / exponentials.sum(-1, keepdims=True)
    hot = np.eye(logits.shape[-1])[ids]
    losses = logits.max(-1) + np.log(exponentials.sum(-1)) - np.sum(hot * logits, -1)
    return losses, upstream[..., None] * (probabilities - hot)


def losses_and_gradient(logits, ids, upstream):
    with tf.GradientTape() as tape:
        tape.watch(logits)
        losses = cross_entropy(logits, ids)
    return losses, tape.gradient(losses, logits, upstream)


@pytest.mark.parametrize("shape", [(7,), (2, 3), (2, 1, 3), (0,), (3, 0)])
@pytest.mark.parametrize("graph", [False, True])
def test_equals_explicit_probabilities(shape, graph):
    random = np.random.default_rng(len(shape))
    logits, upstream = random.normal(size=(*shape, 11)), random.normal(size=shape)
    ids = random.integers(0, 11, shape)
    function = tf.function(losses_and_gradient) if graph else losses_and_gradient
    found = function(tf.constant(logits), tf.constant(ids), tf.constant(upstream))
    for value, expected in zip(found, reference(logits, ids, upstream), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)


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
