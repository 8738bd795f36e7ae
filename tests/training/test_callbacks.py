"""The callbacks, in a `fit` of one's own: the loop is not needed for any of them."""

import logging
import re

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.training.toy import (
    BATCH_SIZE,
    STEPS_PER_EPOCH,
    Batches,
    assert_equal,
    built_toy,
    compiled_toy,
    differ,
    first_inputs,
    weights,
)
from zoo.training.callbacks import (
    CountSteps,
    EvaluateAndKeepBest,
    ExponentialMovingAverage,
    SaveCheckpoints,
    TensorBoardScalars,
)
from zoo.training.checkpoints import Checkpointer, Progress
from zoo.training.distribution import make_strategy


class Record(keras.callbacks.Callback):
    """Keeps the trainable weights after every batch."""

    def __init__(self):
        super().__init__()
        self.weights = []

    def on_train_batch_end(self, batch, logs=None):
        self.weights.append([w.numpy().copy() for w in self.model.trainable_variables])


def fit(model, *callbacks, epochs=1, **arguments):
    return model.fit(
        Batches().training(0),
        epochs=epochs,
        callbacks=list(callbacks),
        shuffle=False,
        verbose=0,
        **arguments,
    )


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


def messages(caplog) -> list[str]:
    """Return what was logged to the logger `test`; TensorFlow logs too."""
    return [record.message for record in caplog.records if record.name == "test"]


class Sequence:
    """An evaluation that returns given scores, one after the other."""

    def __init__(self, *values):
        self.values = list(values)

    def __call__(self):
        return {"f1": self.values.pop(0)}


def evaluated(values, epochs=10, **arguments) -> Progress:
    """Train with an evaluation at the end of each epoch, or as `arguments` say."""
    progress = Progress()
    callback = EvaluateAndKeepBest(Sequence(*values), progress, monitor="f1", **arguments)
    fit(built_toy(), CountSteps(progress), callback, epochs=epochs)
    return progress


def test_best_score_and_patience_at_the_end_of_epochs():
    progress = evaluated([1.0, 3.0, 3.0, 2.0, 9.0], patience=2)
    assert (progress.best_score, progress.best_step) == (3.0, 2 * STEPS_PER_EPOCH)
    assert progress.evaluations_without_gain == 2
    assert progress.step == 4 * STEPS_PER_EPOCH
    assert [record["step"] for record in progress.history] == [11, 22, 33, 44]
    assert all(record["loss"] > 0 for record in progress.history)
    assert progress.seconds > 0


def test_a_lower_score_can_be_the_better_one_and_nan_never_is():
    progress = evaluated([float("nan"), 5.0, 4.0, float("nan")], epochs=4, mode="min")
    assert (progress.best_score, progress.best_step) == (4.0, 3 * STEPS_PER_EPOCH)
    assert progress.evaluations_without_gain == 1


def test_evaluation_every_so_many_steps():
    progress = evaluated([1.0, 2.0, 3.0, 4.0], epochs=2, every=5)
    assert [record["step"] for record in progress.history] == [5, 10, 15, 20]


def test_the_best_weights_are_kept_and_they_are_the_averages(tmp_path, caplog):
    model, progress = built_toy(), Progress()
    average = ExponentialMovingAverage(0.5)
    average.build(model)
    checkpointer = Checkpointer(model, progress, tmp_path, extra={"average": average.variables})
    seen = []

    def evaluate():
        seen.append(weights(model))
        return {"loss": [3.0, 1.0, 2.0][len(seen) - 1]}

    evaluator = EvaluateAndKeepBest(
        evaluate,
        progress,
        monitor="loss",
        mode="min",
        checkpointer=checkpointer,
        average=average,
        logger=logging.getLogger("test"),
    )
    with caplog.at_level(logging.INFO):
        saving = SaveCheckpoints(checkpointer, every=1000)
        fit(model, CountSteps(progress), average, evaluator, saving, epochs=3)
    assert messages(caplog) == [
        "step 11: loss 3 (best so far)",
        "step 22: loss 1 (best so far)",
        "step 33: loss 2",
    ]
    trained = weights(model)
    assert checkpointer.restore_best()
    assert_equal(weights(model), seen[1])
    assert checkpointer.restore_latest()  # of the end of the last epoch: the trained weights
    assert_equal(weights(model), trained)


def test_bad_arguments_of_an_evaluation_are_refused():
    progress = Progress()
    for arguments in ({"mode": "best"}, {"every": 0}, {"patience": 0}):
        name = next(iter(arguments))
        with pytest.raises(ValueError, match=f"{name} must be"):
            EvaluateAndKeepBest(dict, progress, monitor="f1", **arguments)
    with pytest.raises(ValueError, match="monitor is 'f1'; the metrics are accuracy, loss"):
        EvaluateAndKeepBest(lambda: {"accuracy": 1.0, "loss": 2.0}, progress, monitor="f1").run()
    with pytest.raises(ValueError, match="every must be"):
        SaveCheckpoints(None, every=0)


def test_a_loss_that_is_not_finite_stops_before_anything_is_saved(tmp_path):
    progress = Progress()
    model = built_toy(optimizer=keras.optimizers.SGD(float("inf")))
    checkpointer = Checkpointer(model, progress, tmp_path)
    with pytest.raises(FloatingPointError, match="the loss is nan at step 2"):
        fit(model, CountSteps(progress), SaveCheckpoints(checkpointer, every=2))
    assert list(tmp_path.iterdir()) == []


def test_checkpoints_are_saved_every_so_many_steps(tmp_path):
    progress, steps = Progress(), []
    model = built_toy()
    checkpointer = Checkpointer(model, progress, tmp_path)
    save = checkpointer.save
    checkpointer.save = lambda: steps.append(progress.step) or save()
    fit(model, CountSteps(progress), SaveCheckpoints(checkpointer, every=4), epochs=2)
    assert steps == [4, 8, 12, 16, 20]


def events(folder) -> dict[str, list[tuple[int, float]]]:
    """Return the points of each curve in the event files of a folder."""
    points = {}
    for file in sorted(folder.iterdir()):
        for event in tf.compat.v1.train.summary_iterator(str(file)):
            for value in event.summary.value:
                number = float(tf.make_ndarray(value.tensor))
                points.setdefault(value.tag, []).append((event.step, number))
    return points


def test_scalars_are_written_over_the_global_step(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    progress = Progress(step=100)
    model = built_toy(
        optimizer=keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.1, 11, 0.5))
    )
    fit(
        model,
        CountSteps(progress),
        EvaluateAndKeepBest(Sequence(0.25, 0.75), progress, monitor="f1", every=10),
        TensorBoardScalars(
            tmp_path,
            progress,
            batch_size=BATCH_SIZE,
            every=5,
            logger=logging.getLogger("test"),
        ),
        epochs=2,
    )
    points = events(tmp_path)
    assert set(points) == {
        "evaluation/f1",
        "evaluation/loss",
        "training/examples_per_second",
        "training/learning_rate",
        "training/loss",
    }
    assert points["evaluation/f1"] == [(110, 0.25), (120, 0.75)]
    assert [step for step, _ in points["training/loss"]] == [105, 110, 115, 120]
    rates = [value for _, value in points["training/learning_rate"]]
    np.testing.assert_allclose(rates, [0.1 * 0.5 ** (step / 11) for step in (5, 10, 15, 20)], 1e-5)
    assert all(value > 0 for _, value in points["training/examples_per_second"])
    lines = messages(caplog)
    assert [line.split(":")[0] for line in lines] == [
        f"step {step}" for step in (105, 110, 115, 120)
    ]
    assert re.fullmatch(r"step 105: loss \d.*, learning rate 0\.073, \d+ examples/s", lines[0])
