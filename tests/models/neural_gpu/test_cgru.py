"""The convolutional gated unit: its gates, its size, and what moves with the memory."""

import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.references import neural_gpu as reference
from zoo.models.neural_gpu.cgru import ConvolutionalGatedUnit, cut_sigmoid


def build(maps=3, **arguments):
    """A unit with random weights that computes in double precision."""
    unit = ConvolutionalGatedUnit(maps, dtype="float64", **arguments)
    unit.build()
    generator = np.random.default_rng(0)
    for weight in unit.weights:
        weight.assign(generator.normal(0.0, 0.6, weight.shape))
    return unit


def memories(places=9, rows=4, maps=3, seed=1):
    return np.random.default_rng(seed).normal(size=(2, places, rows, maps))


@pytest.mark.parametrize(("reads_tape", "parameters"), [(False, 7_079_424), (True, 14_157_312)])
def test_a_unit_of_the_paper_has_its_number_of_parameters(reads_tape, parameters):
    with keras.StatelessScope(initialize_variables=False):
        unit = ConvolutionalGatedUnit(512, reads_tape=reads_tape)
        unit.build()
    assert sum(math.prod(weight.shape) for weight in unit.trainable_weights) == parameters
    keras.utils.clear_session(free_memory=False)


def test_gates_reach_zero_and_one():
    found = cut_sigmoid(tf.constant([-9.0, -1.0, 0.0, 1.0, 9.0]), 1.2).numpy()
    assert (found[0], found[-1]) == (0.0, 1.0)
    np.testing.assert_allclose(found[1:4], 1.2 / (1 + np.exp([1.0, 0.0, -1.0])) - 0.1, rtol=1e-6)
    plain = cut_sigmoid(tf.constant([-9.0, 0.5]), 1.0)
    np.testing.assert_allclose(plain, 1 / (1 + np.exp([9.0, -0.5])), atol=1e-7)


@pytest.mark.parametrize("reads_tape", [False, True])
def test_a_saturated_update_gate_keeps_the_memory_as_it_is(reads_tape):
    unit, memory = build(reads_tape=reads_tape), memories()
    unit.gate_bias.assign(np.concatenate([np.full(3, 200.0), np.zeros(3)]))
    tape = tf.constant(memories(maps=3)[:, :, 0]) if reads_tape else None
    np.testing.assert_array_equal(unit.advance(tf.constant(memory), tape), memory)
    unit.gate_bias.assign(np.zeros(6))
    assert np.abs(unit.advance(tf.constant(memory), tape) - memory).max() > 0.1


def test_a_memory_that_is_moved_is_rewritten_alike_away_from_its_ends():
    unit, memory = build(), memories(places=12)
    memory[:, :3] = memory[:, 9:] = 0.0
    moved = np.roll(memory, 2, axis=1)
    found = unit.advance(tf.constant(memory)).numpy()
    found_moved = unit.advance(tf.constant(moved)).numpy()
    np.testing.assert_allclose(found_moved[:, 4:10], found[:, 2:8], atol=1e-12)
    assert np.abs(found_moved[:, 0] - found_moved[:, 5]).max() > 0.1


@pytest.mark.parametrize(("rows", "kernel_size"), [(4, 3), (1, 3), (2, 5), (4, 5)])
def test_a_tape_is_read_as_a_memory_with_nothing_but_its_first_row(rows, kernel_size):
    """The reference convolves all rows of it, the layer only those that are not zero."""
    unit = build(reads_tape=True, kernel_size=kernel_size)
    memory, tape = memories(rows=rows), memories(seed=2)[:, :, 0]
    values = {f"m/unit_0/{weight.name}": weight.numpy() for weight in unit.weights}
    weights = reference.prefixed(reference.unit_weights(values, "m", "s"), "s0_")
    found = unit.advance(tf.constant(memory), tf.constant(tape))
    for row in range(2):
        whole = np.zeros_like(memory[row])
        whole[:, 0] = tape[row]
        expected = reference.cgru(weights, memory[row], 1.2, whole)
        np.testing.assert_allclose(found[row], expected, atol=1e-12)


def test_gates_begin_open_and_kernels_orthogonal():
    unit = ConvolutionalGatedUnit(4, reads_tape=True)
    unit.build()
    np.testing.assert_array_equal(unit.gate_bias, np.ones(8))
    np.testing.assert_array_equal(unit.bias, np.zeros(4))
    for kernel in (unit.kernel, unit.gate_kernel, unit.tape_kernel):
        columns = tf.reshape(kernel, (36, -1)).numpy()
        np.testing.assert_allclose(columns.T @ columns, np.eye(columns.shape[1]), atol=1e-5)
