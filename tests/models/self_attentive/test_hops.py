"""Hops of attention and the poolings in their place: words, padding, dropout."""

import numpy as np
import pytest

from tests.references import self_attentive as reference
from zoo.models.self_attentive.hops import SelfAttention, max_pooling, mean_pooling

GENERATOR = np.random.default_rng(0)
STATES = GENERATOR.normal(size=(2, 5, 4))
MASK = np.array([[True] * 5, [True] * 3 + [False] * 2])


def layer(**options):
    attention = SelfAttention(units=6, hops=3, dtype="float64", **options)
    attention.build((None, None, 4))
    for weight in attention.weights:
        weight.assign(np.random.default_rng(len(weight.shape)).normal(size=weight.shape))
    return attention


def test_words_in_another_order_have_their_weights_in_that_order():
    attention, order = layer(), np.array([3, 0, 4, 1, 2])
    matrix, weights = attention(STATES, np.ones((2, 5), bool))
    moved_matrix, moved = attention(STATES[:, order], np.ones((2, 5), bool))
    np.testing.assert_allclose(moved, weights.numpy()[:, :, order], rtol=1e-12)
    np.testing.assert_allclose(moved_matrix, matrix, rtol=1e-12)


def test_hops_differ_and_each_sums_to_one_over_the_words():
    _, weights = layer()(STATES, MASK)
    np.testing.assert_allclose(weights.numpy().sum(axis=2), 1.0, rtol=1e-12)
    assert not weights.numpy()[1, :, 3:].any()
    assert np.ptp(weights.numpy(), axis=1).max() > 0.1


def test_a_constant_on_all_scores_of_a_hop_changes_nothing():
    attention = layer(use_bias=True)
    _, weights = attention(STATES, MASK)
    attention.hop_bias.assign(attention.hop_bias + 1e3)
    np.testing.assert_allclose(attention(STATES, MASK)[1], weights, rtol=1e-9)


def test_dropout_acts_on_scores_in_training_alone():
    attention = layer(dropout=0.5)
    matrix, weights = attention(STATES, MASK)
    np.testing.assert_array_equal(attention(STATES, MASK)[1], weights)
    matrix, weights = attention(STATES, MASK, training=True)
    assert np.abs(weights - layer()(STATES, MASK)[1]).max() > 1e-3
    np.testing.assert_allclose(matrix, weights.numpy() @ STATES, rtol=1e-12)  # of all states


@pytest.mark.parametrize("empty", [False, True])
def test_poolings_see_the_real_words(empty):
    mask = np.zeros_like(MASK) if empty else MASK
    garbage = np.where(mask[:, :, None], STATES, 1e3)
    real = [states[kept] for states, kept in zip(STATES, mask, strict=True)]
    for pooling in (max_pooling, mean_pooling):
        pooled, shares = (value.numpy() for value in pooling(garbage, mask))
        assert pooled.shape == (2, 1, 4)
        assert shares.shape == (2, 1, 5)
        assert not shares[~mask[:, None]].any()
        np.testing.assert_allclose(shares.sum(axis=2), 0.0 if empty else 1.0, atol=1e-12)
        for row, states in enumerate(real):
            if pooling is max_pooling:
                expected = reference.max_pooling(states)[0]
            else:
                expected = states.mean(axis=0) if len(states) else np.zeros(4)
            np.testing.assert_allclose(pooled[row], expected.reshape(1, 4), rtol=1e-12)


@pytest.mark.parametrize("pooling", [max_pooling, mean_pooling])
def test_poolings_of_no_words_at_all_are_zeros(pooling):
    pooled, shares = pooling(STATES[:, :0], MASK[:, :0])
    np.testing.assert_array_equal(pooled, np.zeros((2, 1, 4)))
    assert shares.shape == (2, 1, 0)
