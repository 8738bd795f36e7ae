"""Rectified layers, and one more on top."""

import keras
import numpy as np
import pytest

from zoo.layers.classifier_head import ClassifierHead

VALUES = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")


def make(**options):
    head = ClassifierHead(3, 6, **options)
    head.build((None, 4))
    generator = np.random.default_rng(1)
    for weight in head.weights:
        weight.assign(generator.normal(size=weight.shape))
    return head


@pytest.mark.parametrize("hidden_layers", [0, 1, 2])
def test_logits_are_those_of_the_perceptron(hidden_layers):
    head, values = make(hidden_layers=hidden_layers), VALUES
    weights = [weight.value.numpy() for weight in head.weights]
    assert len(weights) == 2 * (hidden_layers + 1)
    for kernel, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        values = np.maximum(values @ kernel + bias, 0.0)
    np.testing.assert_allclose(head(VALUES), values @ weights[-2] + weights[-1], rtol=1e-4)


def test_dropout_acts_on_what_every_layer_reads_in_training_alone():
    head, plain = make(hidden_layers=1, dropout=0.5), make(hidden_layers=1)
    np.testing.assert_array_equal(head(VALUES), plain(VALUES))
    assert np.abs(head(VALUES, training=True) - plain(VALUES)).max() > 1e-3


def test_a_configuration_makes_the_same_head():
    head = make(hidden_layers=2, dropout=0.25)
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(head))
    assert copy.get_config() == head.get_config()
    copy.set_weights(head.get_weights())
    np.testing.assert_array_equal(copy(VALUES), head(VALUES))
