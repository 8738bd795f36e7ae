"""Losses of real tokens alone are those of all tokens, for every model that translates."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.models.translators import INPUTS, make
from zoo.models.core.registry import models

MODELS = [entry.cls for entry in models().values() if entry.task == "translation"]
every_model = pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)
TARGETS = np.array([[5, 6, 7, 3], [8, 9, 3, 0]], "int32")


def loss_and_gradients(model, outputs_of, inputs=INPUTS, targets=TARGETS):
    with tf.GradientTape() as tape:
        losses, counts = model.example_losses(targets, outputs_of(inputs, targets))
        total = tf.reduce_sum(losses * tf.constant([1.0, -0.5])[: tf.shape(losses)[0]])
    gradients = tape.gradient(total, [weight.value for weight in model.trainable_weights])
    dense = [None if one is None else tf.convert_to_tensor(one) for one in gradients]
    return losses, counts, dense


def with_losses(model):
    model.compile(keras.optimizers.SGD(0.0))
    return model.forward


def with_logits(model):
    return lambda inputs, _: model(inputs)


@every_model
@pytest.mark.parametrize("normaliser", ["tokens", "sentences"])
def test_losses_and_gradients_are_those_of_all_logits(cls, normaliser):
    model = make(cls, loss_normaliser=normaliser)
    found = loss_and_gradients(model, with_losses(model))
    expected = loss_and_gradients(model, with_logits(model))
    for value, one in zip(found[:2], expected[:2], strict=True):
        np.testing.assert_allclose(value, one, rtol=1e-5)
    assert any(np.abs(one).max() > 1e-3 for one in expected[2])
    for value, one in zip(found[2], expected[2], strict=True):
        np.testing.assert_allclose(value, one, rtol=1e-4, atol=1e-5)


@every_model
def test_a_batch_without_an_example_or_without_a_word_has_no_loss(cls):
    model = make(cls)
    outputs_of = with_losses(model)
    ids = tf.TensorSpec([None, None], tf.int32)

    # As in training: eagerly Keras refuses a maximum.
    @tf.function(input_signature=[ids, ids], autograph=False)
    def step(source, target):
        inputs = {"source": source, "target": target}
        return loss_and_gradients(model, outputs_of, inputs, target)

    for rows in (0, 2):
        nothing = np.zeros((rows, 4), "int32")
        losses, _, gradients = step(INPUTS["source"][:rows], nothing)
        np.testing.assert_array_equal(losses, np.zeros(rows))
        for gradient in gradients:
            assert gradient is None or not np.any(gradient)


@every_model
def test_what_is_said_beside_logits_is_said_beside_losses(cls):
    model = make(cls)
    with_targets, without = with_losses(model)(INPUTS, TARGETS), model(INPUTS)
    assert with_targets.keys() - {"losses"} == without.keys() - {"logits"}
    assert with_targets["losses"].shape == TARGETS.shape
    assert not np.any(np.array(with_targets["losses"])[TARGETS == 0])
    assert np.all(np.array(with_targets["losses"])[TARGETS != 0])
    for name, weights in without["attention"].items():
        np.testing.assert_allclose(with_targets["attention"][name], weights, rtol=1e-6)


@pytest.mark.parametrize("options", [{}, {"metrics": ["accuracy"]}, {"jit_compile": True}])
def test_logits_of_padding_are_made_only_where_somebody_asks(options):
    """A metric does, and so does XLA, which cannot count the real tokens beforehand."""
    model = make(MODELS[0])
    projected = []
    project = model.project

    def count(features, training=False):
        projected.append(keras.tree.flatten(features)[0].shape)  # RNNsearch's have parts
        return project(features, training=training)

    model.project = count
    model.compile(keras.optimizers.SGD(0.0), **options)
    model.train_step((INPUTS, TARGETS))
    assert [len(shape) for shape in projected] == [3 if options else 2]
    if not options:
        assert projected[0][0] == np.count_nonzero(TARGETS)


def test_the_history_of_a_training_is_the_same_with_and_without_a_metric():
    histories = []
    for options in ({}, {"metrics": ["accuracy"]}):
        model = make(MODELS[0])
        model.compile(keras.optimizers.SGD(0.1, global_clipnorm=1.0), **options)
        data = tf.data.Dataset.from_tensors((INPUTS, TARGETS)).repeat(3)
        histories.append(model.fit(data, epochs=2, shuffle=False, verbose=0).history)
    assert histories[1].keys() - histories[0].keys() == {"accuracy"}
    np.testing.assert_allclose(histories[0]["loss"], histories[1]["loss"], rtol=1e-5)


def test_a_model_that_was_never_called_is_trained():
    """A training step calls the parts of a model, and so does not build it."""
    model = models()["RNNsearch"].cls.from_preset(
        "tiny", source_vocabulary_size=9, target_vocabulary_size=9
    )
    model.compile("adam")
    ids = {"source": np.array([[4, 5, 3]]), "target": np.array([[2, 6, 7]])}
    assert not model.built
    history = model.fit(ids, np.array([[6, 7, 3]]), epochs=2, verbose=0).history["loss"]
    assert history[1] < history[0]
