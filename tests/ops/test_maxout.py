"""Maxout over pool-major pieces, and its own gradient."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.ops.maxout import maxout


def gradient_of(values, pool_size, upstream):
    values = tf.constant(values)
    with tf.GradientTape() as tape:
        tape.watch(values)
        outputs = maxout(values, pool_size)
    return tape.gradient(outputs, values, tf.constant(upstream, outputs.dtype)).numpy()


def test_pieces_are_laid_out_pool_major():
    pool_0, pool_1 = [1.0, 2.0, 3.0], [4.0, 0.0, 5.0]
    outputs = maxout(tf.constant([[*pool_0, *pool_1]]), 2)
    assert outputs.numpy().tolist() == [[4.0, 2.0, 5.0]]
    assert maxout(tf.constant([[*pool_0, *pool_1]]), 3).numpy().tolist() == [[3.0, 5.0]]


def test_one_piece_is_the_identity():
    values = np.random.default_rng(0).normal(size=(2, 6))
    np.testing.assert_array_equal(maxout(values, 1), values)
    np.testing.assert_array_equal(gradient_of(values, 1, np.ones((2, 6))), np.ones((2, 6)))


@pytest.mark.parametrize("outer", [(7,), (2, 3), (2, 1, 3)])
def test_any_rank_with_finite_differences_as_gradient(outer):
    generator = np.random.default_rng(len(outer))
    values, direction = generator.normal(size=(2, *outer, 4 * 5))
    upstream = generator.normal(size=(*outer, 5))

    def loss(values):
        pieces = values.reshape(*outer, 4, 5)
        return np.sum(upstream * pieces.max(axis=-2))

    np.testing.assert_array_equal(maxout(values, 4), values.reshape(*outer, 4, 5).max(axis=-2))
    step = 1e-6
    expected = (loss(values + step * direction) - loss(values - step * direction)) / (2 * step)
    actual = np.sum(gradient_of(values, 4, upstream) * direction)
    np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_ties_share_the_gradient():
    values = [[1.0, 7.0, 1.0, 2.0, 0.0, 7.0]]  # units (1, 1, 0) and (7, 2, 7)
    gradient = gradient_of(values, 3, [[6.0, 8.0]])
    assert gradient.tolist() == [[3.0, 4.0, 3.0, 0.0, 0.0, 4.0]]


@pytest.mark.parametrize("jit_compile", [False, True])
def test_sizes_may_be_unknown_when_traced(jit_compile):
    @tf.function(
        input_signature=[tf.TensorSpec((None, None, 6), tf.float32)],
        jit_compile=jit_compile,
        autograph=False,
    )
    def graph(values):
        outputs = maxout(values, 3)
        return outputs, tf.gradients(outputs, values)[0]

    for shape in ((1, 4, 6), (3, 2, 6)):
        values = np.random.default_rng(1).normal(size=shape).astype("float32")
        outputs, gradient = graph(values)
        np.testing.assert_array_equal(outputs, values.reshape(*shape[:2], 3, 2).max(axis=-2))
        np.testing.assert_array_equal(gradient, gradient_of(values, 3, np.ones((*shape[:2], 2))))


def test_half_precision_stays_half():
    values = np.random.default_rng(2).normal(size=(3, 8)).astype("float16")
    assert maxout(values, 4).dtype == "float16"
    assert gradient_of(values, 4, np.ones((3, 2))).dtype == "float16"


def test_there_may_be_no_row():
    """A replica may have no example, when models run eagerly too."""
    assert maxout(tf.zeros((0, 7, 6)), 3).shape == (0, 7, 2)
