"""Weights that are given to `fit` and `evaluate` as arrays are checked before a step is traced."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.models.translators import INPUTS, TARGET, make
from zoo.models.dcn.dcn import DynamicCoattentionNetwork
from zoo.models.feature_attention.feature_attention import FeatureAttention
from zoo.models.rnnsearch.rnnsearch import RNNsearch
from zoo.training.distribution import make_strategy

OPTIONS = {"verbose": 0}
QUESTIONS = {"question": np.ones((4, 2), "int32"), "context": np.full((4, 5), 5, "int32")}
SPANS = {"start": np.zeros(4, "int32"), "end": np.ones(4, "int32")}


@pytest.fixture(scope="module")
def reader():
    model = DynamicCoattentionNetwork.from_preset("tiny")
    model.build()
    model.compile("sgd", run_eagerly=True)
    return model


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((4, 5)), r"must have the shape \(4,\) or \(4, 1\), got \(4, 5\)"),
        ({"start": np.ones(4)}, r"must be one array or a dict of \['end', 'start'\], got a dict"),
        ({"start": np.ones(4), "end": np.ones((4, 2))}, r"\['end'\] must have .*, got \(4, 2\)"),
    ],
)
def test_every_entry_says_which_shape_came(reader, weights, message):
    """Keras would speak of outputs that a reader does not have."""
    validation = (QUESTIONS, SPANS, weights)
    for call in (
        lambda: reader.fit(QUESTIONS, SPANS, sample_weight=weights, **OPTIONS),
        lambda: reader.fit(QUESTIONS, SPANS, validation_data=validation, **OPTIONS),
        lambda: reader.evaluate(QUESTIONS, SPANS, 4, 0, weights),
        lambda: reader.train_on_batch(QUESTIONS, SPANS, weights),
        lambda: reader.test_on_batch(QUESTIONS, SPANS, weights),
    ):
        with pytest.raises(ValueError, match=f"^sample_weight.*{message}"):
            call()


def test_weights_of_a_validation_set_count(reader):
    weights = np.array([0.0, 1.0, 2.0, 3.0])
    data = (QUESTIONS, SPANS, weights)
    history = reader.fit(QUESTIONS, SPANS, validation_data=data, **OPTIONS).history
    found = reader.evaluate(QUESTIONS, SPANS, sample_weight=weights, **OPTIONS)
    assert history["val_loss"] == [pytest.approx(found)]
    # All examples are alike, and their weights are 1.5 in the mean.
    np.testing.assert_allclose(found, 1.5 * reader.evaluate(QUESTIONS, SPANS, **OPTIONS), 1e-5)


def test_arguments_that_keras_does_not_know_are_refused_as_ever(reader):
    with pytest.raises(TypeError, match="nonsense"):
        reader.fit(QUESTIONS, SPANS, nonsense=1)
    with pytest.raises(ValueError, match="nonsense"):
        reader.evaluate(QUESTIONS, SPANS, nonsense=1)


@pytest.mark.parametrize(("replicas", "shape"), [(1, (4, 4)), (2, (4,))])
def test_a_traced_step_weighs_tokens_and_measures_what_it_weighed(replicas, shape):
    """As one that is not; under a strategy the metric is built before the first step."""
    inputs = {name: np.tile(ids, (2, 1)) for name, ids in INPUTS.items()}
    target = np.tile(TARGET, (2, 1))
    weights = np.random.default_rng(0).uniform(0.0, 3.0, shape).astype("float32")
    expected = make(RNNsearch)
    outputs = expected(inputs)
    loss = float(expected.compute_loss(inputs, target, outputs, weights))
    strategy = tf.distribute.get_strategy()
    if replicas > 1:
        strategy = make_strategy("mirrored", [f"CPU:{number}" for number in range(replicas)])
    with strategy.scope():
        model = make(RNNsearch)
        entropy = keras.metrics.SparseCategoricalCrossentropy(from_logits=True, name="entropy")
        model.compile("sgd", weighted_metrics=[entropy])
    scores = model.evaluate(inputs, target, sample_weight=weights, return_dict=True, **OPTIONS)
    np.testing.assert_allclose(scores["loss"], loss, rtol=1e-5)
    logits = np.array(outputs["logits"], "float64")
    picked = np.take_along_axis(logits, target[..., None], axis=-1)[..., 0]
    losses = np.log(np.exp(logits).sum(axis=-1)) - picked
    factors = np.reshape(weights, (4, -1)) * (target > 0)
    np.testing.assert_allclose(scores["entropy"], np.sum(losses * factors) / factors.sum(), 1e-5)


@pytest.mark.parametrize("value", [-1, 2])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_classes_that_the_model_does_not_have_are_refused(value, jit_compile):
    """XLA would take the last class for those above, in silence."""
    model = FeatureAttention.from_preset("tiny")
    model.compile("sgd", jit_compile=jit_compile)
    rows, labels = {"row": np.zeros((3, 4), "float32")}, np.array([0, 1, value])
    lawful = np.array([0, 1, 1])
    message = f"targets must be at least 0 and below the 2 classes, got {value}"
    for call in (
        lambda: model.fit(rows, labels, **OPTIONS),
        lambda: model.fit(rows, lawful, validation_data=(rows, labels), **OPTIONS),
        lambda: model.evaluate(rows, labels, **OPTIONS),
        lambda: model.train_on_batch(rows, labels),
    ):
        with pytest.raises(ValueError, match=message):
            call()
