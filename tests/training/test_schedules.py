import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.training.toy import Batches, built_toy, compiled_toy, fit
from zoo.training.optimizers import OnePassAdam
from zoo.training.schedules import InverseSquareRootDecay


@pytest.mark.parametrize(
    ("model_dim", "step", "rate"),
    [  # Vaswani et al. 2017, equation 3, with 4000 steps of warm-up
        (512, 1, 1.74692811e-07),
        (512, 10, 1.74692811e-06),
        (512, 4000, 6.98771243e-04),
        (512, 8000, 4.94105884e-04),
        (512, 100_000, 1.39754249e-04),
        (1024, 1, 1.23526471e-07),
        (1024, 4000, 4.94105884e-04),
        (1024, 100_000, 9.88211769e-05),
    ],
)
def test_rates_of_the_paper(model_dim, step, rate):
    schedule = InverseSquareRootDecay.of_paper(model_dim)
    np.testing.assert_allclose(schedule(step - 1), rate, rtol=1e-6)
    double = InverseSquareRootDecay.of_paper(model_dim, factor=2.0)
    np.testing.assert_allclose(double(tf.constant(step - 1, tf.int64)), 2 * rate, rtol=1e-6)


def test_rises_in_a_line_to_the_peak_and_falls_with_the_square_root():
    schedule = InverseSquareRootDecay(0.5, 4)
    rates = [float(schedule(step)) for step in range(36)]
    np.testing.assert_allclose(rates[:4], [0.125, 0.25, 0.375, 0.5], rtol=1e-6)
    np.testing.assert_allclose([rates[15], rates[35]], [0.25, 0.5 / 3], rtol=1e-6)
    assert max(rates) == rates[3]


def test_the_first_step_of_a_training_has_number_one():
    model = compiled_toy(optimizer=keras.optimizers.SGD(InverseSquareRootDecay(1.0, 100)))
    other = compiled_toy(optimizer=keras.optimizers.SGD(0.01))
    for one in (model, other):
        one.fit(Batches().training(0).take(1), shuffle=False, verbose=0)
    for weight, expected in zip(model.weights, other.weights, strict=True):
        np.testing.assert_allclose(weight.numpy(), expected.numpy(), rtol=1e-5, atol=1e-7)


def test_is_saved_and_loaded_with_the_optimizer():
    rate = InverseSquareRootDecay.of_paper(64, 7, factor=0.5)
    optimizer = OnePassAdam(rate, beta_1=0.9, beta_2=0.98, epsilon=1e-9)
    config = keras.saving.serialize_keras_object(optimizer)
    restored = keras.saving.deserialize_keras_object(config)
    assert restored.get_config() == optimizer.get_config()
    assert (restored.beta_2, restored.epsilon) == (0.98, 1e-9)
    model = built_toy(optimizer=restored)
    fit(model)
    assert float(model.optimizer.learning_rate.numpy()) == float(rate(11))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 10), "peak must be positive, got 0.0"),
        ((float("inf"), 10), "peak must be positive, got inf"),
        ((0.1, 0), "warmup_steps must be positive, got 0"),
    ],
)
def test_what_is_no_curve_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        InverseSquareRootDecay(*arguments)


@pytest.mark.parametrize("changes", [{"model_dim": 0}, {"warmup_steps": 0}, {"factor": -1.0}])
def test_what_is_no_curve_of_the_paper_is_refused(changes):
    with pytest.raises(ValueError, match=f"{next(iter(changes))} must be positive, got"):
        InverseSquareRootDecay.of_paper(**{"model_dim": 512} | changes)
