"""Masks, and the masked softmax against NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from tests.references import recurrent
from zoo.ops import masking

LENGTHS = (5, 3, 1, 0)
MASK = np.arange(5) < np.array(LENGTHS)[:, None]  # (4, 5)
EMPTY_ROW = 3


@pytest.fixture
def scores():
    return np.random.default_rng(1).normal(0.0, 3.0, (4, 5))


def test_mask_from_ids_is_true_where_a_token_stands():
    ids = np.array([[7, 1, 0], [0, 0, 0]], "int32")
    assert masking.mask_from_ids(ids).numpy().tolist() == [[True, True, False], [False] * 3]
    assert masking.mask_from_ids(ids, padding_id=1).numpy().tolist() == [
        [True, False, True],
        [1] * 3,
    ]


def test_append_sentinel_mask_makes_the_last_position_real():
    actual = masking.append_sentinel_mask(tf.constant(MASK)).numpy()
    assert actual.dtype == bool
    np.testing.assert_array_equal(actual, np.column_stack([MASK, [True] * 4]))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_mask_rows_zeros_padding_whatever_stands_there(dtype):
    values = np.random.default_rng(2).normal(size=(4, 5, 3)).astype(dtype)
    values[~MASK] = np.nan
    with tf.GradientTape() as tape:
        tensor = tf.constant(values)
        tape.watch(tensor)
        kept = masking.mask_rows(tensor, tf.constant(MASK))
    np.testing.assert_array_equal(kept, np.where(MASK[:, :, None], values, 0.0))
    assert kept.dtype == dtype
    gradient = tape.gradient(kept, tensor)
    np.testing.assert_array_equal(gradient, np.broadcast_to(MASK[:, :, None], values.shape))


@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_mask_rows_takes_rows_of_any_rank(shape):
    values = np.random.default_rng(2).normal(size=(4, 5, *shape))
    expected = values.copy()
    expected[~MASK] = 0.0
    np.testing.assert_array_equal(masking.mask_rows(values, tf.constant(MASK)), expected)


def test_last_position_is_that_of_the_last_token_and_0_without_any():
    last = masking.last_position(tf.constant(MASK))
    assert last.dtype == "int32"
    assert last.numpy().tolist() == [4, 2, 0, 0]


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-6)])
def test_softmax_is_numpys_over_the_real_positions(scores, dtype, tolerance):
    weights = masking.masked_softmax(scores.astype(dtype), MASK)
    expected = recurrent.masked_softmax(scores, MASK)
    np.testing.assert_allclose(weights, expected, rtol=tolerance)  # 0 must be exactly 0
    assert weights.dtype == dtype


def test_softmax_runs_over_any_axis_with_a_mask_that_broadcasts(scores):
    stacked = np.stack([scores, -scores, scores * 2.0], axis=2)  # (4, 5, 3)
    along_positions = masking.masked_softmax(stacked, MASK[:, :, None], axis=1)
    for column in range(3):
        expected = recurrent.masked_softmax(stacked[:, :, column], MASK)
        np.testing.assert_allclose(along_positions[:, :, column], expected, rtol=1e-12)


@pytest.mark.parametrize("garbage", [1e30, np.inf, np.nan])
def test_what_stands_in_padding_changes_neither_weights_nor_gradients(scores, garbage):
    outer = np.random.default_rng(3).normal(size=scores.shape)
    values = tf.constant(np.where(MASK, scores, garbage))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(values)
        weights = masking.masked_softmax(values, MASK)
        logarithms = masking.masked_log_softmax(values, MASK)
    p = recurrent.masked_softmax(scores, MASK)
    np.testing.assert_allclose(weights, p, rtol=1e-12)
    expected = p * (outer - np.sum(p * outer, axis=1, keepdims=True))
    np.testing.assert_allclose(tape.gradient(weights, values, outer), expected, atol=1e-12)
    real = outer * MASK
    expected = real - p * real.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(tape.gradient(logarithms, values, outer), expected, atol=1e-12)
    assert not expected[EMPTY_ROW].any()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_softmax_of_huge_scores_is_finite_with_a_finite_gradient(dtype):
    values = tf.constant([[1e4, 1e4, -1e4, 1e4], [-1e4, -1e4, 1e4, -1e4], [1e4] * 4], dtype)
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]], bool)
    with tf.GradientTape() as tape:
        tape.watch(values)
        weights = masking.masked_softmax(values, mask)
        loss = tf.reduce_sum(weights[:, :1])
    expected = [[0.5, 0.5, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.0] * 4]
    np.testing.assert_array_equal(weights, expected)
    assert weights.dtype == dtype
    expected = [[0.25, -0.25, 0.0, 0.0], [0.25, -0.25, 0.0, 0.0], [0.0] * 4]
    np.testing.assert_array_equal(tape.gradient(loss, values), expected)


def test_half_precision_is_computed_in_single(scores):
    half = scores.astype("float16")
    expected = masking.masked_softmax(half.astype("float32"), MASK).numpy().astype("float16")
    np.testing.assert_array_equal(masking.masked_softmax(half, MASK), expected)
    expected = masking.masked_log_softmax(half.astype("float32"), MASK)
    np.testing.assert_array_equal(masking.masked_log_softmax(half, MASK), expected)
    assert masking.masked_log_softmax(half, MASK).dtype == "float32"


@pytest.mark.parametrize("shift", [-1e4, 1e4])
def test_a_shift_of_all_scores_changes_nothing(scores, shift):
    whole = np.round(scores).astype("float32")  # sums with the shift are exact
    shifted = whole + np.float32(shift)
    expected = masking.masked_softmax(whole, MASK)
    np.testing.assert_array_equal(masking.masked_softmax(shifted, MASK), expected)
    expected = masking.masked_log_softmax(whole, MASK)
    spacing = np.spacing(np.float32(shift))  # the logarithm of the sum lies near the shift
    actual = masking.masked_log_softmax(shifted, MASK)
    np.testing.assert_allclose(actual, expected, atol=abs(spacing))


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-5)])
def test_log_softmax_is_numpys_over_the_real_positions(scores, dtype, tolerance):
    logarithms = masking.masked_log_softmax(scores.astype(dtype), MASK).numpy()
    assert logarithms.dtype == dtype
    assert (logarithms[~MASK] == np.float32(masking.MASKED_SCORE)).all()
    for row, length in enumerate(LENGTHS[:EMPTY_ROW]):
        expected = recurrent.log_softmax(scores[row, :length])
        np.testing.assert_allclose(logarithms[row, :length], expected, rtol=tolerance, atol=1e-12)


def test_log_softmax_keeps_what_the_logarithm_of_a_softmax_would_lose():
    values = np.array([[0.0, -1e4, -2e4, 5e4]], "float32")
    logarithms = masking.masked_log_softmax(values, np.array([[True, True, True, False]]))
    np.testing.assert_array_equal(logarithms[:, :3], [[0.0, -1e4, -2e4]])


def test_argmax_finds_the_first_best_real_position():
    values = np.array([[1.0, 3.0, 3.0, 9.0], [-1e4, -2e4, 0.0, 0.0], [9.0, 8.0, 7.0, 6.0]])
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]], bool)
    best = masking.masked_argmax(values, mask)
    assert best.dtype == "int32"
    assert best.numpy().tolist() == [1, 0, 0]
    assert masking.masked_argmax(values.T, mask.T, axis=0).numpy().tolist() == [1, 0, 0]
    half = masking.masked_argmax(values.astype("float16"), mask)
    assert half.numpy().tolist() == [1, 0, 0]


def test_there_may_be_no_row():
    """A replica may have no example, when models run eagerly too."""
    scores, mask = tf.zeros((0, 5)), tf.zeros((0, 5), tf.bool)
    for function in (masking.masked_softmax, masking.masked_log_softmax):
        assert function(scores, mask).shape == (0, 5)
    assert masking.masked_argmax(scores, mask).shape == (0,)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_weights_of_whole_scores_are_not_rounded_to_zero(dtype):
    scores, mask = np.array([[[3, 1, 2]]]), np.array([[True, True, False]])
    expected = masking.masked_softmax(tf.constant(scores, "float32"), mask[None])
    for actual in (
        masking.masked_softmax(tf.constant(scores, dtype), mask[None]),
        masking.attention_weights(tf.constant(scores, dtype), mask),
    ):
        assert actual.dtype == "float32"
        np.testing.assert_array_equal(actual, expected)
    whole = masking.attention_weights(tf.constant(scores, dtype))
    np.testing.assert_allclose(np.sum(whole), 1.0, rtol=1e-6)
