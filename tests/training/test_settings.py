"""Effects of the shared settings: rates, optimizer, averages, run folders."""

import dataclasses
import json
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.training.toy import Batches, built_toy, first_inputs, scores
from zoo.models.core.registry import models
from zoo.training.cluster import Workers
from zoo.training.distribution import make_strategy
from zoo.training.optimizers import OnePassAdam
from zoo.training.runs import RunFolder
from zoo.training.schedules import InverseSquareRootDecay
from zoo.training.settings import (
    TrainingSettings,
    build_and_compile,
    fit_warmup,
    learning_rate,
    open_run,
    resolve,
    train,
)


@dataclasses.dataclass(frozen=True)
class Settings(TrainingSettings):
    data: str = "toy"
    epochs: int | None = 1
    learning_rate: float | None = 0.1
    strategy: str = "none"


@pytest.fixture
def no_device_hidden(monkeypatch):
    """Where there are GPUs it is too late to hide them."""
    monkeypatch.setattr(tf.config, "set_visible_devices", lambda *chosen: None)


def make_toy():
    """A built model, not compiled."""
    model = built_toy()
    model.build = lambda: model(first_inputs())
    return model


def rates(steps, count=None, **changes):
    schedule = learning_rate(Settings(**changes), steps)
    return [float(schedule(step)) for step in range(count or steps)]


def test_without_more_the_rate_falls_along_a_cosine_to_a_twentieth():
    found = rates(200, 201)
    cosine = (1 + np.cos(np.pi * np.arange(201) / 200)) / 2
    np.testing.assert_allclose(found, 0.1 * (0.05 + 0.95 * cosine), rtol=1e-5)
    assert rates(200, 201, warmup_steps=0) == found


def test_a_warm_up_comes_before_the_cosine():
    found = rates(200, 201, warmup_steps=50)
    np.testing.assert_allclose(found[:51], 0.1 * np.arange(51) / 50, rtol=1e-5)
    cosine = (1 + np.cos(np.pi * np.arange(151) / 150)) / 2
    np.testing.assert_allclose(found[50:], 0.1 * (0.05 + 0.95 * cosine), rtol=1e-5)


def test_the_schedule_of_the_transformer():
    chosen = {"schedule": "inverse_square_root", "warmup_steps": 50}
    expected = InverseSquareRootDecay(0.1, 50)
    assert rates(200, **chosen) == [float(expected(step)) for step in range(200)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schedule": "inverse_square_root"}, "warmup_steps must be a number .*, got None"),
        ({"schedule": "inverse_square_root", "warmup_steps": 0}, "warmup_steps must be positive"),
        ({"warmup_steps": 10}, "warmup_steps must be less than the 10 of the training, got 10"),
        ({"warmup_steps": -1}, "warmup_steps must be less .*, got -1"),
    ],
)
def test_a_warm_up_that_does_not_fit_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        learning_rate(Settings(**changes), 10)


def test_the_optimizer_has_the_constants_of_the_settings():
    for changes, expected in (
        ({}, (0.999, 1e-7, 5.0)),
        ({"beta_2": 0.98, "epsilon": 1e-9, "clip_norm": None}, (0.98, 1e-9, None)),
    ):
        optimizer = build_and_compile(
            Settings(**changes), Workers(make_strategy("none")), make_toy, 11
        ).optimizer
        assert type(optimizer) is OnePassAdam
        assert optimizer.beta_1 == 0.9
        found = (optimizer.beta_2, optimizer.epsilon, optimizer.global_clipnorm)
        assert found == expected


def opened(settings) -> None:
    run, _ = open_run(settings)
    run.close()


def test_a_default_may_be_none_and_what_is_given_wins():
    shared = {"toy": {"ema_decay": 0.9, "warmup_steps": 7}}
    own = {"toy": {"ema_decay": None, "average_last": 3}, "other": {"warmup_steps": 9}}
    found = resolve(Settings(), "recipe", "toy", shared, own)
    assert (found.ema_decay, found.average_last, found.warmup_steps) == (None, 3, 7)
    found = resolve(Settings(ema_decay=0.5, average_last=0), "recipe", "toy", shared, own)
    assert (found.ema_decay, found.average_last) == (0.5, 0)


def test_averages_of_the_last_evaluations_are_trained(tmp_path):
    settings = Settings(run_dir=tmp_path, average_last=2, evaluate_every=4)
    (run, workers), model = open_run(settings), built_toy()
    report = train(settings, model, Batches(), run, workers, scores(model), monitor="f1")
    run.close()
    recorded = {"precision": "float32", "accumulate": 1, "deterministic": False}
    assert report.items() >= ({"strategy": "_DefaultDistributionStrategy"} | recorded).items()
    assert [record["step"] for record in report["history"]] == [4, 8, 11]
    checkpoint = max((tmp_path / "checkpoints").glob("0*"))
    index = (checkpoint / "state.index").read_bytes()
    assert b"average" in index


def test_files_that_the_export_would_remove_are_noticed_before_the_first_step(tmp_path: Path):
    folder = tmp_path / "saved_model"
    folder.mkdir()
    (folder / "saved_model.pb").touch()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"do not belong to its SavedModel: notes\.txt"):
        open_run(Settings(run_dir=tmp_path))
    assert (folder / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(("name", "value"), [("precision", "mixed_float16"), ("seed", 7)])
def test_what_would_be_another_training_is_not_gone_on_with(
    tmp_path: Path, name, value, no_device_hidden
):
    settings = Settings(run_dir=tmp_path)
    opened(settings)
    (tmp_path / "checkpoints" / "0000001").mkdir(parents=True)
    with pytest.raises(ValueError, match=f"{name}: .* in the folder, {value!r} now"):
        open_run(dataclasses.replace(settings, **{name: value}))
    for changed in ({"devices": "cpu:2", "strategy": "auto"}, {"accumulate": 4}):
        settings = dataclasses.replace(settings, **changed)
        opened(settings)


def test_a_folder_without_a_step_is_begun_anew_and_keeps_what_is_not_its_own(tmp_path: Path):
    settings = Settings(run_dir=tmp_path)
    opened(settings)
    (tmp_path / "vocabulary" / "words.txt").write_text("of other settings")
    (tmp_path / "notes.txt").write_text("mine")
    other = dataclasses.replace(settings, seed=7)
    run, _ = open_run(other)
    assert not run.resumed
    assert list(run.vocabulary.iterdir()) == []
    assert json.loads((tmp_path / "settings.json").read_text())["seed"] == 7
    run.discard()
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    opened(other)
    (tmp_path / "checkpoints" / "0000001").mkdir(parents=True)
    run, _ = open_run(other)
    run.discard()  # it is gone on with, and nothing is lost
    assert (tmp_path / "settings.json").exists()


def test_a_default_warm_up_that_does_not_fit_is_shortened_with_a_line(tmp_path: Path):
    run = RunFolder(tmp_path, {})
    settings = Settings(warmup_steps=300)
    assert fit_warmup(settings, 300, 50, run) is settings  # asked for: refused later
    assert fit_warmup(settings, None, 301, run) is settings
    assert "warmup_steps" not in run.log.read_text()
    assert not run.shortened.exists()
    assert fit_warmup(settings, None, 50, run).warmup_steps == 5
    assert "warmup_steps: 5 instead of 300, for 50 steps in all" in run.log.read_text()


def test_a_shortened_warm_up_stays_so_in_a_longer_training(tmp_path: Path):
    """Else the rate would rise once more, from where it had fallen to."""
    settings = Settings(warmup_steps=300)
    for steps, expected in ((50, 5), (5000, 5), (40, 4), (400, 4)):
        run = RunFolder(tmp_path, {})
        assert fit_warmup(settings, None, steps, run).warmup_steps == expected
        run.close()
    told = "warmup_steps: 4 instead of 300, as the run began, for 400 steps in all"
    assert told in run.log.read_text()
    run.manifest.check()
    run = RunFolder(tmp_path, {}, fresh=True)
    assert fit_warmup(settings, None, 400, run) is settings
    run.close()


@pytest.mark.parametrize("none", [None, 0])
def test_nought_is_none_where_the_data_have_a_default(none, monkeypatch, tmp_path: Path):
    asked = {}
    monkeypatch.setattr(
        "zoo.training.loop.train", lambda *_, **options: asked.update(options) or {}
    )
    defaults = {"toy": {"patience": 3, "evaluate_every": 176}}
    settings = resolve(Settings(patience=none, evaluate_every=none), "recipe", "toy", defaults)
    run = RunFolder(tmp_path, {})
    train(settings, built_toy(), Batches(), run, Workers(make_strategy("none")), dict, "f1")
    run.close()
    expected = (3, 176) if none is None else (None, None)
    assert (asked["patience"], asked["evaluate_every"]) == expected


def test_operations_are_made_deterministic_where_that_is_asked_for(tmp_path: Path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        tf.config.experimental, "enable_op_determinism", lambda: asked.append("yes")
    )
    opened(Settings(run_dir=tmp_path / "first"))
    assert not asked
    opened(Settings(run_dir=tmp_path / "second", deterministic=True))
    assert asked == ["yes"]


@pytest.mark.parametrize("precision", ["float32", "mixed_bfloat16", "mixed_float16"])
def test_a_model_is_built_on_the_devices_and_in_the_precision_of_the_settings(
    tmp_path: Path, precision, no_device_hidden
):
    settings = Settings(
        run_dir=tmp_path, precision=precision, devices="cpu:2", strategy="auto", accumulate=3
    )
    classifier = models()["LSTMNClassifier"].cls
    run, workers = open_run(settings)
    run.close()
    model = build_and_compile(settings, workers, lambda: classifier.from_preset("tiny"), 11)
    assert model.dtype_policy.name == precision
    assert model.accumulate == 3
    assert model.distribute_strategy.num_replicas_in_sync == 2
    scaled = isinstance(model.optimizer, keras.optimizers.LossScaleOptimizer)
    assert scaled == (precision == "mixed_float16")


def test_an_optimizer_of_ones_own_is_taken():
    given, alone = keras.optimizers.SGD(0.25), Workers(make_strategy("none"))
    assert build_and_compile(Settings(), alone, make_toy, 11, lambda: given).optimizer is given


def test_a_model_that_is_built_begins_with_its_weights() -> None:
    built, alone = built_toy(), Workers(make_strategy("none"))
    before = [weight.numpy() + 1.0 for weight in built.weights]
    built.set_weights(before)
    found = build_and_compile(Settings(), alone, lambda: built, 11)
    assert found.optimizer is not None
    for weight, expected in zip(found.weights, before, strict=True):
        np.testing.assert_array_equal(weight, expected)
