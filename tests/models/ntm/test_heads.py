"""Heads: what they read, how they write, and what the controller may tell them."""

import numpy as np
import pytest
import tensorflow as tf

from tests.references import ntm as reference
from zoo.models.ntm.heads import Heads, read, write

BATCH, SLOTS, SIZE = 2, 5, 3


def draw(writers=1):
    """Memory, weightings, erases and adds, in float64."""
    generator = np.random.default_rng(0)
    weights = np.exp(generator.normal(size=(BATCH, writers, SLOTS)))
    return (
        generator.normal(size=(BATCH, SLOTS, SIZE)),
        weights / weights.sum(axis=-1, keepdims=True),
        generator.uniform(size=(BATCH, writers, SIZE)),
        generator.normal(size=(BATCH, writers, SIZE)),
    )


@pytest.mark.parametrize("writers", [1, 2, 3])
def test_writing_equals_the_plain_equations(writers):
    memory, weights, erases, adds = draw(writers)
    found = write(*map(tf.constant, (memory, weights, erases, adds))).numpy()
    for row in range(BATCH):
        expected = reference.written(memory[row], list(weights[row]), erases[row], adds[row])
        np.testing.assert_allclose(found[row], expected, rtol=1e-12)


def test_nothing_erased_and_nothing_added_leaves_the_memory():
    memory, weights, erases, adds = draw(2)
    nothing = np.zeros_like(erases)
    found = write(*map(tf.constant, (memory, weights, nothing, nothing)))
    np.testing.assert_array_equal(found, memory)
    found = write(*map(tf.constant, (memory, np.zeros_like(weights), erases, adds)))
    np.testing.assert_array_equal(found, memory)


def test_a_full_erase_at_one_slot_overwrites_it_and_no_other():
    memory, _, erases, adds = draw()
    weights = np.zeros((BATCH, 1, SLOTS))
    weights[:, :, 3] = 1.0
    found = write(*map(tf.constant, (memory, weights, np.ones_like(erases), adds))).numpy()
    np.testing.assert_array_equal(found[:, 3], adds[:, 0])
    others = [0, 1, 2, 4]
    np.testing.assert_array_equal(found[:, others], memory[:, others])


def test_no_head_erases_what_another_adds_in_the_same_step():
    memory, weights, erases, adds = draw(2)
    turned = (weights[:, ::-1], erases[:, ::-1], adds[:, ::-1])
    found = write(*map(tf.constant, (memory, weights, erases, adds)))
    np.testing.assert_allclose(write(*map(tf.constant, (memory, *turned))), found, rtol=1e-12)


def test_reading_one_slot_gives_it():
    memory, *_ = draw()
    weights = np.zeros((BATCH, 2, SLOTS))
    weights[:, 0, 1] = weights[:, 1, 4] = 1.0
    np.testing.assert_array_equal(
        read(tf.constant(memory), tf.constant(weights)), memory[:, [1, 4]]
    )


def test_emissions_are_in_their_ranges_and_cut():
    heads = Heads(2, 1, SIZE, limit=2.0)
    heads.build((None, 4))
    heads.kernel.assign(100.0 * np.random.default_rng(0).normal(size=heads.kernel.shape))
    addresses, erases, adds = heads(tf.random.normal((BATCH, 4), seed=1))
    assert addresses.keys.shape == (BATCH, 3, SIZE)
    assert erases.shape == adds.shape == (BATCH, 1, SIZE)
    np.testing.assert_allclose(addresses.shifts.numpy().sum(axis=-1), 1.0, rtol=1e-6)
    assert addresses.exponents.numpy().min() >= 1.0
    largest = np.log1p(np.exp(2.0))
    assert addresses.strengths.numpy().max() <= largest + 1e-6
    assert addresses.exponents.numpy().max() <= 1.0 + largest + 1e-6
    assert np.abs(addresses.keys).max() <= np.tanh(2.0) + 1e-6
