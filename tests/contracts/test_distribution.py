"""K11: one device and several take the same steps, and they are steps of the mean over the batch.

So do they in one go or in parts. Examples differ in length, labels are smoothed where a model does
that, no number of replicas divides the batches, and the last one of an epoch, a single example,
leaves all replicas but one without any. Two replicas train every model, and three of them two
models, one with an answer an example and one with an answer a token: no model knows how many there
are.
"""

from typing import NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build, every_model, gradients_of, smoothed, traced_once
from tests.contracts.tasks import TASKS, Batch, short_examples
from zoo.models.core.registry import models
from zoo.text.batching import without_tuning
from zoo.training.averaging import ExponentialMovingAverage
from zoo.training.distribution import make_strategy

EXAMPLES, BATCH, LIMIT, RATE = 6, 5, 0.05, 0.5
SCALE = 0.4  # of the weights: larger ones saturate some models
ROUNDS = 10  # through the examples, in two steps each
ON_THREE = {"AttentionOverAttentionReader", "RNNsearch"}

pytestmark = pytest.mark.usefixtures("draws_without_chance")


def replicas_of(entry):
    """How many replicas train a model, apart from one."""
    return (2, 3) if entry.name in ON_THREE else (2,)


def strategy_of(replicas):
    if replicas == 1:
        return make_strategy("none")
    return make_strategy("mirrored", [f"CPU:{number}" for number in range(replicas)])


class Trained(NamedTuple):
    """Result of a training."""

    first: np.ndarray
    """The trainable weights after the first two steps, flat."""
    weights: np.ndarray
    """Weights at the end."""
    averages: np.ndarray
    """The weights' running averages at the end."""
    losses: list[float]
    """The loss logged after every step: the mean over the epoch so far."""


class Record(keras.callbacks.Callback):
    """Keeps what `Trained` holds of the way."""

    def __init__(self):
        super().__init__()
        self.first, self.losses = None, []

    def on_train_batch_end(self, batch, logs=None):
        # Not `logs`, which is a mean over replicas.
        self.losses.append(float(self.model.get_metrics_result()["loss"]))
        if len(self.losses) == 2:
            self.first = flat(self.model)


def trained(entry, replicas, optimizer, accumulate=1, rounds=1, eagerly=False):
    """Trains in one epoch on the examples in their order: an epoch costs an iterator a device."""
    batch = Batch(short_examples(TASKS[entry.task], EXAMPLES))
    data = tf.data.Dataset.from_tensor_slices((batch.inputs, batch.targets))
    data = without_tuning(data).batch(BATCH).repeat(rounds)
    strategy = strategy_of(replicas)
    if replicas > 1:
        # Fetched ahead, it would be tuned a device all the same (see `without_tuning`).
        where = tf.distribute.InputOptions(experimental_fetch_to_device=False)
        data = strategy.experimental_distribute_dataset(data, where)
    assert strategy.num_replicas_in_sync == replicas
    with strategy.scope():
        in_one_graph = replicas == accumulate == 1 and not eagerly
        model = (traced_once if in_one_graph else build)(entry, scale=SCALE, **smoothed(entry))
        own = type(optimizer).from_config(optimizer.get_config())
        model.compile(own, run_eagerly=eagerly, accumulate=accumulate)
    average, record = ExponentialMovingAverage(0.9), Record()
    model.fit(data, shuffle=False, verbose=0, callbacks=[average, record])
    assert len(record.losses) == 2 * rounds
    averages = np.concatenate([value.numpy().ravel() for value in average.variables[1:]])
    return Trained(record.first, flat(model), averages, record.losses)


def flat(model):
    values = [w.value.numpy().ravel() for w in model.trainable_weights]
    return np.concatenate(values).astype("float64")


def descent(entry):
    """Result of plain gradient descent on the mean over each batch, clipped by the joint norm."""
    model, examples, clipped = (
        build(entry, scale=SCALE, **smoothed(entry)),
        short_examples(TASKS[entry.task], EXAMPLES),
        [],
    )
    for first in range(0, EXAMPLES, BATCH):
        batch = Batch(examples[first : first + BATCH])
        gradients = gradients_of(model, batch, training=True)
        norm = np.sqrt(sum(np.sum(g.astype("float64") ** 2) for g in gradients.values()))
        clipped.append(norm > LIMIT)
        for weight, gradient in zip(model.trainable_weights, gradients.values(), strict=True):
            weight.assign_sub(RATE * gradient * min(1.0, LIMIT / norm))
    assert all(clipped)
    return flat(model)


def relative_difference(values, expected):
    return np.linalg.norm(values - expected) / np.linalg.norm(expected)


def test_a_model_with_an_answer_an_example_and_one_with_an_answer_a_token_are_on_three_devices():
    assert {models()[name].cls.TARGETS.tokens is None for name in ON_THREE} == {True, False}


@every_model
def test_k11_any_number_of_devices_descends_the_clipped_gradient_of_the_mean(entry):
    """After the first two steps, and after twenty."""
    expected = descent(entry)
    assert relative_difference(flat(build(entry, scale=SCALE, **smoothed(entry))), expected) > 1e-3
    optimizer = keras.optimizers.SGD(RATE, global_clipnorm=LIMIT)
    one = trained(entry, 1, optimizer, rounds=ROUNDS)
    assert relative_difference(one.first, expected) < 1e-5
    assert relative_difference(one.averages, one.weights) > 1e-3
    for replicas, parts in ((1, 4), (replicas_of(entry)[-1], 2)):
        in_parts = trained(entry, replicas, optimizer, accumulate=parts, eagerly=True)
        assert relative_difference(in_parts.first, expected) < 1e-5, (replicas, parts)
        np.testing.assert_allclose(in_parts.losses, one.losses[:2], rtol=1e-5)
    for replicas in replicas_of(entry):
        several = trained(entry, replicas, optimizer, rounds=ROUNDS)
        assert relative_difference(several.first, expected) < 1e-5, replicas
        assert relative_difference(several.weights, one.weights) < 1e-5, replicas
        assert relative_difference(several.averages, one.averages) < 1e-5, replicas
        np.testing.assert_allclose(several.losses, one.losses, rtol=1e-5)


@every_model
def test_k11_adam_takes_the_same_steps_on_any_number_of_devices(entry):
    optimizer = keras.optimizers.Adam(1e-2, global_clipnorm=LIMIT)
    expected = trained(entry, 1, optimizer, eagerly=True)
    for replicas in replicas_of(entry):
        several = trained(entry, replicas, optimizer, eagerly=True)
        assert relative_difference(several.weights, expected.weights) < 1e-4, replicas
