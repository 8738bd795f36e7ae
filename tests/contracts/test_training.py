"""K5 every weight learns, K10 `fit` needs nothing but an optimizer, and reads back a metric."""

import inspect

import keras
import numpy as np
import pytest

from tests.contracts.subjects import (
    build,
    draws,
    every_model,
    flatten,
    gradients_of,
    loss_of,
    run,
    smoothed,
    traced_once,
)
from tests.contracts.tasks import TASKS, Batch
from zoo.models.core.registry import models


@every_model
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_k5_a_finite_gradient_reaches_every_trainable_weight(entry, dropout):
    model = build(entry, dropout=dropout, **TASKS[entry.task].trained)
    batch = Batch(TASKS[entry.task].examples(12))
    gradients = gradients_of(model, batch, training=True)
    assert len(gradients) == len(model.trainable_weights)
    for path, gradient in gradients.items():
        assert gradient is not None, path
        assert np.isfinite(gradient).all(), path
        assert gradient.any(), path


@every_model
def test_dropout_acts_in_training_only(entry):
    batch = Batch(TASKS[entry.task].examples(4))
    plain, model = build(entry), build(entry, dropout=0.5)
    expected = run(plain, batch)
    for name, value in run(model, batch).items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)
    floats = [name for name, value in expected.items() if value.dtype.kind == "f"]
    first, second = (flatten(model(batch.inputs, training=True)) for _ in range(2))
    assert any(not np.array_equal(first[name], second[name]) for name in floats)


@pytest.mark.optimised
@every_model
def test_k10_fit_lowers_the_loss_with_nothing_but_an_optimizer(entry):
    batch = Batch(TASKS[entry.task].examples(8))
    make = build if draws(entry) else traced_once  # other tests' trace draws without chance
    model = make(entry, scale=0.2, **smoothed(entry))
    before = float(loss_of(model, batch))
    model.compile(keras.optimizers.Adam(0.02))
    history = model.fit(batch.inputs, batch.targets, batch_size=4, epochs=20, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]
    assert float(loss_of(model, batch)) < 0.8 * before


@every_model
def test_k10_a_compiled_metric_and_the_loss_are_exact_over_a_short_last_batch(entry):
    task = TASKS[entry.task]
    batch = Batch(task.examples(8))
    model = build(entry)
    model.compile("sgd", metrics=task.metrics)
    scores = model.evaluate(batch.inputs, batch.targets, batch_size=3, verbose=0, return_dict=True)
    expected, by_accident = task.metric_value(run(model, batch), batch.targets)
    assert expected not in by_accident
    (name,) = scores.keys() - {"loss"}
    np.testing.assert_allclose(scores[name], expected, rtol=1e-5)
    np.testing.assert_allclose(scores["loss"], loss_of(model, batch), rtol=1e-5)


@pytest.mark.parametrize(
    "entry", [pytest.param(e, id=n) for n, e in models().items() if e.cls.TARGETS.tokens]
)
def test_k10_padding_does_not_count_in_a_compiled_metric(entry):
    scores = []
    for extra in (0, 3):
        batch = Batch(TASKS[entry.task].examples(4), extra)
        model = build(entry)
        metric = keras.metrics.SparseCategoricalCrossentropy(from_logits=True, name="entropy")
        model.compile("sgd", metrics=[metric], run_eagerly=True)
        scores.append(model.evaluate(batch.inputs, batch.targets, verbose=0, return_dict=True))
    logits = run(model, batch)["logits"].astype("float64")
    chosen = np.take_along_axis(logits, batch.targets[..., None], axis=-1)[..., 0]
    expected = (np.log(np.exp(logits).sum(axis=-1)) - chosen)[batch.targets > 0].mean()
    for score in scores:
        np.testing.assert_allclose(score["entropy"], expected, rtol=1e-5)


@every_model
def test_the_loss_is_that_of_double_precision_where_it_is_asked_for(entry):
    sizes = TASKS[entry.task].sizes
    counted = (
        {"loss_normaliser": "tokens"}
        if "loss_normaliser" in inspect.signature(entry.cls).parameters
        else {}
    )
    batch = Batch(TASKS[entry.task].examples(3))
    values = {}
    for dtype in ("float32", "float64"):
        model = entry.cls.from_preset("tiny", **sizes, **counted, dtype=dtype)
        model.build()
        for number, weight in enumerate(model.weights):
            generator = np.random.default_rng(number)
            weight.assign(generator.normal(0.0, 0.3, weight.shape))
        model.compile("sgd")
        values[dtype] = model.compute_loss(batch.inputs, batch.targets, model(batch.inputs))
    assert values["float64"].dtype == "float64"
    np.testing.assert_allclose(values["float32"], values["float64"], rtol=1e-5)


@every_model
def test_k10_a_metric_for_no_output_and_a_loss_are_refused(entry):
    batch = Batch(TASKS[entry.task].examples(2))
    model = build(entry)
    model.compile("sgd", metrics={"nonsense": "accuracy"}, run_eagerly=True)
    with pytest.raises(ValueError, match="nonsense"):
        model.evaluate(batch.inputs, batch.targets, verbose=0)
    with pytest.raises(ValueError, match="loss"):
        model.compile("sgd", loss="mse")
