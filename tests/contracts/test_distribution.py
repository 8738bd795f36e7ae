"""K11: one device and several take the same steps, and they are steps of the mean over the batch.

So do they in one go or in parts. Examples differ in length, labels are smoothed where a model does
that, and the last batch is short. Most runs are eager, which costs a tenth of
the time that tracing takes; one is the graph that users run, with batches that no number of
replicas divides and a last one that leaves two of three replicas without an example.
"""

import inspect

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build, every_model, gradients_of, models_with_time
from tests.contracts.tasks import TASKS, Batch
from zoo.training.averaging import ExponentialMovingAverage
from zoo.training.distribution import make_strategy

# Replicas are threads that wait for each other at every weight: seconds each on an idle machine,
# minutes on one where other programs leave them little time.
pytestmark = pytest.mark.timeout(900)

EXAMPLES, BATCH, LIMIT, RATE = 11, 6, 0.1, 0.5


@pytest.fixture(autouse=True)
def draws_without_chance(monkeypatch):
    """Replicas cannot draw what one device draws, so the least likely real position is drawn."""

    def least_likely(logits, num_samples, dtype, seed):
        assert num_samples == 1
        assert seed is not None
        lowest = tf.argmin(tf.where(logits > -1e29, logits, np.inf), axis=-1)
        return tf.cast(lowest, dtype)[:, None]

    monkeypatch.setattr(keras.random, "categorical", least_likely)


def strategy_of(replicas):
    if replicas == 1:
        return make_strategy("none")
    return make_strategy("mirrored", [f"CPU:{number}" for number in range(replicas)])


def smoothed(entry):
    """The model, with smoothed labels if it knows of them."""
    known = "label_smoothing" in inspect.signature(entry.cls).parameters
    return build(entry, **({"label_smoothing": 0.1} if known else {}))


def trained(
    entry,
    replicas,
    optimizer,
    batch_size=BATCH,
    eagerly=True,
    accumulate=1,
    epochs=1,
    callbacks=(),
):
    """The trainable weights, flat, and the logged loss after epochs in the examples' order."""
    batch = Batch(TASKS[entry.task].examples(EXAMPLES))
    data = tf.data.Dataset.from_tensor_slices((batch.inputs, batch.targets)).batch(batch_size)
    strategy = strategy_of(replicas)
    assert strategy.num_replicas_in_sync == replicas
    with strategy.scope():
        model = smoothed(entry)
        own = type(optimizer).from_config(optimizer.get_config())
        model.compile(own, run_eagerly=eagerly, accumulate=accumulate)
    history = model.fit(data, shuffle=False, verbose=0, epochs=epochs, callbacks=callbacks).history
    return flat(model), history["loss"][-1]


def flat(model):
    values = [w.value.numpy().ravel() for w in model.trainable_weights]
    return np.concatenate(values).astype("float64")


def descent(entry, batch_size=BATCH):
    """What plain gradient descent on the mean over each batch gives, clipped by the joint norm."""
    model, examples, clipped = smoothed(entry), TASKS[entry.task].examples(EXAMPLES), []
    for first in range(0, EXAMPLES, batch_size):
        batch = Batch(examples[first : first + batch_size])
        gradients = gradients_of(model, batch, training=True)
        norm = np.sqrt(sum(np.sum(g.astype("float64") ** 2) for g in gradients.values()))
        clipped.append(norm > LIMIT)
        for weight, gradient in zip(model.trainable_weights, gradients.values(), strict=True):
            weight.assign_sub(RATE * gradient * min(1.0, LIMIT / norm))
    assert all(clipped)
    return flat(model)


def relative_difference(values, expected):
    return np.linalg.norm(values - expected) / np.linalg.norm(expected)


@every_model
def test_k11_any_number_of_devices_descends_the_clipped_gradient_of_the_mean(entry):
    expected = descent(entry)
    assert relative_difference(flat(smoothed(entry)), expected) > 1e-3
    optimizer = keras.optimizers.SGD(RATE, global_clipnorm=LIMIT)
    losses = []
    for replicas, parts in ((1, 1), (1, 4), (2, 1), (3, 2)):
        weights, loss = trained(entry, replicas, optimizer, accumulate=parts)
        assert relative_difference(weights, expected) < 1e-5, (replicas, parts)
        losses.append(loss)
    np.testing.assert_allclose(losses[1:], losses[0], rtol=1e-5)


@every_model
def test_k11_adam_takes_the_same_steps_on_any_number_of_devices(entry):
    optimizer = keras.optimizers.Adam(1e-2, global_clipnorm=LIMIT)
    expected, _ = trained(entry, 1, optimizer)
    for replicas in (2, 3):
        weights, _ = trained(entry, replicas, optimizer)
        assert relative_difference(weights, expected) < 1e-4, replicas


@every_model
def test_k11_replicas_with_unequal_shares_and_with_none_descend_alike_in_the_graph(entry):
    optimizer = keras.optimizers.SGD(RATE, global_clipnorm=LIMIT)
    weights, _ = trained(entry, 3, optimizer, batch_size=5, eagerly=False)
    assert relative_difference(weights, descent(entry, batch_size=5)) < 1e-5


@models_with_time
def test_k11_after_twenty_steps_the_weights_and_their_averages_are_still_alike(entry):
    optimizer, found = keras.optimizers.SGD(RATE, global_clipnorm=LIMIT), []
    for replicas, parts in ((1, 1), (2, 2)):
        average = ExponentialMovingAverage(0.9)
        weights, loss = trained(
            entry,
            replicas,
            optimizer,
            eagerly=False,
            accumulate=parts,
            epochs=10,
            callbacks=[average],
        )
        averages = [value.numpy().ravel() for value in average.variables[1:]]
        found.append((weights, np.concatenate(averages), loss))
    assert relative_difference(found[0][1], found[0][0]) > 1e-3
    for weights, averages, loss in found[1:]:
        assert relative_difference(weights, found[0][0]) < 1e-5
        assert relative_difference(averages, found[0][1]) < 1e-5
        np.testing.assert_allclose(loss, found[0][2], rtol=1e-5)
