"""Picking one vector per example."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.ops.gathering import gather_positions, position_gatherer

VALUES = np.arange(3 * 4 * 2, dtype="float32").reshape(3, 4, 2)
ROWS = np.arange(3)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_row_b_is_the_position_of_example_b(dtype):
    positions = np.array([3, 0, 2], dtype)
    np.testing.assert_array_equal(gather_positions(VALUES, positions), VALUES[ROWS, positions])


def test_whole_numbers_and_half_precision_keep_their_dtype():
    for dtype in ("int32", "float16"):
        picked = gather_positions(VALUES.astype(dtype), np.array([1, 1, 1]))
        assert picked.dtype == dtype


def test_gradients_of_several_picks_add_up_and_the_rest_gets_none():
    values = tf.constant(VALUES)
    picks = [np.array([3, 0, 2]), np.array([3, 1, 0]), np.array([1, 1, 2])]
    factors = [1.0, 10.0, 100.0]
    with tf.GradientTape() as tape:
        tape.watch(values)
        gather = position_gatherer(values)
        loss = sum(f * tf.reduce_sum(gather(p)) for f, p in zip(factors, picks, strict=True))
    expected = np.zeros_like(VALUES)
    for factor, positions in zip(factors, picks, strict=True):
        expected[ROWS, positions] += factor
    np.testing.assert_array_equal(tf.convert_to_tensor(tape.gradient(loss, values)), expected)


def test_sizes_may_be_unknown_when_traced():
    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None, 2), tf.float32),
            tf.TensorSpec((None,), tf.int32),
        ],
        autograph=False,
    )
    def graph(values, positions):
        return gather_positions(values, positions)

    for batch in (0, 1, 3):
        positions = ROWS[:batch]
        actual = graph(VALUES[:batch], positions)
        np.testing.assert_array_equal(actual, VALUES[positions, positions])
