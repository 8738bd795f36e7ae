"""The one pipeline: the way of a setting to the optimizer, and what is made once."""

import traceback
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import recipes.copy_ntm as copy
import recipes.squad_dcn as squad
import recipes.wikitext_lstmn as recipe
from tests.layering import MAY_IMPORT
from zoo.training.cluster import Workers

ROOT = Path(__file__).resolve().parents[3]
PATH_OF_A_SETTING = (
    "recipes/wikitext_lstmn.py",
    "zoo/tasks/shared/training_run.py",
    "zoo/training/settings.py",
)
"""Files on the stack when the optimizer is made; docs/architecture.md names them."""
SMALL = {"data": "sample", "embedding_dim": 4, "hidden_dim": 4, "strategy": "none"}


class Reached(BaseException):
    """Ends the recipe where the optimizer would be made."""


def test_a_setting_reaches_the_optimizer_downwards_through_few_files(tmp_path, monkeypatch):
    seen = {}

    def optimizer(*arguments, **options):
        seen["options"] = options
        stack = [Path(frame.filename) for frame in traceback.extract_stack()]
        own = [path.relative_to(ROOT).as_posix() for path in stack if path.is_relative_to(ROOT)]
        own = [path for path in own if path.startswith(("zoo/", "recipes/"))]
        seen["files"] = list(dict.fromkeys(own))
        raise Reached

    monkeypatch.setattr("zoo.training.optimizers.OnePassAdam", optimizer)
    with pytest.raises(Reached):
        recipe.main(recipe.Settings(run_dir=tmp_path, epsilon=1e-3, **SMALL))
    assert seen["options"]["epsilon"] == 1e-3
    assert tuple(seen["files"]) == PATH_OF_A_SETTING
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert all(path in page for path in PATH_OF_A_SETTING[1:])
    # Each may import the part of the next one, and not the other way round.
    parts = [path.removeprefix("zoo/").split("/")[0] for path in PATH_OF_A_SETTING]
    for above, below in pairwise(parts):
        assert below in MAY_IMPORT[above]
        assert above not in MAY_IMPORT[below]


def test_the_strategy_is_made_once(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(Workers, "__init__", count(made, Workers.__init__))

    def train(settings, model, batches, run, workers, evaluate, **_):
        made.append(("trained", workers.strategy is model.distribute_strategy))
        raise Reached

    monkeypatch.setattr("zoo.tasks.shared.training_run.train", train)
    with pytest.raises(Reached):
        recipe.main(recipe.Settings(run_dir=tmp_path, optimizer="sgd", **SMALL))
    assert made == ["workers", ("trained", True)]


def count(made, init):
    def counted(self, strategy):
        made.append("workers")
        init(self, strategy)

    return counted


def test_the_learning_rate_falls_over_the_steps_that_are_taken(tmp_path, monkeypatch):
    """Questions whose answer lies beyond the cut are not trained on."""
    steps = {}

    def adam(settings, count):
        steps["schedule"] = count
        return "sgd"

    def train(settings, model, batches, *_, **__):
        steps["taken"] = settings.epochs * batches.steps_per_epoch
        raise Reached

    monkeypatch.setattr("zoo.tasks.shared.training_run.train", train)
    monkeypatch.setattr("zoo.training.settings.adam", adam)
    small = {"data": "sample", "hidden_dim": 4, "batch_size": 10, "strategy": "none"}
    settings = squad.Settings(run_dir=tmp_path, maximum_context_tokens=12, **small)
    with pytest.raises(Reached):
        squad.main(settings)
    assert steps["schedule"] == steps["taken"]


def test_a_refused_run_afresh_leaves_the_earlier_one_as_it_is(tmp_path):
    small = {"epochs": 1, "heads": 1, "steps_per_epoch": 2, "strategy": "none"}
    settings = copy.Settings(data="sample", run_dir=tmp_path, **small)
    copy.main(settings)
    before = {path: path.read_bytes() for path in tmp_path.rglob("[!.]*") if path.is_file()}
    with pytest.raises(ValueError, match="warmup_steps must"):
        copy.main(replace(settings, fresh=True, warmup_steps=9))
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("[!.]*") if path.is_file()}
