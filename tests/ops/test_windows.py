"""Windows of long sequences: where they begin, what they read, how they are laid back."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.ops.windows import (
    gather_windows,
    scatter_window,
    sequence_lengths,
    window_positions,
    window_starts,
)

ROWS, LENGTH, DIM = 3, 7, 2
VALUES = np.random.default_rng(1).normal(size=(ROWS, LENGTH, DIM))
STARTS = np.array([[-3, 0, 6, 9], [2, -9, 5, 1], [-1, 4, 3, -2]], "int32")
WIDTH = 3
WEIGHTS = np.random.default_rng(2).normal(size=(*STARTS.shape, WIDTH))


def test_lengths_are_numbers_of_real_positions():
    mask = tf.constant([[True, True, False], [False] * 3, [True] * 3])
    lengths = sequence_lengths(mask)
    assert lengths.dtype == "int32"
    assert lengths.numpy().tolist() == [2, 0, 3]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_window_is_laid_around_the_whole_part_of_its_centre(dtype):
    starts = window_starts(tf.constant([[0.0, 0.99, 4.0, 999.5]], dtype), half_width=2)
    assert starts.dtype == "int32"
    assert starts.numpy().tolist() == [[-2, -2, 2, 997]]
    positions = window_positions(starts, 5)
    assert positions.dtype == "int32"
    assert positions.numpy()[0].tolist() == [list(range(s, s + 5)) for s in (-2, -2, 2, 997)]


def test_windows_hold_the_values_at_their_positions_and_those_at_the_ends_beyond():
    positions = window_positions(tf.constant(STARTS), WIDTH)
    windows = gather_windows(VALUES, positions).numpy()
    for row, q, slot in np.ndindex(windows.shape[:3]):
        position = min(max(STARTS[row, q] + slot, 0), LENGTH - 1)
        np.testing.assert_array_equal(windows[row, q, slot], VALUES[row, position])


def test_the_gradient_of_the_values_adds_up_over_windows():
    positions, values = np.array([[[0, 1], [1, 2]], [[6, 6], [3, 2]]], "int32"), VALUES[:2]
    with tf.GradientTape() as tape:
        tensor = tf.constant(values)
        tape.watch(tensor)
        total = tf.reduce_sum(gather_windows(tensor, positions))
    expected = np.zeros_like(values)
    for row, q, slot in np.ndindex(positions.shape):
        expected[row, positions[row, q, slot]] += 1.0
    np.testing.assert_array_equal(tf.convert_to_tensor(tape.gradient(total, tensor)), expected)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_weights_are_laid_back_onto_their_positions(dtype):
    weights = WEIGHTS.astype(dtype)
    expected = np.zeros((*STARTS.shape, LENGTH), dtype)
    for row, q, slot in np.ndindex(WEIGHTS.shape):
        if 0 <= STARTS[row, q] + slot < LENGTH:
            expected[row, q, STARTS[row, q] + slot] = weights[row, q, slot]
    for length in (LENGTH, tf.constant(LENGTH)):
        whole = scatter_window(tf.constant(weights), tf.constant(STARTS), length)
        assert whole.dtype == dtype
        np.testing.assert_array_equal(whole, expected)


def test_what_was_laid_out_is_read_back():
    whole = scatter_window(WEIGHTS, STARTS, LENGTH)
    rows = tf.reshape(whole, (-1, LENGTH, 1))  # each query's map is a sequence of its own
    positions = window_positions(tf.reshape(tf.constant(STARTS), (-1, 1)), WIDTH)
    inside = ((positions >= 0) & (positions < LENGTH)).numpy()[:, 0]
    windows = gather_windows(rows, positions).numpy()[:, 0, :, 0]
    np.testing.assert_array_equal(windows[inside], WEIGHTS.reshape(-1, WIDTH)[inside])


def test_one_graph_serves_every_size():
    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None, DIM), tf.float64),
            tf.TensorSpec((None, None, None), tf.float64),
            tf.TensorSpec((None, None), tf.int32),
        ],
        autograph=False,
    )
    def graph(values, weights, starts):
        windows = gather_windows(values, window_positions(starts, WIDTH))
        return windows, scatter_window(weights, starts, tf.shape(values)[1])

    for rows in (ROWS, 1, 0):
        values, weights, starts = VALUES[:rows], WEIGHTS[:rows], STARTS[:rows]
        windows, whole = graph(values, weights, starts)
        positions = window_positions(tf.constant(starts), WIDTH)
        np.testing.assert_array_equal(windows, gather_windows(values, positions))
        np.testing.assert_array_equal(whole, scatter_window(weights, starts, LENGTH))
        assert whole.shape == (rows, STARTS.shape[1], LENGTH)


def test_windows_of_no_positions_are_zeros():
    windows = gather_windows(tf.zeros((2, 0, 3)), tf.constant([[[-1, 0, 1]]] * 2))
    assert windows.shape == (2, 1, 3, 3)
    assert not windows.numpy().any()
