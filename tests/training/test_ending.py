"""The end of a training: a run that is stopped early and gone on with equals one that is not."""

import signal

import keras
import numpy as np
import pytest

from tests.training.test_interruption import At, send
from tests.training.test_loop import StopAt, assert_as_straight, comparable, start
from tests.training.toy import STEPS_PER_EPOCH, assert_equal, content, newest, scores, weights
from zoo.training.interruption import StoppedBySignalError

CHANGES = {"evaluate_every": 6, "epochs": 3, "patience": None}


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """A training that nothing stops early."""
    folder = tmp_path_factory.mktemp("straight")
    model, report = start(folder, **CHANGES)
    return folder, weights(model), report


class Falling:
    """An evaluation whose first result is the best of all."""

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return {"f1": -float(self.calls)}


@pytest.mark.parametrize("batch", [7, 3])
def test_a_stop_between_evaluations_is_evaluated_and_then_forgotten(straight, tmp_path, batch):
    model, report = start(tmp_path, StopAt(batch=batch - 1), **CHANGES)
    assert report["stopped"] == "callback"
    assert report["history"][-1]["step"] == report["step"] == batch
    best = max(report["history"], key=lambda record: record["f1"])
    assert (report["best_step"], report["best_score"]) == (best["step"], best["f1"])
    assert [record["step"] for record in content(newest(tmp_path))[1]["history"]] == (
        [6] if batch == 7 else []
    )
    model, report = start(tmp_path, **CHANGES)
    assert_as_straight(straight, tmp_path, model, report)


def test_going_on_after_the_time_is_over_equals_straight(straight, tmp_path):
    first, early = start(tmp_path, maximum_minutes=1e-9, **CHANGES)
    assert (early["stopped"], early["step"], early["best_step"]) == ("time", 1, 1)
    shipped = weights(first)
    again, report = start(tmp_path, maximum_minutes=1e-9, **CHANGES)
    assert comparable(report) == comparable(early)
    assert report["seconds"] == early["seconds"]
    assert_equal(weights(again), shipped)
    model, report = start(tmp_path, **CHANGES)
    assert_as_straight(straight, tmp_path, model, report)


def test_the_evaluation_of_a_stop_exhausts_no_patience(tmp_path):
    """The first evaluation, at the stop, is the best: it must be that of no later one."""
    changes = CHANGES | {"patience": 1}
    _, report = start(tmp_path, evaluate=Falling(), maximum_minutes=1e-9, **changes)
    assert (report["stopped"], report["best_step"]) == ("time", 1)
    _, report = start(tmp_path, evaluate=Falling(), **changes)
    assert [record["step"] for record in report["history"]] == [6, 12]
    assert (report["stopped"], report["best_step"]) == ("patience", 6)


def test_the_reason_is_the_one_that_stopped(tmp_path):
    """Not the patience, which the evaluation after the stop exhausts."""
    _, report = start(tmp_path, StopAt(batch=7), evaluate=Falling(), **CHANGES | {"patience": 1})
    assert (report["stopped"], report["best_step"]) == ("callback", 6)


def drawing(model):
    """An evaluation that draws from the model's seed generators."""
    evaluate = scores(model)

    def drawn():
        logits = model({"text": np.ones((2, 3), "int32")}, training=True)
        return evaluate() | {"drawn": float(logits[0, 0])}

    return drawn


def test_evaluations_leave_the_draws_of_training_alone(straight, tmp_path, monkeypatch):
    monkeypatch.setattr("tests.training.test_loop.scores", drawing)
    model, report = start(tmp_path, **CHANGES)
    drawn = [record.pop("drawn") for record in report["history"]]
    assert len({*drawn}) == len(drawn)
    assert comparable(report) == comparable(straight[2])
    assert_equal(weights(model), straight[1])
    _, again = start(tmp_path, **CHANGES)
    assert [record["drawn"] for record in again["history"]] == drawn


class Picture(keras.callbacks.Callback):
    """Fails after an epoch."""

    def on_epoch_end(self, epoch, logs=None):
        raise OSError("no picture")


@pytest.mark.parametrize("batch", [3, STEPS_PER_EPOCH])
def test_what_a_signal_stops_is_saved_before_its_picture(straight, tmp_path, batch):
    with pytest.raises(OSError, match="no picture"):
        start(tmp_path, At(batch, send(signal.SIGTERM)), Picture(), **CHANGES)
    assert content(newest(tmp_path))[1]["step"] == batch
    model, report = start(tmp_path, **CHANGES)
    assert_as_straight(straight, tmp_path, model, report)


def test_a_signal_leaves_no_evaluation(tmp_path):
    with pytest.raises(StoppedBySignalError):
        start(tmp_path, At(3, send(signal.SIGTERM)), **CHANGES)
    assert content(newest(tmp_path))[1]["history"] == []
