"""The machine learns to copy; settings reach what they name; a stopped run goes on."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recipes.copy_ntm as copying
from tests.recipes.run_folder import check_run_folder, run_recipe
from zoo.data.algorithms import Copy
from zoo.serving.cards import read_card
from zoo.serving.load import load, load_servable
from zoo.tasks.algorithms.examples import as_pair
from zoo.tasks.algorithms.recipe import AlgorithmTask
from zoo.tasks.export_again import export_again
from zoo.training.command import start

SMALL = {
    "epochs": 1,
    "steps_per_epoch": 2,
    "batch_size": 4,
    "evaluation_sequences": 3,
    "bits": 2,
    "longest": 3,
    "test_lengths": (4,),
    "strategy": "none",
}
MACHINE = {**SMALL, "controller_dim": 4, "slots": 5, "slot_dim": 3}
BASELINE = {**SMALL, "model": "lstm", "hidden_dim": 4}


@pytest.mark.system
def test_it_learns_to_copy(tmp_path: Path) -> None:
    settings = copying.Settings(data="sample", run_dir=tmp_path)
    result = copying.main(settings)
    found = check_run_folder(tmp_path, "bits_5")
    assert found["bits_5"] == result["bits_5"] < 0.5
    assert found["wrong_bits_5"] < 1
    assert found["wrong_bits_10"] < 5  # which it has never seen
    curve = [one["bits"] for one in found["history"]]
    assert curve[0] > 2 > min(curve)
    assert (tmp_path / "learning_curve.png").stat().st_size > 5_000
    serve = load_servable(tmp_path / "saved_model").signatures["serving_default"]
    inputs, targets = as_pair(Copy(bits=4).draw(np.random.default_rng(9), 20, 5))
    answers = serve(**inputs)
    bits = np.array(
        [[[int(c) for c in step.decode()] for step in row] for row in answers["bits"].numpy()]
    )
    assert (bits[:, 7:] == targets[:, 7:]).mean() > 0.99


def test_longer_sequences_than_those_of_training_may_choose_the_weights():
    task = AlgorithmTask("none", copying.make_model, copying.DEFAULTS, copying.OF_TASKS)
    evaluated = []
    for changes in ({}, {"evaluation_longest": 11}, {"evaluation_longest": 4}):
        task.settings = task.resolve(copying.Settings(**(MACHINE | changes)))
        evaluated.append(list(task.evaluator(task.build()).lengths))
    assert evaluated == [[1, 2, 3], [1, 3, 5, 7, 9, 11], [1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("task", "sizes"),
    [("repeat_copy", (4, 3)), ("recall", (4, 2)), ("sort", (4, 2)), ("ngrams", (1, 1))],
)
def test_every_algorithm_makes_a_model_of_its_sizes(task, sizes, tmp_path: Path) -> None:
    own: dict[str, Any] = {"shortest": 2}
    if task == "ngrams":
        own = {"bits": None, "shortest": 8, "longest": 9, "test_lengths": (10,)}
    settings = copying.Settings(data="sample", task=task, run_dir=tmp_path, **(MACHINE | own))
    result = copying.main(settings)
    config = read_card(tmp_path / "saved_model").config
    assert (config["input_dim"], config["output_dim"]) == sizes
    assert config["read_heads"] == config["write_heads"] == (5 if task == "sort" else 1)
    if task == "ngrams":
        assert 0 < result["optimal_bits_10"] <= 5 < 6 * result["bits_10"]
    else:
        assert result["bits_4"] > 0


@pytest.mark.parametrize(
    ("data", "task", "expected"),
    [
        ("generated", "copy", (40, 1)),
        ("generated", "recall", (80, 1)),
        ("generated", "sort", (40, 5)),
        ("sample", "recall", (8, 1)),
        ("sample", "sort", (8, 5)),
    ],
)
def test_defaults_of_an_algorithm_come_before_those_of_all(data, task, expected):
    made = AlgorithmTask("none", copying.make_model, copying.DEFAULTS, copying.OF_TASKS)
    found = made.resolve(copying.Settings(data=data, task=task))
    assert (found.epochs, found.heads) == expected


def test_settings_reach_the_model_and_the_paper_s_optimizer_is_there(tmp_path: Path) -> None:
    settings = copying.Settings(
        run_dir=tmp_path,
        controller="feed_forward",
        heads=2,
        first_memory="learnt",
        optimizer="rmsprop",
        **MACHINE,
    )
    copying.main(settings)
    model = load(tmp_path / "saved_model")
    config = model.get_config()
    assert (config["controller"], config["read_heads"], config["write_heads"]) == (
        "feed_forward",
        2,
        2,
    )
    assert config["first_memory"] == "learnt"
    card = read_card(tmp_path / "saved_model")
    assert (card.task, card.data.name) == ("algorithms", "drawn: copy")
    again = export_again(tmp_path / "saved_model", tmp_path / "again")
    assert again.config == card.config


def test_the_baseline_has_no_picture_of_a_memory(tmp_path: Path) -> None:
    settings = copying.Settings(run_dir=tmp_path, **BASELINE)
    copying.main(settings)
    check_run_folder(tmp_path, "bits_4", attends=False)
    config = read_card(tmp_path / "saved_model").config
    assert config["hidden_dim"] == 4


def test_the_same_command_reports_a_complete_run_again(tmp_path: Path) -> None:
    settings = copying.Settings(run_dir=tmp_path, **BASELINE)
    first = copying.main(settings)
    second = copying.main(settings)
    assert first["history"] == second["history"]
    assert first["bits_4"] == second["bits_4"]
    stored = json.loads((tmp_path / "result.json").read_text())
    assert stored["bits_4"] == second["bits_4"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--task", "recall", "--shortest", "1"), "shortest must be at least 2 items, got 1"),
        (
            ("--task", "recall", "--test-lengths", "2", "1"),
            "test_lengths must be at least 2 items, got 1",
        ),
        (("--shortest", "9", "--longest", "3"), "longest must be at least shortest, 9, got 3"),
        (
            ("--shortest", "9", "--evaluation-longest", "8"),
            "evaluation_longest must be at least shortest, 9, got 8",
        ),
        (("--task", "ngrams", "--bits", "2"), "bits must be left out with the task ngrams, got 2"),
        (("--test-lengths", "0"), "test_lengths must be positive, got 0"),
        (
            ("--clip-norm", "5"),
            "clip_norm must be left out with the optimizer rmsprop, got 5.0",
        ),
    ],
)
def test_settings_that_an_algorithm_cannot_have_are_one_line(
    flags, message, tmp_path: Path, monkeypatch
) -> None:
    folder = tmp_path / "run"
    monkeypatch.setattr(sys, "argv", [copying.__name__, *flags, "--run-dir", str(folder)])
    with pytest.raises(SystemExit) as exit_:
        start(copying.main, copying.Settings, copying.__doc__)
    assert exit_.value.code == f"error: {message}"
    assert not folder.exists()


def test_lengths_are_checked_without_the_command_too():
    for name, value in (("shortest", 0), ("test_lengths", (3, 0))):
        made = AlgorithmTask("none", copying.make_model, copying.DEFAULTS, copying.OF_TASKS)
        with pytest.raises(ValueError, match=f"{name} must be positive, got 0"):
            made.resolve(copying.Settings(**{name: value}))


def test_the_command_refuses_a_setting_in_one_line_with_status_one(tmp_path: Path) -> None:
    finished = run_recipe("copy_ntm", "--test-lengths", "0", "--run-dir", str(tmp_path / "run"))
    assert finished.returncode == 1
    last = finished.stderr.strip().splitlines()[-1]
    assert last == "error: test_lengths must be positive, got 0"
