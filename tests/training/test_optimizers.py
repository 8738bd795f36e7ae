"""One pass over each weight takes the steps that Keras takes in ten."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.training.distribution import make_strategy
from zoo.training.optimizers import NoisyAdam, OnePassAdam

pytestmark = pytest.mark.optimised


def weights_after(optimizer, dtype="float32", replicas=1, graph=True, dense=True):
    """Trains a table of which a row is read twice, and a matrix; returns both and all moments."""
    random = np.random.default_rng(0)
    devices = [f"CPU:{number}" for number in range(replicas)]
    strategy = make_strategy("mirrored", devices) if replicas > 1 else make_strategy("none")
    with strategy.scope():
        table = keras.Variable(random.normal(size=(5, 3)), dtype=dtype)
        matrix = keras.Variable(random.normal(size=(3, 2)), dtype=dtype)
        optimizer = optimizer()
        optimizer.build([table, matrix])
    ids = tf.constant([1, 3, 3])

    def step():
        with tf.GradientTape() as tape:
            product = tf.gather(table.value, ids) @ tf.convert_to_tensor(matrix.value)
            loss = tf.reduce_sum(product**2)
        gradients = tape.gradient(loss, [table.value, matrix.value])
        assert isinstance(gradients[0], tf.IndexedSlices)
        if dense:
            gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]
        optimizer.apply_gradients(zip(gradients, [table, matrix], strict=True))

    def run():
        strategy.run(step)

    run = tf.function(run, autograph=False) if graph else run
    for _ in range(4):
        run()
    return [np.asarray(v.value) for v in (table, matrix, *optimizer.variables)]


OPTIONS = [
    {},
    {"global_clipnorm": 0.5},
    {"beta_1": 0.5, "beta_2": 0.9, "epsilon": 0.1},
    {"beta_1": 0.9, "beta_2": 0.98, "epsilon": 1e-9},  # the Transformer's
    {"learning_rate": keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)},
    {"weight_decay": 0.1},
    {"use_ema": True, "ema_momentum": 0.5},
    {"amsgrad": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: next(iter(options), "default"))
def test_takes_the_steps_of_keras(options):
    options = {"learning_rate": 0.1} | options
    expected = weights_after(lambda: keras.optimizers.Adam(**options), dtype="float64")
    found = weights_after(lambda: OnePassAdam(**options), dtype="float64")
    assert len(found) == len(expected)
    for value, reference in zip(found, expected, strict=True):
        # Keras takes its betas in single precision, whatever the weights have.
        np.testing.assert_allclose(value, reference, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "where", [{"graph": False}, {"replicas": 2}, {"dtype": "float64"}, {"dtype": "float16"}]
)
def test_also_eagerly_on_replicas_and_in_other_precisions(where):
    expected = weights_after(lambda: keras.optimizers.Adam(0.1), **where)
    found = weights_after(lambda: OnePassAdam(0.1), **where)
    tolerance = 1e-2 if where.get("dtype") == "float16" else 1e-4
    for value, reference in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, reference, rtol=tolerance, atol=tolerance)


def test_occurrences_of_a_row_are_added_up_before_they_are_squared():
    dense, sparse = (
        weights_after(lambda: OnePassAdam(0.1), dense=dense) for dense in (True, False)
    )
    for value, reference in zip(sparse, dense, strict=True):
        np.testing.assert_allclose(value, reference, rtol=1e-6)


def test_configuration_round_trip():
    optimizer = OnePassAdam(0.25, beta_1=0.5, global_clipnorm=2.0)
    config = keras.saving.serialize_keras_object(optimizer)
    restored = keras.saving.deserialize_keras_object(config)
    assert type(restored) is OnePassAdam
    assert restored.get_config() == optimizer.get_config()


def test_state_is_named_as_that_of_keras():
    """So that checkpoints of one are read by the other."""
    table = keras.Variable(np.zeros((2, 2)), name="table")
    names = []
    for cls in (keras.optimizers.Adam, OnePassAdam):
        optimizer = cls(0.1, name="adam")
        optimizer.build([table])
        names.append([variable.path for variable in optimizer.variables])
    assert names[0] == names[1]


class SmallSteps:
    """Gradients of zero, so that all that moves a weight is noise."""

    @staticmethod
    def drawn(optimizer, steps, begin=0):
        """Gradients that each step sees of a matrix of 40 by 50: its first moments."""
        weight = keras.Variable(np.zeros((40, 50)), dtype="float32")
        optimizer.build([weight])
        optimizer.iterations.assign(begin)
        found = []
        for _ in range(steps):
            optimizer.apply_gradients([(tf.zeros((40, 50)), weight)])
            found.append(optimizer._momentums[0].numpy().copy())
        return found


def noisy(**arguments):
    return NoisyAdam(0.1, beta_1=0.0, **arguments)


def test_noise_falls_with_the_steps_and_is_a_function_of_seed_and_step():
    made = SmallSteps.drawn(noisy(gradient_noise=0.5), 3)
    for step, noise in enumerate(made):
        np.testing.assert_allclose(noise.std(), 0.5 / (1 + step) ** 0.55, rtol=0.06)
        assert abs(noise.mean()) < 0.05
    (again,) = SmallSteps.drawn(noisy(gradient_noise=0.5), 1, begin=2)
    np.testing.assert_allclose(again, made[2], atol=1e-6)
    (other,) = SmallSteps.drawn(noisy(gradient_noise=0.5, noise_seed=1), 1)
    assert np.abs(other - made[0]).max() > 0.1
    assert np.abs(np.corrcoef(made[0].ravel(), made[1].ravel())[0, 1]) < 0.1


def test_without_noise_the_steps_are_those_of_adam():
    expected = weights_after(lambda: OnePassAdam(0.1))
    for found, value in zip(
        weights_after(lambda: NoisyAdam(0.1, gradient_noise=0.0)), expected, strict=True
    ):
        np.testing.assert_array_equal(found, value)


def test_noise_survives_its_configuration_and_may_not_be_negative():
    copy = NoisyAdam.from_config(noisy(gradient_noise=0.2, noise_seed=4).get_config())
    assert (copy.gradient_noise, copy.noise_seed, copy.beta_1) == (0.2, 4, 0.0)
    with pytest.raises(ValueError, match="gradient_noise must be at least 0, got -1"):
        noisy(gradient_noise=-1)
