"""The endpoint: bits as strings, and what the heads did."""

import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build
from zoo.models.core.axes import Slots, Steps
from zoo.models.core.registry import find_model
from zoo.tasks.algorithms.endpoint import AlgorithmEndpoint


def answer(name):
    model = build(find_model(name))
    vectors = np.random.default_rng(0).normal(size=(2, 4, 5)).astype("float32")
    length = np.array([4, 2], "int32")
    endpoint = AlgorithmEndpoint(model)
    outputs = model({"vectors": vectors, "length": length})
    return endpoint, endpoint.serve(tf.constant(vectors), tf.constant(length)), outputs


def test_bits_are_strings_and_empty_on_padding():
    _, found, outputs = answer("NeuralTuringMachine")
    logits = outputs["logits"].numpy()
    expected = [
        ["".join("01"[int(z > 0)] for z in step).encode() for step in row[:length]]
        + [b""] * (4 - length)
        for row, length in zip(logits, (4, 2), strict=True)
    ]
    assert found["bits"].numpy().tolist() == expected
    chances = found["probabilities"].numpy()
    np.testing.assert_allclose(chances[0], 1 / (1 + np.exp(-logits[0])), rtol=1e-5)
    assert not chances[1, 2:].any()


def test_a_machine_shows_its_heads_and_the_baseline_has_none():
    endpoint, found, outputs = answer("NeuralTuringMachine")
    for name in ("reads", "adds", "erases", "first_memory"):
        np.testing.assert_array_equal(found[name], outputs[name])
    np.testing.assert_array_equal(found["attention_write"], outputs["attention"]["write"])
    axes = endpoint.endpoints()["serving_default"].axes
    assert axes["attention_read"] == (Steps("vectors"), Slots("slots"))
    _, found, _ = answer("LSTMTransducer")
    assert found.keys() == {"bits", "probabilities"}


@pytest.mark.parametrize("name", ["NeuralTuringMachine", "LSTMTransducer"])
def test_a_sequence_without_a_step_has_no_answer(name):
    endpoint = AlgorithmEndpoint(build(find_model(name)))
    serve = tf.function(
        endpoint.serve,
        input_signature=[tf.TensorSpec((None, None, 5)), tf.TensorSpec((None,), tf.int32)],
    )
    found = serve(tf.zeros((2, 0, 5)), tf.constant([0, 0]))
    assert found["bits"].numpy().tolist() == [[b""]] * 2
    assert not found["probabilities"].numpy().any()


@pytest.mark.parametrize("length", [-1, 4])
def test_lengths_that_no_sequence_has_are_refused(length):
    endpoint = AlgorithmEndpoint(build(find_model("LSTMTransducer")))
    with pytest.raises(tf.errors.InvalidArgumentError, match="length must be from 0 to the steps"):
        endpoint.serve(tf.zeros((2, 3, 5)), tf.constant([3, length]))


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_refused(number):
    endpoint = AlgorithmEndpoint(build(find_model("LSTMTransducer")))
    vectors = np.zeros((2, 3, 5), "float32")
    vectors[1, 2, 0] = number
    for serve in (endpoint.serve, tf.function(endpoint.serve, autograph=False)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="vectors must be finite numbers"):
            serve(tf.constant(vectors), tf.constant([3, 2]))


def test_batches_of_two_sizes_are_refused():
    endpoint = AlgorithmEndpoint(build(find_model("LSTMTransducer")))
    with pytest.raises(tf.errors.InvalidArgumentError, match="the same batch size"):
        endpoint.serve(tf.zeros((2, 3, 5)), tf.constant([3]))
