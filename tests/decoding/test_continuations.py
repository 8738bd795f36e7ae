"""The best continuations against one sort of everything."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.decoding.continuations import best_continuations, chunk_size

NOTHING = np.zeros((3, 4), bool)


def sorted_out(logits, before, forbidden, count):
    """All continuations by rank: log-probability, then flat index; 32-bit sums as in the search."""
    logits = logits.astype("float32")
    batch, width = before.shape
    normalisers = tf.reduce_logsumexp(logits, axis=1).numpy()
    masked = logits.copy()
    masked[:, :4][np.repeat(forbidden, width, axis=0)] = -np.inf
    scores = before.reshape(-1, 1) + (masked - normalisers[:, None])
    scores = scores.reshape(batch, -1)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(scores, order, 1), *np.divmod(order, logits.shape[1])


def assert_found(logits, before, forbidden, count):
    found = best_continuations(*map(tf.constant, (logits, before, forbidden)), count)
    assert all(x.shape == (len(before), count) for x in found)
    scores, parents, tokens = sorted_out(logits, before, forbidden, count)
    there, (batch, kept) = np.isfinite(scores), scores.shape
    np.testing.assert_allclose(found.log_probabilities[:, :kept], scores, rtol=1e-5)
    np.testing.assert_array_equal(found.parents.numpy()[:, :kept][there], parents[there])
    np.testing.assert_array_equal(found.tokens.numpy()[:, :kept][there], tokens[there])
    surplus = np.ones((batch, count), bool)
    surplus[:, :kept] = ~there
    assert (found.log_probabilities.numpy()[surplus] == -np.inf).all()
    assert not found.tokens.numpy()[surplus].any()
    assert (found.parents.numpy() < before.shape[1]).all()


@pytest.mark.parametrize("vocabulary_size", [5, 128, 129, 200, 211, 499, 1000, 1009, 1394])
@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("count", [1, 4, 30])
def test_they_are_those_of_a_sort_of_everything(vocabulary_size, width, count):
    generator = np.random.default_rng(vocabulary_size + count)
    logits = generator.normal(0.0, 3.0, (3 * width, vocabulary_size)).astype("float32")
    logits[:, :4] += 3.0  # the special ids, if allowed, are among the best
    before = -generator.exponential(2.0, (3, width)).astype("float32")
    before[1, 1:] = -np.inf
    forbidden = np.array([[1, 0, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1]], bool)
    assert_found(logits, before, forbidden, count)


@pytest.mark.parametrize("vocabulary_size", [200, 211, 1000])
@pytest.mark.parametrize("values", [1, 2, 60])
def test_of_equals_the_lowest_index_comes_first(vocabulary_size, values):
    """Few distinct logits make ties within chunks, across chunks and across hypotheses.

    With 60 the maxima of the chunks differ, so that ties are not between maxima alone.
    """
    generator = np.random.default_rng(values)
    row = generator.integers(0, values, vocabulary_size).astype("float32")
    # Each row is the same numbers in another order: the normalisers are equal.
    logits = np.stack([np.roll(row, shift) for shift in (0, 7, 50, 3, 99, 1)])
    for count in (1, 3, 20, 150):
        assert_found(logits, np.zeros((3, 2), "float32"), NOTHING, count)


@pytest.mark.parametrize("vocabulary_size", [7, 300])
def test_no_hypothesis_has_no_continuation(vocabulary_size):
    logits = np.zeros((6, vocabulary_size), "float32")
    assert_found(logits, np.full((3, 2), -np.inf, "float32"), NOTHING, 4)


def test_impossible_tokens_are_never_chosen():
    logits = np.full((3, 300), -np.inf, "float32")
    logits[:, [5, 250]] = 0.0, 1.0
    assert_found(logits, np.zeros((3, 1), "float32"), NOTHING, 4)


def test_a_large_logit_does_not_overflow():
    logits = np.linspace(-3e4, 3e4, 900, dtype="float32").reshape(3, 300)
    assert_found(logits, np.zeros((3, 1), "float32"), NOTHING, 2)


@pytest.mark.parametrize(
    ("vocabulary_size", "expected"),
    [(5, 5), (128, 128), (10_000, 100), (9_999, 101), (32_000, 100), (211, 211), (1009, 100)],
)
def test_chunks_are_near_a_hundred(vocabulary_size, expected):
    assert chunk_size(vocabulary_size) == expected
