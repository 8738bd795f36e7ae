"""The loop; above all that a resumed training is the straight one, bit for bit."""

import contextlib
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import keras
import numpy as np
import pytest

from tests.training.toy import (
    STEPS_PER_EPOCH,
    Batches,
    assert_equal,
    compiled_toy,
    content,
    differ,
    newest,
    scores,
    weights,
)
from zoo.training.checkpoints import Checkpointer
from zoo.training.distribution import make_strategy
from zoo.training.json_files import write_json
from zoo.training.limits import Limits
from zoo.training.loop import _resume, train
from zoo.training.runs import RunFolder

EPOCHS = 4
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.optimised  # the order of a sum is one of the things that could differ


class Killed(BaseException):
    """Stands for a SIGKILL: nothing catches it."""


class KillAt(keras.callbacks.Callback):
    """Ends the process, as it were, after so many batches of this life."""

    def __init__(self, batches: int):
        super().__init__()
        self.left = batches

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if self.left == 0:
            raise Killed


def start(folder, *callbacks, scope=None, batches=None, **changes):
    """Train the toy in a run folder; return the model and the report."""
    settings = {
        "epochs": EPOCHS,
        "checkpoint_every": 4,
        "evaluate_every": 6,
        "ema_decay": 0.9,
        "patience": 3,
        "log_every": 5,
    } | changes
    run = RunFolder(folder, {"seed": 3})
    try:
        if scope is None:
            model = compiled_toy()
        else:
            with scope.scope():
                model = compiled_toy()
        settings.setdefault("evaluate", scores(model))
        report = train(
            model, batches or Batches(), run=run, callbacks=callbacks, strategy=scope, **settings
        )
    finally:
        run.close()
    return model, report


def comparable(report):
    """Return a report without what a clock measures."""
    report = {name: value for name, value in report.items() if name not in ("seconds", "restarts")}
    report["history"] = [
        {name: value for name, value in record.items() if name != "seconds"}
        for record in report["history"]
    ]
    return report


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """A training that nothing interrupts."""
    folder = tmp_path_factory.mktemp("straight")
    model, report = start(folder)
    return folder, weights(model), report


def assert_as_straight(straight, folder, model, report):
    """Compare the final weights, the report and every tensor of the last checkpoint."""
    straight_folder, straight_weights, straight_report = straight
    assert comparable(report) == comparable(straight_report)
    assert_equal(weights(model), straight_weights)
    tensors, progress = content(newest(folder))
    straight_tensors, straight_progress = content(newest(straight_folder))
    assert progress == straight_progress
    assert set(tensors) == set(straight_tensors)
    for name, value in straight_tensors.items():
        np.testing.assert_array_equal(tensors[name], value, err_msg=name)


def test_the_straight_run_is_worth_comparing_with(straight):
    _, _, report = straight
    history, best = report["history"], report["best_step"]
    assert [record["step"] for record in history] == list(range(6, report["step"] + 1, 6))
    assert all({"step", "seconds", "training_loss", "probability", "f1"} == set(r) for r in history)
    assert report["best_score"] == max(record["f1"] for record in history)
    # Gains, and no gains, before the patience is over, which is in the middle of an epoch.
    assert history[0]["step"] < best < history[-1]["step"]
    assert report["stopped"] == "patience"
    assert report["step"] % STEPS_PER_EPOCH != 0
    assert report["step"] > 2 * STEPS_PER_EPOCH


@pytest.mark.parametrize(
    "lives",
    [
        (7,),  # three steps after a checkpoint in mid-epoch
        (12,),  # right after an evaluation and its checkpoint
        (22,),  # at the end of an epoch
        (3, 6, 15, 2),  # before the first checkpoint, then again and again
    ],
)
def test_killed_and_resumed_equals_straight(straight, tmp_path, lives):
    for batches in lives:
        with pytest.raises(Killed):
            start(tmp_path, KillAt(batches))
    model, report = start(tmp_path)
    assert report["restarts"] == sum(1 for _ in lives) - (lives[0] < 4)
    assert_as_straight(straight, tmp_path, model, report)


def test_killed_between_best_weights_and_checkpoint_equals_straight(
    straight, tmp_path, monkeypatch
):
    def save_best_and_die(self):
        save_best(self)
        raise Killed

    save_best = Checkpointer.save_best
    with monkeypatch.context() as patch:
        patch.setattr(Checkpointer, "save_best", save_best_and_die)
        with pytest.raises(Killed):
            start(tmp_path)
    model, report = start(tmp_path)
    assert_as_straight(straight, tmp_path, model, report)


def test_sigkill_while_a_checkpoint_is_written_equals_straight(straight, tmp_path):
    command = [sys.executable, "-m", "tests.training.killed", str(tmp_path), "5"]
    child = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
    )
    assert child.returncode == -signal.SIGKILL, child.stderr
    assert list((tmp_path / "checkpoints").glob("**/.writing"))
    model, report = start(tmp_path)
    assert report["restarts"] == 1
    assert_as_straight(straight, tmp_path, model, report)


def test_a_damaged_newest_checkpoint_costs_its_steps_only(straight, tmp_path, capsys):
    with pytest.raises(Killed):
        start(tmp_path, KillAt(9))
    file = newest(tmp_path) / "state.data-00000-of-00001"
    file.write_bytes(file.read_bytes()[:-100])
    capsys.readouterr()
    model, report = start(tmp_path)
    output = capsys.readouterr().out
    assert "-step-8 is damaged and passed over: " in output
    assert "going on at step 6" in output
    assert_as_straight(straight, tmp_path, model, report)


@pytest.mark.parametrize("lives", [(7,), (5, 8)])
def test_killed_and_resumed_with_an_average_of_the_last_weights(tmp_path, lives):
    changes = {"ema_decay": None, "average_last": 2, "patience": None, "epochs": 2}
    model, report = start(tmp_path / "straight", **changes)
    for batches in lives:
        with pytest.raises(Killed):
            start(tmp_path / "killed", KillAt(batches), **changes)
    resumed, resumed_report = start(tmp_path / "killed", **changes)
    assert resumed_report["restarts"] == len(lives)
    straight = tmp_path / "straight", weights(model), report
    assert_as_straight(straight, tmp_path / "killed", resumed, resumed_report)


def test_what_is_evaluated_is_the_mean_of_the_last_evaluations_weights(tmp_path):
    seen, trained = [], []
    model = compiled_toy()

    record = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: trained.append(weights(model))
    )

    def evaluate():
        seen.append(weights(model))
        return {"f1": len(seen)}

    run = RunFolder(tmp_path, {})
    changes = {"average_last": 2, "evaluate_every": 4, "epochs": 1, "callbacks": [record]}
    report = train(model, Batches(), run=run, evaluate=evaluate, **changes)
    run.close()
    assert [record["step"] for record in report["history"]] == [4, 8, 11]
    assert_equal(seen[0], trained[3])
    for averages in (seen[1], seen[2], weights(model)):  # step 11 is no point of the four steps
        for value, one, other in zip(averages, trained[3], trained[7], strict=True):
            np.testing.assert_allclose(value, (one + other) / 2, rtol=1e-6, atol=1e-7)


def test_a_complete_run_started_again_does_nothing(straight, tmp_path):
    folder, straight_weights, straight_report = straight
    before = {path: path.stat().st_mtime_ns for path in (folder / "checkpoints").rglob("*")}

    def evaluate():
        raise AssertionError("evaluated again")

    model, report = start(folder, KillAt(1), evaluate=evaluate)
    assert report == straight_report
    assert_equal(weights(model), straight_weights)
    assert before == {path: path.stat().st_mtime_ns for path in (folder / "checkpoints").rglob("*")}


def test_a_run_that_is_replaced_stays_until_the_training_begins(tmp_path):
    run = RunFolder(tmp_path, {})
    run.close()
    write_json(run.result, {"f1": 1.0})
    for epochs, left in ((0, True), (1, False)):
        run = RunFolder(tmp_path, {}, fresh=True)
        with contextlib.nullcontext() if epochs else pytest.raises(ValueError, match="epochs must"):
            train(compiled_toy(), Batches(), run=run, epochs=epochs)
        run.close()
        assert (tmp_path / ".replaced" / "result.json").exists() is left


def test_batches_without_a_step_are_refused(tmp_path):
    class NoBatches(Batches):
        steps_per_epoch = 0

    run = RunFolder(tmp_path, {})
    for options in ({}, {"evaluate_every": 5}):
        with pytest.raises(ValueError, match="batches must have a step an epoch, got 0"):
            train(compiled_toy(), NoBatches(), run=run, epochs=1, **options)
    run.close()


def test_more_epochs_go_on_where_the_run_had_ended(tmp_path):
    changes = {"evaluate_every": STEPS_PER_EPOCH, "patience": None}
    straight_model, straight_report = start(tmp_path / "straight", epochs=2, **changes)
    start(tmp_path / "longer", epochs=1, **changes)
    model, report = start(tmp_path / "longer", epochs=2, **changes)
    assert (report["restarts"], report["stopped"]) == (1, "epochs")
    straight = (tmp_path / "straight", weights(straight_model), straight_report)
    assert_as_straight(straight, tmp_path / "longer", model, report)


def test_the_model_ends_with_the_best_weights_and_they_are_averages(tmp_path):
    values, seen = [1.0, 5.0, 2.0, 4.0], []
    model = None

    def evaluate():
        seen.append(weights(model))
        return {"f1": values[len(seen) - 1]}

    run = RunFolder(tmp_path, {})
    model = compiled_toy()
    report = train(
        model, Batches(), epochs=9, run=run, evaluate=evaluate, patience=2, ema_decay=0.9
    )
    run.close()
    assert (report["stopped"], report["step"]) == ("patience", 4 * STEPS_PER_EPOCH)
    assert (report["best_step"], report["best_score"]) == (2 * STEPS_PER_EPOCH, 5.0)
    assert_equal(weights(model), seen[1])
    tensors, _ = content(newest(tmp_path))
    kernel = next(value for name, value in tensors.items() if name.startswith("weights/0/"))
    assert differ([kernel], [seen[3][0]])  # the checkpoint holds the trained weights


def test_killed_and_resumed_equals_straight_where_the_loss_decides(tmp_path):
    """The monitored metric stands still; `f1` goes up and down, and is taken for a loss here."""
    model = None

    def evaluate():
        return {"bleu": 0.0, "loss": scores(model)()["f1"]}

    reports, kept = [], []
    for lives in ((), (7, 9)):
        folder = tmp_path / f"{len(lives)}"
        for batches in (*lives, None):
            run = RunFolder(folder, {})
            model = compiled_toy()
            killed = [KillAt(batches)] if batches else []
            try:
                choice = {"evaluate": evaluate, "monitor": "bleu", "ties": "loss"}
                options = {"evaluate_every": 6, "checkpoint_every": 4, "callbacks": killed}
                report = train(model, Batches(), epochs=3, run=run, **choice, **options)
            except Killed:
                continue
            finally:
                run.close()
        reports.append(comparable(report))
        kept.append(weights(model))
        assert "bleu was 0 at all 6 evaluations" in (folder / "train.log").read_text()
    history, best = reports[0]["history"], reports[0]["best_step"]
    assert best == min(history, key=lambda record: record["loss"])["step"] != history[0]["step"]
    assert reports[1] == reports[0]
    assert_equal(kept[1], kept[0])


def test_without_an_evaluation_the_last_averages_remain(tmp_path):
    model, report = start(tmp_path, evaluate=None, epochs=1)
    assert report["history"] == []
    assert report["best_step"] is None
    tensors, progress = content(newest(tmp_path))
    assert progress["step"] == STEPS_PER_EPOCH
    averages = [
        tensors[f"average/{index}/.ATTRIBUTES/VARIABLE_VALUE"]
        for index in range(1, 1 + len(model.trainable_variables))
    ]
    assert_equal(averages, [w.numpy() for w in model.trainable_variables])


def test_the_end_of_the_training_is_always_evaluated(tmp_path):
    _, report = start(tmp_path, epochs=1, evaluate_every=4)
    assert [record["step"] for record in report["history"]] == [4, 8, 11]
    assert all("training_loss" in record for record in report["history"])


def test_a_time_limit_stops_in_mid_epoch_and_more_time_goes_on(tmp_path):
    _, report = start(tmp_path, maximum_minutes=1e-9)
    assert (report["stopped"], report["step"]) == ("time", 1)
    assert [record["step"] for record in report["history"]] == [1]
    seconds = report["seconds"]
    _, report = start(tmp_path, maximum_minutes=1e-9)
    assert (report["step"], report["restarts"], report["seconds"]) == (1, 0, seconds)
    _, report = start(tmp_path, maximum_minutes=60, epochs=1)
    assert (report["stopped"], report["step"]) == ("epochs", STEPS_PER_EPOCH)
    assert report["restarts"] == 1
    assert report["seconds"] > seconds


def test_processes_agree_on_the_time_of_a_restored_training():
    """Else each start of a training that has taken all of its time would take one more step."""
    others = SimpleNamespace(count=2, index=0, all_of=lambda own: np.array([own, own]))
    progress = SimpleNamespace(step=3, seconds=61.0, evaluations_without_gain=0)
    restarts = []
    checkpointer = SimpleNamespace(
        progress=progress,
        workers=others,
        restore_latest=lambda: True,
        check_best=lambda: None,
        count_restart=lambda: restarts.append(1),
    )
    limits = Limits(checkpointer, steps=10, patience=None, minutes=1.0)
    _resume(checkpointer, limits)
    assert (limits.reached, restarts) == ("time", [])


class StopAt(keras.callbacks.Callback):
    """Asks for the end after a batch, or after an epoch."""

    def __init__(self, batch=None, epoch=None):
        super().__init__()
        self.batch, self.epoch = batch, epoch

    def on_train_batch_end(self, batch, logs=None):
        self.model.stop_training = self.model.stop_training or batch == self.batch

    def on_epoch_end(self, epoch, logs=None):
        self.model.stop_training = self.model.stop_training or epoch == self.epoch


@pytest.mark.parametrize(("stop", "step"), [({"batch": 4}, 5), ({"epoch": 1}, 2 * STEPS_PER_EPOCH)])
def test_a_callback_stops_the_training_and_the_same_call_goes_on(tmp_path, straight, stop, step):
    _, report = start(tmp_path, StopAt(**stop))
    assert (report["stopped"], report["step"]) == ("callback", step)
    assert report["history"][-1]["step"] == step
    _, report = start(tmp_path)
    assert report["stopped"] == straight[2]["stopped"]


def test_keras_traces_the_step_once_for_all_epochs(tmp_path):
    traced = []
    model = compiled_toy()
    step = model.train_step
    model.train_step = lambda data: traced.append(1) or step(data)
    run = RunFolder(tmp_path, {})
    report = train(model, Batches(), epochs=3, run=run)
    run.close()
    assert report["step"] == 3 * STEPS_PER_EPOCH
    assert len(traced) == 1
    assert int(model.optimizer.iterations.numpy()) == 3 * STEPS_PER_EPOCH


@pytest.mark.parametrize("replicas", [2, 3])
def test_killed_and_resumed_under_a_strategy(tmp_path, logical_cpus, replicas):
    """The last batch of an epoch holds one example: a replica and more get none."""
    strategy = make_strategy("mirrored", logical_cpus[:replicas])
    changes = {"scope": strategy, "epochs": 2, "patience": None}
    model, report = start(tmp_path / "straight", **changes)
    assert report["step"] == 2 * STEPS_PER_EPOCH
    assert (report["strategy"], report["replicas"]) == ("MirroredStrategy", replicas)
    with pytest.raises(Killed):
        start(tmp_path / "killed", KillAt(17), **changes)
    resumed, resumed_report = start(tmp_path / "killed", **changes)
    assert resumed_report["restarts"] == 1
    assert_equal(weights(model), weights(resumed))
    for record, other in zip(report["history"], resumed_report["history"], strict=True):
        # The sums of the loss are split anew among the replicas, in other floating-point parts.
        assert record.pop("training_loss") == pytest.approx(other.pop("training_loss"), rel=1e-6)
    assert comparable(resumed_report) == comparable(report)


def test_what_would_train_something_else_is_refused(tmp_path, logical_cpus):
    run = RunFolder(tmp_path, {})
    batches = Batches()

    def refused(message, model, **arguments):
        with pytest.raises(ValueError, match=message):
            train(model, batches, run=run, **({"epochs": 1} | arguments))

    refused("epochs must be at least 1, got 0", compiled_toy(), epochs=0)
    refused("every must be", compiled_toy(), evaluate=dict, evaluate_every=0)
    refused("every must be", compiled_toy(), checkpoint_every=0)
    refused(
        "ema_decay must be None with average_last 3, got 0.9",
        compiled_toy(),
        ema_decay=0.9,
        average_last=3,
    )
    refused("count must be at least 1, got -1", compiled_toy(), average_last=-1)
    early = keras.callbacks.EarlyStopping()
    refused("must not hold EarlyStopping, which would begin", compiled_toy(), callbacks=[early])
    refused("compiled", keras.Sequential([keras.layers.Dense(1)]))
    refused("use_ema", compiled_toy(optimizer=keras.optimizers.SGD(0.1, use_ema=True)))
    strategy = make_strategy("mirrored", logical_cpus)
    refused("scope of the strategy", compiled_toy(), strategy=strategy)
    several = compiled_toy()
    several.compile("sgd", "mse", steps_per_execution=2)
    refused("steps_per_execution must be 1, got 2", several)
    run.close()
