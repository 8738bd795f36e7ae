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
from zoo.training.averaging import (
    AverageOfLast,
    ExponentialMovingAverage,
    average_saved_weights,
)
from zoo.training.checkpoints import Checkpointer, Progress
from zoo.training.distribution import make_strategy

KINDS = {"moving": lambda: ExponentialMovingAverage(0.9), "last": lambda: AverageOfLast(2, 3)}
every_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


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


@pytest.mark.parametrize(
    ("count", "every", "points"),
    [
        (1, 1, [22]),
        (3, 4, [12, 16, 20]),
        (4, 8, [8, 16]),  # there are no more
        (9, None, [11, 22]),
        (1, None, [22]),
    ],
)
def test_the_last_points_are_averaged_and_the_training_left_alone(count, every, points):
    plain, record = built_toy(), Record()
    fit(plain, record, epochs=2)

    model, average = built_toy(), AverageOfLast(count, every)
    fit(model, average)
    fit(model, average, initial_epoch=1, epochs=2)  # goes on with the points of the first
    assert_equal(weights(plain), weights(model))
    with average.averaged():
        for index, weight in enumerate(model.trainable_variables):
            values = [record.weights[point - 1][index].astype(np.float64) for point in points]
            np.testing.assert_allclose(weight.numpy(), np.mean(values, 0), rtol=1e-6, atol=1e-7)
    assert_equal(weights(plain), weights(model))


def test_before_the_first_point_the_weights_are_their_own_average():
    model, average = built_toy(), AverageOfLast(2, every=100)
    fit(model, average)
    trained = weights(model)
    with average.averaged():
        assert_equal(weights(model), trained)
    average.take()
    model.trainable_variables[0].assign_add(np.ones_like(trained[0]))
    average.assign()
    assert_equal(weights(model), trained)


@every_kind
def test_swapping_in_the_middle_leaves_the_training_alone(make):
    plain = built_toy()
    fit(plain, epochs=2)
    model, average = built_toy(), make()

    class Swap(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            with average.averaged(), average.averaged():  # may be nested
                self.model(first_inputs())

    fit(model, average, Swap(), epochs=2)
    assert_equal(weights(plain), weights(model))


@every_kind
def test_an_error_inside_the_block_gives_the_trained_weights_back(make):
    model, average = built_toy(), make()
    fit(model, average)
    trained = weights(model)
    with pytest.raises(RuntimeError, match="evaluation"), average.averaged():
        raise RuntimeError("evaluation")
    assert_equal(weights(model), trained)


@every_kind
def test_validation_inside_fit_sees_the_averages(make):
    model, average = built_toy(), make()
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


@pytest.mark.parametrize("replicas", [2, 3])
def test_the_last_points_under_a_strategy(replicas, logical_cpus):
    strategy = make_strategy("mirrored", logical_cpus[:replicas])
    with strategy.scope():
        model = compiled_toy(optimizer=keras.optimizers.SGD(0.5))
        model(first_inputs())
    record, average = Record(), AverageOfLast(2, every=5)
    fit(model, record, average)
    average.assign()
    for index, weight in enumerate(model.trainable_variables):
        value = (record.weights[4][index] + record.weights[9][index]) / 2
        for copy in strategy.experimental_local_results(weight.value):
            np.testing.assert_allclose(copy.numpy(), value, rtol=1e-5, atol=1e-6)


def test_points_are_kept_in_float32_when_the_weights_are_not():
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, dtype="float16")])
    average = AverageOfLast(3)
    average.build(model)
    kernel = model.trainable_variables[0]
    values = []
    for _ in range(3):
        kernel.assign(kernel + 1e-3)
        average.take()
        values.append(kernel.numpy().astype(np.float32))
    assert average.variables[2].dtype == "float32"
    average.assign()
    np.testing.assert_array_equal(kernel.numpy(), np.mean(values, 0).astype(np.float16))


def test_saved_weights_are_averaged(tmp_path):
    """Checkpoints of a run and files of Keras, in any mixture."""
    model, kept = built_toy(), []
    model.fit(Batches().training(0).take(1), shuffle=False, verbose=0)
    progress = Progress()
    checkpointer = Checkpointer(model, progress, tmp_path, keep=9)
    paths = []
    for step in range(1, 4):
        for weight in model.weights:
            weight.assign_add(np.full(weight.shape, step * 0.5, np.float32))
        progress.step = step
        paths.append(checkpointer.save())
        kept.append(weights(model))
    model.save_weights(tmp_path / "last.weights.h5")
    momentum = model.optimizer.variables[2].numpy()

    other = built_toy()
    average_saved_weights(other, paths[1:])
    assert_equal(weights(other), [(a + b) / 2 for a, b in zip(*kept[1:], strict=True)])
    average_saved_weights(other, [tmp_path / "last.weights.h5", *paths[:1]])
    assert_equal(weights(other), [(a + b) / 2 for a, b in zip(kept[2], kept[0], strict=True)])
    assert np.abs(momentum).max() > 0
    assert not other.optimizer.built or np.all(other.optimizer.variables[2].numpy() == 0)


def test_what_cannot_be_averaged_is_refused(tmp_path):
    model = built_toy()
    with pytest.raises(
        ValueError, match="paths must be the weights of at least one model, got none"
    ):
        average_saved_weights(model, [])
    checkpointer = Checkpointer(model, Progress(), tmp_path)
    path = checkpointer.save()
    with pytest.raises(ValueError, match="does not fit this model"):
        average_saved_weights(built_toy(hidden_dim=9), [path])
    with pytest.raises(ValueError, match="does not fit this model: it holds 3 weights, not 6"):
        average_saved_weights(built_toy(recurrent=True), [path])
    (path / "progress.json").unlink()
    with pytest.raises(ValueError, match="cannot be read"):
        average_saved_weights(model, [path])


@pytest.mark.parametrize(("arguments", "name"), [((0,), "count"), ((2, 0), "every")])
def test_numbers_out_of_range_are_refused(arguments, name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        AverageOfLast(*arguments)


@pytest.mark.parametrize("decay", [-0.1, 1.0, float("nan")])
def test_a_decay_out_of_range_is_refused(decay):
    with pytest.raises(ValueError, match="decay must be in"):
        ExponentialMovingAverage(decay)
