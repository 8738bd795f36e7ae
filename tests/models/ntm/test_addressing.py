"""Addressing: distributions, directions, symmetries, and equality with the plain equations."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.references import ntm as reference
from zoo.models.ntm.addressing import (
    Addresses,
    address,
    interpolate,
    sharpen,
    shift,
    weigh_by_content,
)

BATCH, HEADS, SLOTS, SIZE = 3, 2, 6, 4


def draw(seed=0, reach=1):
    """Emissions, a memory and weightings before the step, in float64."""
    generator = np.random.default_rng(seed)
    heads = (BATCH, HEADS)
    shifts = np.exp(generator.normal(size=(*heads, 2 * reach + 1)))
    before = np.exp(generator.normal(size=(*heads, SLOTS)))
    addresses = Addresses(
        keys=generator.normal(size=(*heads, SIZE)),
        strengths=generator.uniform(0.0, 5.0, heads),
        gates=generator.uniform(0.0, 1.0, heads),
        shifts=shifts / shifts.sum(axis=-1, keepdims=True),
        exponents=generator.uniform(1.0, 6.0, heads),
    )
    memory = generator.normal(size=(BATCH, SLOTS, SIZE))
    return addresses, memory, before / before.sum(axis=-1, keepdims=True)


def one_hot(place, size=SLOTS):
    return np.eye(size)[place][None, None]  # (1, 1, N)


@pytest.mark.parametrize("reach", [1, 2])
def test_every_head_equals_the_plain_equations(reach):
    addresses, memory, before = draw(reach=reach)
    found = address(addresses, memory, before).numpy()
    for row in range(BATCH):
        for head in range(HEADS):
            of_head = (value[row, head] for value in addresses)
            expected = reference.weighting(*of_head, memory[row], before[row, head])
            np.testing.assert_allclose(found[row, head], expected, rtol=1e-12)


def test_every_weighting_is_a_distribution():
    addresses, memory, before = draw()
    by_content = weigh_by_content(addresses.keys, addresses.strengths, memory)
    gated = interpolate(addresses.gates, by_content, before)
    shifted = shift(gated, addresses.shifts)
    for weights in (by_content, gated, shifted, sharpen(shifted, addresses.exponents)):
        assert weights.shape == (BATCH, HEADS, SLOTS)
        assert weights.numpy().min() >= 0.0
        np.testing.assert_allclose(weights.numpy().sum(axis=-1), 1.0, rtol=1e-12)


def test_rolled_memories_and_weightings_roll_the_focus():
    addresses, memory, before = draw()
    expected = address(addresses, memory, before).numpy()
    for places in (1, 4):
        rolled = address(addresses, np.roll(memory, places, 1), np.roll(before, places, 2))
        np.testing.assert_allclose(rolled, np.roll(expected, places, 2), rtol=1e-12)


@pytest.mark.parametrize(
    ("place", "kernel", "reached"),
    [
        (2, (0, 0, 1), 3),
        (2, (0, 1, 0), 2),
        (2, (1, 0, 0), 1),
        (5, (0, 0, 1), 0),
        (0, (1, 0, 0), 5),
        (4, (0, 0, 0, 0, 1), 0),
        (4, (0, 0, 0, 1, 0), 5),
        (0, (1, 0, 0, 0, 0), 4),
    ],
)
def test_a_shift_of_plus_one_moves_the_focus_one_slot_up(place, kernel, reached):
    shifts = np.array(kernel, "float64")[None, None]
    moved = shift(tf.constant(one_hot(place)), tf.constant(shifts)).numpy()
    np.testing.assert_array_equal(moved, one_hot(reached))


def test_an_open_gate_takes_the_content_and_a_shut_one_the_weighting_before():
    addresses, memory, before = draw()
    by_content = weigh_by_content(addresses.keys, addresses.strengths, memory)
    open_gate, shut = np.ones((BATCH, HEADS)), np.zeros((BATCH, HEADS))
    np.testing.assert_allclose(interpolate(open_gate, by_content, before), by_content)
    np.testing.assert_array_equal(interpolate(shut, by_content, before), before)


def test_content_finds_the_slot_that_points_the_way_of_the_key():
    _, memory, _ = draw()
    keys = 0.01 * memory[:, 2:3]
    weights = weigh_by_content(keys, np.full((BATCH, 1), 200.0), memory).numpy()
    assert (weights.argmax(axis=-1) == 2).all()


def test_sharpening_of_tiny_weights_is_finite_and_keeps_their_order():
    """Their powers are zero in single precision; so a quotient of powers would be no number."""
    weights = tf.constant([[[0.0, 1e-20, 3e-20, 2e-20]]], tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(weights)
        sharp = sharpen(weights, tf.constant([[20.0]]))
        first = sharp[0, 0, 2]
    np.testing.assert_allclose(sharp.numpy().sum(), 1.0, rtol=1e-6)
    assert sharp.numpy()[0, 0].argmax() == 2
    assert np.isfinite(tape.gradient(first, weights)).all()


def test_a_memory_of_zeros_gives_even_weights_and_finite_gradients():
    memory, keys = tf.zeros((1, SLOTS, SIZE)), tf.ones((1, 1, SIZE))
    with tf.GradientTape() as tape:
        tape.watch(memory)
        weights = weigh_by_content(keys, tf.ones((1, 1)), memory)
        first = weights[0, 0, 0]
    np.testing.assert_allclose(weights, np.full((1, 1, SLOTS), 1 / SLOTS), rtol=1e-6)
    assert np.isfinite(tape.gradient(first, memory)).all()


def test_gradients_of_an_address_equal_finite_differences():
    addresses, memory, before = draw()
    upstream = np.random.default_rng(1).normal(size=(BATCH, HEADS, SLOTS))
    values = [*map(tf.constant, (*addresses, memory, before))]

    def total(values):
        return tf.reduce_sum(address(Addresses(*values[:5]), *values[5:]) * upstream)

    with tf.GradientTape() as tape:
        tape.watch(values)
        result = total(values)
    for place, gradient in enumerate(tape.gradient(result, values)):
        direction = np.random.default_rng(place).normal(size=gradient.shape)
        ahead, behind = (
            total([*values[:place], values[place] + step * direction, *values[place + 1 :]])
            for step in (1e-6, -1e-6)
        )
        np.testing.assert_allclose(
            keras.ops.sum(gradient * direction), (ahead - behind) / 2e-6, rtol=1e-5
        )
