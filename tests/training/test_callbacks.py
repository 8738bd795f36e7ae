"""The callbacks, in a `fit` of one's own: the loop is not needed for any of them."""

import logging
import re
import time

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.training.toy import (
    BATCH_SIZE,
    STEPS_PER_EPOCH,
    assert_equal,
    built_toy,
    fit,
    weights,
)
from zoo.training.averaging import ExponentialMovingAverage
from zoo.training.callbacks import (
    CountSteps,
    EvaluateAndKeepBest,
    SaveCheckpoints,
    TensorBoardScalars,
)
from zoo.training.checkpoints import Checkpointer, Progress


def messages(caplog) -> list[str]:
    """Return what was logged to the logger `test`; TensorFlow logs too."""
    return [record.message for record in caplog.records if record.name == "test"]


class Sequence:
    """An evaluation that returns given scores, one after the other."""

    def __init__(self, *values):
        self.values = list(values)

    def __call__(self):
        value = self.values.pop(0)
        return (
            dict(zip(("f1", "loss"), value, strict=True))
            if isinstance(value, tuple)
            else {"f1": value}
        )


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
    assert all(record["training_loss"] > 0 for record in progress.history)
    assert progress.seconds > 0


def test_a_lower_score_can_be_the_better_one_and_nan_never_is():
    progress = evaluated([float("nan"), 5.0, 4.0, float("nan")], epochs=4, mode="min")
    assert (progress.best_score, progress.best_step) == (4.0, 3 * STEPS_PER_EPOCH)
    assert progress.evaluations_without_gain == 1


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("values", "best", "without_gain"),
    [
        ([(0.0, 3.0), (0.0, 1.0), (0.0, 2.0)], 2, 1),  # the first is not kept for being the first
        ([(0.0, 3.0), (0.0, 3.0), (0.0, 3.0)], 1, 2),
        ([(0.0, 1.0), (0.5, 9.0), (0.5, 9.5)], 2, 1),  # a better score wins whatever the loss
        ([(0.5, 9.0), (0.0, 1.0), (0.5, 8.0)], 3, 0),
        ([(0.0, NAN), (0.0, 5.0), (0.0, NAN)], 2, 1),
        ([(0.0, float("inf")), (0.0, 5.0), (NAN, 1.0)], 2, 1),
    ],
)
@pytest.mark.parametrize("mode", ["max", "min"])
def test_ties_are_broken_by_the_loss(values, best, without_gain, mode):
    sign = 1.0 if mode == "max" else -1.0
    signed = [(sign * score, loss) for score, loss in values]
    progress = evaluated(signed, epochs=3, mode=mode, ties="loss")
    assert progress.best_step == best * STEPS_PER_EPOCH
    assert progress.evaluations_without_gain == without_gain


def test_a_lower_loss_among_equal_scores_is_no_reason_to_stop():
    values = [(0.0, 5.0), (0.0, 4.0), (0.0, 3.0), (0.0, 3.0), (0.0, 3.0), (9.0, 1.0)]
    assert evaluated(values, patience=2, ties="loss").step == 5 * STEPS_PER_EPOCH


def test_the_loss_of_the_best_evaluation_is_remembered_by_a_checkpoint(tmp_path):
    """In the format of old: what is needed stands in the history."""
    whole = evaluated([(0.0, 3.0), (0.0, 1.0), (0.0, 2.0), (0.0, 0.5)], epochs=4, ties="loss")
    progress = evaluated([(0.0, 3.0), (0.0, 1.0)], epochs=2, ties="loss")
    progress.write(tmp_path / "progress.json")
    again = Progress()
    again.read(tmp_path / "progress.json")
    rest = Sequence((0.0, 2.0), (0.0, 0.5))
    callback = EvaluateAndKeepBest(rest, again, monitor="f1", ties="loss")
    fit(built_toy(), CountSteps(again), callback, epochs=2)
    assert (again.best_step, whole.best_step) == (4 * STEPS_PER_EPOCH,) * 2
    assert again.evaluations_without_gain == whole.evaluations_without_gain == 0


@pytest.mark.parametrize(
    "values",
    [
        [(INFINITE, 3.0), (INFINITE, 4.0), (INFINITE, NAN), (9.0, 1.0)],
        [(INFINITE, NAN), (INFINITE, INFINITE), (INFINITE, 4.0), (NAN, 1.0)],
        [(NAN, NAN), (NAN, NAN), (INFINITE, NAN), (INFINITE, 2.0)],
        [(2.0, NAN), (2.0, NAN), (2.0, 4.0), (2.0, 3.0)],
    ],
)
@pytest.mark.parametrize("mode", ["max", "min"])
def test_what_was_not_finite_before_a_checkpoint_is_as_it_was_after_it(tmp_path, values, mode):
    sign = -1.0 if mode == "max" else 1.0
    signed = [(sign * score, loss) for score, loss in values]
    whole = evaluated(signed, epochs=4, mode=mode, ties="loss", patience=9)
    evaluated(signed[:2], epochs=2, mode=mode, ties="loss").write(tmp_path / "progress.json")
    again = Progress()
    again.read(tmp_path / "progress.json")
    rest = EvaluateAndKeepBest(Sequence(*signed[2:]), again, monitor="f1", mode=mode, ties="loss")
    fit(built_toy(), CountSteps(again), rest, epochs=2)
    rest.warn_if_constant()
    assert again.best_step == whole.best_step
    assert again.best_score == whole.best_score
    assert again.evaluations_without_gain == whole.evaluations_without_gain


def test_ties_with_a_run_that_has_not_kept_the_loss_go_to_that_run():
    progress = Progress(step=11, best_score=0.5, best_step=11, history=[{"step": 11, "f1": 0.5}])
    callback = EvaluateAndKeepBest(Sequence((0.5, 1.0)), progress, monitor="f1", ties="loss")
    fit(built_toy(), CountSteps(progress), callback)
    assert progress.best_step == 11


@pytest.mark.parametrize(
    ("values", "ties", "line"),
    [
        (
            [(0.0, 3.0), (0.0, 1.0)],
            "loss",
            "f1 was 0 at all 2 evaluations and chose nothing: the weights of step 22 are kept, by "
            "the lowest loss",
        ),
        (
            [0.25, 0.25],
            None,
            "f1 was 0.25 at all 2 evaluations and chose nothing: the weights of step 11 are kept, "
            "by the first",
        ),
        (
            [NAN, NAN],
            None,
            "f1 was nan at all 2 evaluations and chose nothing: the last weights are kept",
        ),
        ([0.0, 0.5], None, None),
        ([0.5], None, None),
    ],
)
def test_a_monitor_that_never_moves_is_one_line(values, ties, line, caplog):
    progress = Progress()
    callback = EvaluateAndKeepBest(
        Sequence(*values), progress, monitor="f1", ties=ties, logger=logging.getLogger("test")
    )
    fit(built_toy(), CountSteps(progress), callback, epochs=len(values))
    callback.warn_if_constant()
    assert messages(caplog) == ([] if line is None else [line])


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
    with pytest.raises(ValueError, match="monitor must be one of accuracy, loss, got 'f1'"):
        EvaluateAndKeepBest(lambda: {"accuracy": 1.0, "loss": 2.0}, progress, monitor="f1").run()
    with pytest.raises(ValueError, match="ties must be one of f1, got 'loss'"):
        EvaluateAndKeepBest(lambda: {"f1": 1.0}, progress, monitor="f1", ties="loss").run()
    with pytest.raises(ValueError, match="every must be"):
        SaveCheckpoints(None, every=0)
    with pytest.raises(ValueError, match="every must be at least 1, got 0"):
        TensorBoardScalars("never", progress, batch_size=1, every=0)


def test_weights_that_are_not_finite_are_not_saved(tmp_path):
    """The loss of the step that made them was a number."""
    progress = Progress()
    checkpointer = Checkpointer(built_toy(), progress, tmp_path)
    saving = SaveCheckpoints(checkpointer, every=1)
    progress.step = 1
    saving.save()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    weight = checkpointer.model.trainable_variables[0]
    weight.assign(weight * float("nan"))
    progress.step = 2
    with pytest.raises(FloatingPointError, match="is not finite after step 2: lower the learning"):
        saving.save()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


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


def test_the_loss_of_training_and_a_loss_of_the_evaluation_have_two_names(tmp_path):
    progress, losses = Progress(), keras.callbacks.History()
    evaluate = EvaluateAndKeepBest(Sequence((0.5, 70.0), (0.5, 80.0)), progress, monitor="f1")
    scalars = TensorBoardScalars(tmp_path, progress, batch_size=BATCH_SIZE, every=11)
    fit(built_toy(), losses, CountSteps(progress), evaluate, scalars, epochs=2)
    scalars.write_evaluations()
    assert [record["loss"] for record in progress.history] == [70.0, 80.0]
    trained = [record["training_loss"] for record in progress.history]
    np.testing.assert_allclose(trained, losses.history["loss"], rtol=1e-6)
    points = events(tmp_path)
    assert points["evaluation/loss"] == [(11, 70.0), (22, 80.0)]
    assert "evaluation/training_loss" not in points
    np.testing.assert_allclose([loss for _, loss in points["training/loss"]], trained, rtol=1e-6)


def test_the_speed_is_that_of_the_steps_alone(tmp_path):
    def evaluate():
        time.sleep(1.0)
        return {"f1": 0.5}

    progress = Progress()
    fit(
        built_toy(),
        CountSteps(progress),
        EvaluateAndKeepBest(evaluate, progress, monitor="f1", every=5),
        TensorBoardScalars(tmp_path, progress, batch_size=BATCH_SIZE, every=5),
    )
    (_, first), (_, second) = events(tmp_path)["training/examples_per_second"]
    assert first > 0
    assert second > 5 * BATCH_SIZE / 1.0
