import keras
import numpy as np
import pytest

from tests.training.toy import (
    STEPS_PER_EPOCH,
    Batches,
    assert_equal,
    built_toy,
    compiled_toy,
    differ,
    first_inputs,
    fit,
    weights,
)
from zoo.training.averaging import ExponentialMovingAverage
from zoo.training.distribution import make_strategy


class Record(keras.callbacks.Callback):
    """Keeps the trainable weights after every batch."""

    def __init__(self):
        super().__init__()
        self.weights = []

    def on_train_batch_end(self, batch, logs=None):
        self.weights.append([w.numpy().copy() for w in self.model.trainable_variables])


def recurrence(first, later, decay, warm_up):
    """Return the averages after each update, in float64."""
    averages = [np.asarray(value, np.float64) for value in first]
    for t, values in enumerate(later):
        d = min(decay, (1 + t) / (10 + t)) if warm_up else decay
        averages = [d * a + (1 - d) * v for a, v in zip(averages, values, strict=True)]
    return averages


@pytest.mark.parametrize("warm_up", [True, False])
def test_averages_follow_the_recurrence_and_leave_the_training_alone(warm_up):
    plain = built_toy()
    record = Record()
    fit(plain, record, epochs=2)

    model = built_toy()
    first = [w.numpy().copy() for w in model.trainable_variables]
    average = ExponentialMovingAverage(0.5, warm_up=warm_up)
    fit(model, average, epochs=2)
    assert_equal(weights(plain), weights(model))
    trained = weights(model)

    expected = recurrence(first, record.weights, 0.5, warm_up)
    with average.averaged():
        for weight, value in zip(model.trainable_variables, expected, strict=True):
            np.testing.assert_allclose(weight.numpy(), value, rtol=1e-5, atol=1e-6)
        assert differ(weights(model), trained)
    assert_equal(weights(model), trained)


def test_swapping_in_the_middle_leaves_the_training_alone():
    plain = built_toy()
    fit(plain, epochs=2)
    model, average = built_toy(), ExponentialMovingAverage(0.9)

    class Swap(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            with average.averaged(), average.averaged():  # may be nested
                self.model(first_inputs())

    fit(model, average, Swap(), epochs=2)
    assert_equal(weights(plain), weights(model))


def test_an_error_inside_the_block_gives_the_trained_weights_back():
    model, average = built_toy(), ExponentialMovingAverage(0.9)
    fit(model, average)
    trained = weights(model)
    with pytest.raises(RuntimeError, match="evaluation"), average.averaged():
        raise RuntimeError("evaluation")
    assert_equal(weights(model), trained)


def test_validation_inside_fit_sees_the_averages():
    model, average = built_toy(), ExponentialMovingAverage(0.9, warm_up=False)
    history = fit(model, average, validation_data=Batches().training(1)).history
    trained = weights(model)
    after = model.evaluate(Batches().training(1), verbose=0)
    assert after != pytest.approx(history["val_loss"][0], rel=1e-3)
    average.assign()
    assert model.evaluate(Batches().training(1), verbose=0) == history["val_loss"][0]
    assert differ(weights(model), trained)


@pytest.mark.parametrize("replicas", [2, 3])
def test_averages_under_a_strategy(replicas, logical_cpus):
    strategy = make_strategy("mirrored", logical_cpus[:replicas])
    with strategy.scope():
        model = compiled_toy(optimizer=keras.optimizers.SGD(0.5))
        model(first_inputs())
    first = [w.numpy().copy() for w in model.trainable_variables]
    record, average = Record(), ExponentialMovingAverage(0.7)
    fit(model, record, average)
    assert len(record.weights) == STEPS_PER_EPOCH
    average.assign()
    for weight, value in zip(
        model.trainable_variables, recurrence(first, record.weights, 0.7, True), strict=True
    ):
        for copy in strategy.experimental_local_results(weight.value):
            np.testing.assert_allclose(copy.numpy(), value, rtol=1e-5, atol=1e-6)


def test_averages_are_float32_when_the_weights_are_not():
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, dtype="float16")])
    average = ExponentialMovingAverage(0.9, warm_up=False)
    average.build(model)
    kernel = model.trainable_variables[0]
    first = kernel.numpy().astype(np.float64)
    for _ in range(3):
        kernel.assign(kernel + 1e-3)
        average.on_train_batch_end(0)
        first = 0.9 * first + 0.1 * kernel.numpy().astype(np.float64)
    trained = weights(model)
    np.testing.assert_allclose(average.variables[1].numpy(), first, rtol=1e-5)
    with average.averaged():
        np.testing.assert_array_equal(kernel.numpy(), first.astype(np.float16))
    assert_equal(weights(model), trained)


@pytest.mark.parametrize("decay", [-0.1, 1.0, float("nan")])
def test_a_decay_out_of_range_is_refused(decay):
    with pytest.raises(ValueError, match="decay must be in"):
        ExponentialMovingAverage(decay)
