"""The machine over time: what padding leaves, what its options mean, and what is refused."""

import re

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.models.ntm import LSTMTransducer, NeuralTuringMachine
from zoo.models.ntm.heads import read, write

SIZES = {"input_dim": 5, "output_dim": 3}


def build(kind=NeuralTuringMachine, **arguments):
    """A tiny machine with random weights."""
    model = kind.from_preset("tiny", **arguments)
    model.build()
    generator = np.random.default_rng(0)
    for weight in model.weights:
        weight.assign(generator.normal(0.0, 0.6, weight.shape))
    return model


def sequences(steps=6, length=(6, 3)):
    generator = np.random.default_rng(1)
    vectors = generator.normal(size=(len(length), steps, 5)).astype("float32")
    return {"vectors": vectors, "length": np.array(length, "int32")}


@pytest.mark.parametrize("controller", ["lstm", "feed_forward"])
@pytest.mark.parametrize("writers", [1, 2])
def test_padded_steps_change_no_part_of_the_state(controller, writers):
    model = build(controller=controller, write_heads=writers)
    projected = model.network.project(tf.constant(sequences()["vectors"]))
    state = model._first_state(tf.zeros((2, 6, 5)))
    for step in range(3):
        inputs = {"projected": projected[:, step], "real": tf.constant([True, True])}
        _, state = model._advance(inputs, state)
    inputs = {"projected": projected[:, 3], "real": tf.constant([True, False])}
    _, after = model._advance(inputs, state)
    assert after.keys() == state.keys() >= {"memory", "weights", "reads"}
    for name, value in after.items():
        np.testing.assert_array_equal(value[1], state[name][1], err_msg=name)
        assert not np.array_equal(value[0], state[name][0]), name


@pytest.mark.parametrize("first_memory", ["constant", "learnt", "random"])
def test_the_memory_of_every_step_follows_from_the_outputs(first_memory):
    model = build(write_heads=2, first_memory=first_memory)
    outputs = model(sequences())
    memory, maps = outputs["first_memory"], outputs["attention"]
    for step in range(6):
        expected = read(memory, maps["read"][:, :, step])
        np.testing.assert_allclose(outputs["reads"][0, step], expected[0], rtol=1e-5, atol=1e-6)
        changes = (maps["write"][:, :, step], outputs["erases"][:, step], outputs["adds"][:, step])
        memory = write(memory, *changes)


@pytest.mark.parametrize("garbage", [1e3, np.inf, np.nan])
@pytest.mark.parametrize("kind", [NeuralTuringMachine, LSTMTransducer])
def test_garbage_in_the_padding_changes_nothing(kind, garbage):
    """Neither outputs nor gradients, in which NaN times a mask of zero would be NaN."""
    model, inputs = build(kind), sequences()
    targets = np.ones((2, 6, 3), "int32")
    targets[1, 3:] = -1
    expected, of_expected = outputs_and_gradients(model, inputs, targets)
    inputs["vectors"][1, 3:] = garbage
    found, of_found = outputs_and_gradients(model, inputs, targets)
    for name in found.keys() - {"attention"}:
        np.testing.assert_array_equal(found[name], expected[name])
        if name != "first_memory":
            assert not found[name].numpy()[1, 3:].any()
    for one, other in zip(of_found, of_expected, strict=True):
        np.testing.assert_array_equal(one, other)


def outputs_and_gradients(model, inputs, targets):
    with tf.GradientTape() as tape:
        outputs = model(inputs)
        loss = model.compute_loss(inputs, targets, outputs)
    return outputs, tape.gradient(loss, [weight.value for weight in model.trainable_weights])


def test_vectors_of_zeros_are_steps_like_others():
    model, inputs = build(), sequences()
    inputs["vectors"][1, 2:3] = 0.0
    assert model(inputs)["logits"].numpy()[1, 2].any()


def test_heads_begin_on_the_first_slot_and_a_constant_memory_is_nearly_empty():
    model = NeuralTuringMachine.from_preset("tiny")
    model.build()
    state = model._first_state(tf.zeros((2, 1, 5)))
    weights = state["weights"].numpy()
    assert weights.shape == (2, 3, 5)
    assert (weights[:, :, 0] > 0.97).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, rtol=1e-6)
    np.testing.assert_array_equal(state["memory"], np.full((2, 5, 4), 1e-6, "float32"))


def test_a_random_memory_is_no_weight_and_always_the_same():
    first, other = (build(first_memory="random") for _ in range(2))
    assert [weight.path for weight in first.weights if "memory" in weight.path] == []
    memory = first._first_memory("float32").numpy()
    np.testing.assert_array_equal(memory, other._first_memory("float32"))
    assert 0.2 < memory.std() < 0.8


def test_the_loss_counts_bits_of_asked_steps_alone():
    model = build()
    outputs = {"logits": tf.constant(np.zeros((2, 4, 3)), tf.float32)}
    targets = np.full((2, 4, 3), -1, "int32")
    targets[0, 2:] = [[0, 1, 1], [1, 0, 0]]
    losses, counts = model.example_losses(targets, outputs)
    np.testing.assert_allclose(losses, [6.0, 0.0], atol=1e-6)
    np.testing.assert_array_equal(counts, [1.0, 1.0])


def test_targets_of_another_width_are_refused():
    model, inputs = build(), sequences()
    model.compile("sgd", run_eagerly=True)
    for width in (1, 2, 4):
        with pytest.raises(ValueError, match=r"targets must have the shape \(2, 6, 3\)"):
            model.train_on_batch(inputs, np.zeros((2, 6, width), "int32"))


@pytest.mark.parametrize(("dtype", "value"), [("int32", 7), ("uint8", 255), ("int32", -2)])
def test_targets_that_are_no_bits_are_refused(dtype, value):
    """The loss of such a target has no bound below."""
    model = NeuralTuringMachine.from_preset("tiny")
    model.compile("sgd")
    targets = np.zeros((2, 6, 3), dtype)
    targets[1, 2, 0] = value
    with pytest.raises(ValueError, match=f"targets must be 0, 1 or -1, got {value}"):
        model.fit(sequences(), targets, verbose=0)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("int32", 7), ("int32", -2), ("uint8", 255), ("float32", np.nan), ("float32", 0.5)],
)
def test_targets_of_data_sets_that_are_no_bits_are_refused(dtype, value):
    model = NeuralTuringMachine.from_preset("tiny")
    model.compile("sgd")
    targets = np.zeros((2, 6, 3), dtype)
    targets[1, 2, 0] = value
    with pytest.raises(tf.errors.InvalidArgumentError, match="targets must be 0, 1 or -1, got"):
        model.fit(tf.data.Dataset.from_tensors((sequences(), targets)), verbose=0)


def test_metrics_count_the_steps_that_are_asked_as_a_whole():
    """Keras takes the mean over the bits of a step, those without a target among them."""
    model = build()
    targets = np.full((2, 6, 3), -1, "int32")
    logits = model(sequences())["logits"].numpy()
    targets[0, :2] = logits[0, :2] > 0
    targets[0, 3, 0] = logits[0, 3, 0] > 0
    model.compile("sgd", metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)])
    found = model.evaluate(sequences(), targets, verbose=0, return_dict=True)
    assert found["binary_accuracy"] == 1.0


@pytest.mark.parametrize("cls", [NeuralTuringMachine, LSTMTransducer])
def test_sequences_without_a_step_have_no_answers(cls):
    model = cls.from_preset("tiny")
    inputs = {"vectors": np.zeros((2, 0, 5), "float32"), "length": np.zeros(2, "int32")}
    assert model(inputs)["logits"].shape == (2, 0, 3)


@pytest.mark.parametrize("length", [-1, 7])
def test_lengths_that_no_sequence_has_are_refused(length):
    model = NeuralTuringMachine.from_preset("tiny")
    model.compile("sgd")
    targets, right = np.zeros((2, 6, 3), "int32"), sequences(length=(6, 6))
    wrong = sequences(length=(6, length))
    for call in (
        lambda: model.evaluate(wrong, targets, verbose=0),
        lambda: model.fit(right, targets, validation_data=(wrong, targets), verbose=0),
        lambda: model.predict(wrong, verbose=0),
        lambda: model(wrong),
    ):
        with pytest.raises(ValueError, match=f"length must be from 0 to the 6 steps, got {length}"):
            call()
    data = tf.data.Dataset.from_tensors
    for call in (
        lambda: model.evaluate(data((wrong, targets)), verbose=0),
        lambda: model.predict(data(wrong), verbose=0),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"steps of vectors.*{length}"):
            call()


def test_targets_behind_the_end_are_refused():
    """They would count as one bit each, whatever is learnt."""
    model = NeuralTuringMachine.from_preset("tiny")
    model.compile("sgd")
    targets = np.ones((2, 6, 3), "int32")
    targets[1, 3:] = -1
    data = tf.data.Dataset.from_tensors
    losses = [
        model.evaluate(sequences(), targets, verbose=0),
        model.evaluate(data((sequences(), targets)), verbose=0),
    ]
    assert losses[0] == losses[1] > 0.0
    targets[1, 4, 2] = 0
    message = "targets must be -1 at the padding behind the length, got"
    with pytest.raises(ValueError, match=f"{message} 0"):
        model.fit(sequences(), targets, verbose=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        model.fit(data((sequences(), targets)), verbose=0, shuffle=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"controller": "gru"}, "controller must be one of"),
        ({"first_memory": "zeros"}, "first_memory must be one of"),
        ({"key_activation": "relu"}, "key_activation must be one of"),
        ({"slots": 4, "shift_range": 2}, "slots must be at least the 5 shifts, got 4"),
        ({"limit": 0.0}, "limit must be positive and finite, got 0.0"),
        ({"read_heads": 0}, "read_heads must be a positive integer, got 0"),
        ({"dropout": 1.0}, "dropout must be at least 0"),
    ],
)
def test_unlawful_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        NeuralTuringMachine(**SIZES, **arguments)


def test_the_baseline_refuses_layers_of_no_size():
    with pytest.raises(ValueError, match="depth must be a positive integer, got 0"):
        LSTMTransducer(**SIZES, depth=0)
