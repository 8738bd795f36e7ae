"""Properties of the multiplicative scores: zero vectors, large numbers, positions."""

import numpy as np
import pytest
import tensorflow as tf

from tests.attention.scoring import EXACT, KEY_DIM, KEYS, MAXIMUM_LENGTH, QUERIES, make, sentences
from zoo.attention.attend import attend
from zoo.attention.scores import ContentScore, DotScore, GeneralScore, LocationScore


def test_scaled_dot_divides_by_the_root_of_the_size():
    queries, keys, _ = sentences("dot")
    plain, scaled = make("dot"), make("scaled_dot")
    expected = plain(queries, plain.prepare(keys)).numpy() / np.sqrt(KEY_DIM)
    np.testing.assert_allclose(scaled(queries, scaled.prepare(keys)), expected, **EXACT)


def test_general_with_the_identity_is_the_dot_product():
    queries, keys, _ = sentences("dot")
    plain, general = make("dot"), GeneralScore(dtype="float64")
    general.build((None, None, KEY_DIM), (None, None, KEY_DIM))
    general.kernel.assign(np.eye(KEY_DIM))
    expected = plain(queries, plain.prepare(keys))
    np.testing.assert_allclose(general(queries, general.prepare(keys)), expected, **EXACT)


@pytest.mark.parametrize("factor", [1e-30, 1e-3, 1e3, 1e30])
def test_the_cosine_does_not_depend_on_lengths(factor):
    score = make("content", dtype="float32")
    queries, keys, _ = (x.astype("float32") for x in sentences("content", garbage=1.0))
    expected = score(queries, score.prepare(keys))
    actual = score(queries * np.float32(factor), score.prepare(keys / np.float32(factor)))
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("size", [1e-4, 6e4])
def test_the_cosine_of_very_small_and_very_large_halves_is_right(size):
    score = make("content", dtype="float16")
    same = tf.fill((1, 1, KEY_DIM), tf.constant(size, tf.float16))
    np.testing.assert_allclose(score(same, score.prepare(same)), [[[1.0]]], rtol=2e-3)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("zero", ["query", "key", "both"])
def test_the_cosine_of_a_zero_vector_is_0_with_a_zero_gradient(dtype, zero):
    score = make("content", dtype=dtype)
    queries, keys = (tf.ones((1, 2, KEY_DIM), dtype) for _ in range(2))
    empty = tf.zeros((1, 1, KEY_DIM), dtype)
    if zero in ("query", "both"):
        queries = tf.concat([empty, queries[:, 1:]], axis=1)
    if zero in ("key", "both"):
        keys = tf.concat([empty, keys[:, 1:]], axis=1)
    with tf.GradientTape() as tape:
        tape.watch([queries, keys])
        scores = score(queries, score.prepare(keys))
        slope = tf.reduce_sum(scores * tf.constant([[[1.0, 2.0], [3.0, 4.0]]], scores.dtype))
    into_queries, into_keys = tape.gradient(slope, [queries, keys])
    expected = {
        "query": [[0.0, 0.0], [1.0, 1.0]],
        "key": [[0.0, 1.0], [0.0, 1.0]],
        "both": [[0.0, 0.0], [0.0, 1.0]],
    }[zero]
    np.testing.assert_allclose(scores[0], expected, rtol=1e-3)
    for gradient in (into_queries, into_keys):
        assert np.isfinite(gradient).all()
    if zero != "key":
        assert not into_queries[0, 0].numpy().any()
    if zero != "query":
        assert not into_keys[0, 0].numpy().any()


@pytest.mark.parametrize("length", [1, MAXIMUM_LENGTH - 1, MAXIMUM_LENGTH, MAXIMUM_LENGTH + 3])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_location_reaches_the_first_positions_and_no_further(length, dtype):
    score = make("location", dtype=dtype)
    queries, _, _ = sentences("location")
    keys = np.zeros((len(queries), length, KEY_DIM))
    scores = score(queries.astype(dtype), score.prepare(keys.astype(dtype)))
    _, weights = attend(scores, keys.astype(dtype), np.ones(keys.shape[:2], bool))
    assert weights.shape == (len(queries), QUERIES, length)
    logits = queries @ score.kernel.numpy()
    exponentials = np.exp(logits[:, :, :length])
    expected = exponentials / exponentials.sum(axis=-1, keepdims=True)
    reached = weights.numpy()[:, :, :MAXIMUM_LENGTH]
    np.testing.assert_allclose(reached, expected, rtol=2e-2 if dtype == "float16" else 1e-5)
    assert not weights.numpy()[:, :, MAXIMUM_LENGTH:].any()


def test_location_does_not_read_the_keys():
    score, (queries, keys, _) = make("location"), sentences("location")
    expected = score(queries, score.prepare(keys))
    np.testing.assert_array_equal(
        score(queries, score.prepare(np.full_like(keys, np.nan))), expected
    )


def test_where_location_reaches_nothing_the_weights_are_zeros_with_a_zero_gradient():
    score, (queries, keys, values) = make("location"), sentences("location", garbage=1.0)
    mask = np.broadcast_to(np.arange(KEYS) >= MAXIMUM_LENGTH, keys.shape[:2])
    with tf.GradientTape() as tape:
        _, weights = attend(score(queries, score.prepare(keys)), values, mask)
        total = tf.reduce_sum(tf.square(weights))
    assert mask.any()
    assert not weights.numpy().any()
    assert not tape.gradient(total, score.kernel.value).numpy().any()


def test_windows_beyond_the_reach_of_location_are_masked():
    score, (queries, keys, _) = make("location"), sentences("location")
    positions = np.full((*queries.shape[:2], 2), [MAXIMUM_LENGTH - 1, MAXIMUM_LENGTH], "int32")
    windows = np.zeros((*positions.shape, KEY_DIM))
    scores = score.score_windows(queries, windows, positions).numpy()
    expected = queries @ score.kernel.numpy()[:, -1]
    np.testing.assert_allclose(scores[:, :, 0], expected, **EXACT)
    assert (scores[:, :, 1] < -1e29).all()
    assert keys.shape[1] > MAXIMUM_LENGTH


def test_the_scores_without_weights_have_none():
    for cls in (DotScore, ContentScore):
        score = cls()
        score.build((None, None, 3), (None, None, 3))
        assert score.weights == []


def test_a_maximum_length_must_be_positive():
    with pytest.raises(ValueError, match="maximum_length must be a positive integer, got 0"):
        LocationScore(0)


def test_a_cosine_needs_no_row():
    """A replica may have no example, when models run eagerly too."""
    score = make("content")
    assert score(np.zeros((0, 2, KEY_DIM)), np.zeros((0, 3, KEY_DIM))).shape == (0, 2, 3)
