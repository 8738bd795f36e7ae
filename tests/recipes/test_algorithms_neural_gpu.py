"""The Neural GPU learns to reverse; settings reach what they name; a stopped run goes on."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import recipes.algorithms_neural_gpu as recipe
from tests.recipes.run_folder import check_run_folder
from zoo.data.symbol_algorithms import BinaryAddition
from zoo.serving.cards import read_card
from zoo.serving.load import load, load_servable
from zoo.tasks.export_again import export_again
from zoo.training.command import start
from zoo.training.optimizers import NoisyAdam
from zoo.training.runs import RunFolder

SMALL: dict[str, Any] = {
    "data": "sample",
    "epochs": 2,
    "growing_epochs": 2,
    "steps_per_epoch": 2,
    "batch_size": 4,
    "evaluation_sequences": 3,
    "test_sequences": 3,
    "maps": 3,
    "rows": 2,
    "depth": 1,
    "longest": 6,
    "test_lengths": (7,),
    "strategy": "none",
}


PAGE = Path(recipe.__file__).parents[1] / "docs" / "architectures" / "neural_gpu.md"


def test_rows_of_the_page_have_the_maps_that_their_commands_train() -> None:
    """A row that says `the same` has those of the last row that names a model."""
    maps, seen = 0, set()
    for row in PAGE.read_text(encoding="utf-8").partition("## Results")[2].splitlines():
        named = re.match(r"\| `NeuralGPU`, m (\d+)", row)
        maps = int(named[1]) if named else maps
        if row.startswith(("| `NeuralGPU`", "| the same")):
            task = re.search(r"--task (\w+)", row)
            data = "sample" if "sample" in row else "generated"
            own = recipe.OF_TASKS.get(task[1] if task else "reverse", {}).get(data, {})
            assert maps == (recipe.DEFAULTS[data] | own)["maps"], row
            seen.add((data, task and task[1]))
    assert len(seen) == 4


@pytest.mark.system
def test_it_learns_to_reverse(tmp_path: Path) -> None:
    """Shorter sequences than those of the sample, in half as many steps."""
    sizes = {"longest": 6, "test_lengths": (6, 8), "epochs": 5, "growing_epochs": 3}
    settings = recipe.Settings(data="sample", run_dir=tmp_path, **sizes)
    result = recipe.main(settings)
    found = check_run_folder(tmp_path, "whole_6")
    assert found["whole_6"] == result["whole_6"] >= 98
    assert found["whole_trained"] >= 98
    assert found["wrong_symbols_8"] < 40  # more places than in training
    curve = [one["whole"] for one in found["history"]]
    assert curve[0] < 80 < max(curve)
    serve = load_servable(tmp_path / "saved_model").signatures["serving_default"]
    asked = ["011010", "10", "1", "110001"]
    answers = serve(symbols=tf.constant(asked))["answer"].numpy()
    assert [one.decode() for one in answers] == [one[::-1] for one in asked]


@pytest.mark.parametrize(
    ("task", "symbols", "places"), [("duplicate", "012", 2), ("addition", "01+", 1)]
)
def test_every_algorithm_makes_a_model_of_its_symbols(task, symbols, places, tmp_path: Path):
    alphabet = 3 if task == "duplicate" else 2
    settings = recipe.Settings(task=task, alphabet=alphabet, run_dir=tmp_path, **SMALL)
    result = recipe.main(settings)
    card = read_card(tmp_path / "saved_model")
    assert card.tokenizer == {"characters": symbols, "places_per_symbol": places}
    assert card.config["vocabulary_size"] == len(symbols) + 2
    assert (card.task, card.data.name) == ("symbols", "sample")
    assert {"whole_trained", "wrong_symbols_trained", "whole_7", "wrong_symbols_7"} <= result.keys()
    again = export_again(tmp_path / "saved_model", tmp_path / "again")
    assert (again.config, again.tokenizer) == (card.config, card.tokenizer)


def test_a_question_is_a_sequence_of_the_algorithm_that_fits():
    task = recipe.SymbolTask("none", recipe.make_model, recipe.DEFAULTS, recipe.OF_TASKS)
    task.settings = task.resolve(recipe.Settings(task="addition", longest=8, data="sample"))
    asked = task.question()["symbols"]
    assert (len(asked), asked[3], set(asked)) == (7, "+", {"0", "1", "+"})
    assert task.algorithm == BinaryAddition()


@pytest.mark.parametrize(
    ("data", "algorithm", "expected"),
    [
        ("generated", "reverse", (24, 0.0, 5e-3, 20)),
        ("generated", "duplicate", (24, 0.05, 5e-3, 24)),
        ("generated", "addition", (32, 0.05, 1.5e-3, 60)),
        ("sample", "addition", (16, 0.0, 1e-2, 10)),
    ],
)
def test_defaults_of_an_algorithm_come_before_those_of_all(data, algorithm, expected):
    task = recipe.SymbolTask("none", recipe.make_model, recipe.DEFAULTS, recipe.OF_TASKS)
    found = task.resolve(recipe.Settings(data=data, task=algorithm))
    assert (found.maps, found.dropout, found.learning_rate, found.epochs) == expected
    given = task.resolve(recipe.Settings(data=data, task=algorithm, maps=7, dropout=0.5))
    assert (given.maps, given.dropout) == (7, 0.5)


def test_settings_reach_the_model_and_the_optimizer(tmp_path: Path) -> None:
    own = {"kernel_size": 5, "cutoff": 1.5, "dropout": 0.25, "rows": 3, "depth": 2}
    settings = recipe.Settings(run_dir=tmp_path, **(SMALL | own))
    task = recipe.SymbolTask("none", recipe.make_model, recipe.DEFAULTS, recipe.OF_TASKS)
    task.settings = task.resolve(settings)
    config = task.build().get_config()
    assert config | own | {"maps": 3, "vocabulary_size": 4} == config
    batches = task.encode()
    assert (batches.lengths, batches.growing, task.optimizer) == ((1, 6), 2, None)
    noisy = recipe.SymbolTask("none", recipe.make_model, recipe.DEFAULTS, recipe.OF_TASKS)
    noisy.settings = noisy.resolve(recipe.Settings(gradient_noise=0.3, seed=5, **SMALL))
    noisy.encode()
    optimizer = noisy.optimizer()
    assert isinstance(optimizer, NoisyAdam)
    assert (optimizer.gradient_noise, optimizer.noise_seed) == (0.3, 5)
    assert optimizer.global_clipnorm == 1.0


def test_longer_sequences_than_those_of_training_may_choose_the_weights():
    task = recipe.SymbolTask("none", recipe.make_model, recipe.DEFAULTS, recipe.OF_TASKS)
    longest = []
    for changes in ({}, {"evaluation_longest": 12}):
        task.settings = task.resolve(recipe.Settings(task="duplicate", **(SMALL | changes)))
        longest.append(max(task.evaluator(task.build()).lengths))
    assert longest == [3, 6]  # symbols, each of which is written twice


def test_sequences_have_grown_by_the_end_of_a_short_training(tmp_path: Path) -> None:
    """The sample grows for five epochs by default."""
    settings = recipe.Settings(run_dir=tmp_path, **(SMALL | {"growing_epochs": None}))
    recipe.main(settings)
    told = "growing_epochs: 2 instead of 5, for 2 epochs in all"
    assert told in (tmp_path / "train.log").read_text()
    task = recipe.SymbolTask("none", recipe.make_model, recipe.DEFAULTS, recipe.OF_TASKS)
    task.settings, task.folder = task.resolve(settings), RunFolder(tmp_path / "other", {})
    batches = task.encode()
    assert batches.longest(settings.epochs - 1) == 6
    longer = recipe.Settings(run_dir=tmp_path, **(SMALL | {"growing_epochs": None, "epochs": 9}))
    task.settings, task.folder = task.resolve(longer), RunFolder(tmp_path / "other", {})
    assert task.encode().longest(2) == batches.longest(2)  # they do not begin to grow again
    resolved = task.resolve(recipe.Settings(data="sample", epochs=3, growing_epochs=3))
    assert resolved.growing_epochs == 3


def test_a_stopped_run_goes_on_to_the_same_end(tmp_path: Path) -> None:
    """With noise on the gradients and dropout, which are drawn alike."""
    own = {"gradient_noise": 0.3, "dropout": 0.2, "evaluate_every": 1, "checkpoint_every": 1}
    straight = recipe.Settings(run_dir=tmp_path / "straight", **(SMALL | own))
    recipe.main(straight)
    stopped = recipe.Settings(run_dir=tmp_path / "stopped", **(SMALL | own), maximum_minutes=1e-9)
    recipe.main(stopped)
    first = json.loads((tmp_path / "stopped" / "result.json").read_text())
    assert first["step"] < 4
    resumed = recipe.Settings(run_dir=tmp_path / "stopped", **(SMALL | own))
    second = recipe.main(resumed)
    assert second["step"] == 4
    for one, other in zip(
        load(tmp_path / "straight" / "saved_model").get_weights(),
        load(tmp_path / "stopped" / "saved_model").get_weights(),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ("--task", "addition", "--longest", "2"),
            "longest must be places for one symbol at least",
        ),
        (
            ("--test-lengths", "4", "1", "--task", "duplicate"),
            "test_lengths must be places for one",
        ),
        (("--evaluation-longest", "1", "--task", "duplicate"), "evaluation_longest must be places"),
        (("--task", "addition", "--alphabet", "3"), "alphabet must be 2 with the task addition"),
        (("--alphabet", "99"), "alphabet must be at most 36 symbols, got 99"),
        (("--alphabet", "1"), "alphabet must be at least 2 symbols, got 1"),
        (
            ("--epochs", "4", "--growing-epochs", "5"),
            "growing_epochs must be at most epochs, 4, got 5",
        ),
    ],
)
def test_settings_that_an_algorithm_cannot_have_are_one_line(flags, message, tmp_path, monkeypatch):
    run_dir = tmp_path / "run"
    monkeypatch.setattr(sys, "argv", [recipe.__name__, *flags, "--run-dir", str(run_dir)])
    with pytest.raises(SystemExit) as exit_:
        start(recipe.main, recipe.Settings, recipe.__doc__)
    assert str(exit_.value.code).startswith(f"error: {message}")
    assert "\n" not in str(exit_.value.code)
    assert not run_dir.exists()
