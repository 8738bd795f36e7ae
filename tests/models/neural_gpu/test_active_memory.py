"""The memory over time: no example depends on another, dropout, and what is refused."""

import re

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.models.neural_gpu import ExtendedNeuralGPU, NeuralGPU
from zoo.models.neural_gpu.active_memory import (
    ActiveMemory,
    drop,
    rate_per_step,
    share_of_change,
)


def build(kind=NeuralGPU, **arguments):
    """A tiny model with random weights."""
    model = kind.from_preset("tiny", **arguments)
    model.build()
    generator = np.random.default_rng(0)
    for weight in model.weights:
        weight.assign(generator.normal(0.0, 0.6, weight.shape))
    return model


def test_a_memory_is_zero_beyond_its_places_and_takes_as_many_steps():
    stack = ActiveMemory(3)
    stack.build()
    real = np.array([[True, True, True, False], [True, False, False, False]])
    first = np.random.default_rng(1).normal(size=(2, 4, 2, 3)).astype("float32")
    first[~real] = 0.0
    memory, changes = stack.run(tf.constant(first), tf.constant(real), None, None)
    assert not memory.numpy()[~real].any()
    assert (changes.numpy().sum(axis=-1) > 0.5).tolist() == real.tolist()
    assert not changes.numpy()[0, :, 3].any()
    assert not changes.numpy()[1, :, 1:].any()
    expected = stack.advance(tf.constant(first[1:]), tf.constant(real[1:]))
    np.testing.assert_allclose(memory[1:], expected, atol=1e-6)


def test_shares_are_those_of_the_norms_and_none_if_nothing_changes():
    before = tf.zeros((2, 3, 1, 2))
    after = tf.constant([[[[3.0, 4.0]], [[0.0, 0.0]], [[0.0, 15.0]]], [[[0.0, 0.0]]] * 3])
    found = share_of_change(before, after)
    np.testing.assert_allclose(found, [[0.25, 0.0, 0.75], [0.0, 0.0, 0.0]], rtol=1e-6)


def test_long_memories_drop_less_at_a_step():
    rates = rate_per_step(0.4, tf.constant([1, 8, 16, 80]))
    np.testing.assert_allclose(rates, [0.4, 0.4, 0.2, 0.04], rtol=1e-6)
    seeds = keras.random.SeedGenerator(3)
    dropped = drop(tf.ones((2, 50, 10, 10)), tf.constant([0.4, 0.1]), seeds).numpy()
    np.testing.assert_allclose((dropped == 0).mean(axis=(1, 2, 3)), [0.4, 0.1], atol=0.03)
    np.testing.assert_allclose(dropped.max(axis=(1, 2, 3)), [1 / 0.6, 1 / 0.9], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_small_rates_are_kept_to_in_half_precision(dtype):
    rates = np.array([0.02, 0.004, 0.001], "float32")
    memory = tf.ones((3, 100, 100, 20), dtype)
    dropped = drop(memory, tf.constant(rates), keras.random.SeedGenerator(3))
    assert dropped.dtype == dtype
    shares = (dropped.numpy() == 0).mean(axis=(1, 2, 3))
    np.testing.assert_allclose(shares, rates, rtol=0.2)


@pytest.mark.parametrize("kind", [NeuralGPU, ExtendedNeuralGPU])
def test_dropout_is_drawn_in_training_alone(kind):
    model = build(kind, dropout=0.5)
    ids = tf.constant([[4, 5, 6, 7]])
    inputs = dict.fromkeys(kind.INPUTS, ids)
    drawn = [model(inputs, training=training)["logits"].numpy() for training in (True, True, False)]
    assert np.abs(drawn[0] - drawn[1]).max() > 1e-3
    np.testing.assert_array_equal(model(inputs)["logits"], drawn[2])


def test_an_encoder_alone_drops_too():
    """So does the decoder by itself, whose memory is not that of the source."""
    model, target = build(ExtendedNeuralGPU, dropout=0.5), tf.constant([[2, 5, 6]])
    source = {"source": tf.constant([[4, 5, 6, 7]])}
    first, second = (model.encode(source, training=True)["state"].numpy() for _ in range(2))
    assert np.abs(first - second).max() > 1e-3
    memory = model.encode(source)
    first, second = (model.read_target(target, memory, True)[0].numpy() for _ in range(2))
    assert np.abs(first - second).max() > 1e-3


@pytest.mark.parametrize("kind", [NeuralGPU, ExtendedNeuralGPU])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"maps": 0}, "maps must be a positive integer, got 0"),
        ({"rows": -1}, "rows must be a positive integer, got -1"),
        ({"kernel_size": 4}, "kernel_size must be odd, got 4"),
        ({"cutoff": 0.9}, "cutoff must be at least 1 and finite, got 0.9"),
        ({"dropout": 1.0}, "dropout must be at least 0"),
        ({"loss_normaliser": "words"}, "loss_normaliser must be one of"),
    ],
)
def test_unlawful_arguments_are_refused(kind, arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        kind.from_preset("tiny", **arguments)
