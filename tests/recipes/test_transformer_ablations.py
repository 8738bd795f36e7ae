"""The table of ablations: every row is a run of the recipe, and is trained once."""

import dataclasses
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
import tyro

import recipes.multi30k_transformer as recipe
import recipes.transformer_ablations as ablations
from tests.recipes.test_translation_recipes import write_parallel
from zoo.training.command import start

TINY = "--model-dim 8 --feed-forward-dim 8 --depth 1 --vocabulary-size 100 --beam-width 1"


def run_here(command, folder, environment):
    """Does what the command does, without a process that imports TensorFlow anew."""
    assert command[:3] == [sys.executable, "-m", recipe.__name__]
    assert folder == Path.cwd()
    checkout = Path(environment["PYTHONPATH"].split(os.pathsep)[0])
    assert (checkout / "recipes" / "multi30k_transformer.py").exists()
    recipe.main(parsed(command[3:]))
    return 0


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Settings, and the result, of a table with one row, of files in the layout of Multi30k."""
    folder = tmp_path_factory.mktemp("ablations")
    write_parallel(folder)
    settings = ablations.Settings(
        data_dir=folder, run_dir=folder / "table", rows=("1 head",), more=f"{TINY} --epochs 1"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("zoo.training.interruption.run_passing_signals", run_here)
        return settings, ablations.main(settings)


def parsed(flags):
    return tyro.cli(recipe.Settings, args=flags)


def test_a_row_is_a_run_of_the_recipe(tiny):
    settings, result = tiny
    folder = settings.run_dir / "1_head"
    stored = json.loads((folder / "settings.json").read_text())
    assert (stored["num_heads"], stored["model_dim"], stored["epochs"]) == (1, 8, 1)
    assert (stored["data"], stored["warmup_steps"]) == ("multi30k", 1_000)
    own = json.loads((folder / "result.json").read_text())
    (row,) = result["rows"]
    assert (row["test_bleu"], row["steps"]) == (own["bleu"], own["step"])
    assert row["validation_perplexity"] == own["history"][0]["perplexity"]
    assert row["parameters"] > 100 * 8
    assert json.loads((settings.run_dir / "result.json").read_text()) == result
    table = (settings.run_dir / "table.md").read_text().splitlines()
    assert table[2].startswith("| 1 head | ")
    assert {line.count("|") for line in table} == {8}


def test_complete_rows_are_kept_and_the_others_trained(tiny, monkeypatch):
    settings, result = tiny
    commands = []

    def pretend(command, *_):
        """Finishes at once, with what the first row gave; the last row fails."""
        commands.append(command)
        folder = Path(command[-1])
        if folder.name == "learned_positions":
            return 1
        shutil.copytree(settings.run_dir / "1_head", folder)
        return 0

    monkeypatch.setattr("zoo.training.interruption.run_passing_signals", pretend)
    wanted = dataclasses.replace(settings, rows=("dropout 0.0", "1 head", "learned positions"))
    with pytest.raises(ValueError, match="learned positions: the recipe ended with status 1"):
        ablations.main(wanted)
    assert [Path(command[-1]).name for command in commands] == ["dropout_0.0", "learned_positions"]
    assert commands[0][1:3] == ["-m", recipe.__name__]
    rows = json.loads((settings.run_dir / "result.json").read_text())["rows"]
    assert rows[0] == result["rows"][0]
    assert [row["row"] for row in rows] == ["1 head", "dropout 0.0"]  # in the order of the paper
    assert [row["paper_bleu"] for row in rows] == [24.9, 24.6]
    with pytest.raises(ValueError, match=r"1 head: .* holds it with other flags: .*--epochs 1 "):
        ablations.main(dataclasses.replace(settings, more=TINY))
    with pytest.raises(ValueError, match=r"1 head: .* holds it with other flags: .*--epochs 1 "):
        ablations.main(dataclasses.replace(settings, rows=("keys of 8",), more=TINY))


def test_a_perplexity_that_was_not_finite_is_in_the_table(tiny, tmp_path):
    settings, _ = tiny
    folder = shutil.copytree(settings.run_dir, tmp_path / "table")
    for file in (folder / "1_head" / "result.json", folder / "result.json"):
        values = json.loads(file.read_text())
        values.get("history", [{}])[0]["perplexity"] = None
        values.get("rows", [{}])[0]["validation_perplexity"] = None
        file.write_text(json.dumps(values))
    assert ablations.table([{"row": "1", **ablations.describe("1 head", folder / "1_head")}])
    result = ablations.main(dataclasses.replace(settings, run_dir=folder))
    assert ablations.table(result["rows"]).splitlines()[2].startswith("| 1 head | nan | ")


def test_a_row_that_a_signal_stops_ends_the_table_alike(tiny, monkeypatch):
    settings, _ = tiny
    monkeypatch.setattr("zoo.training.interruption.run_passing_signals", lambda *_: 143)
    with pytest.raises(SystemExit) as exit_:
        ablations.main(dataclasses.replace(settings, rows=("8 heads",)))
    assert exit_.value.code == 143


@pytest.mark.parametrize("name", ablations.ROWS)
def test_every_row_differs_from_the_first_in_one_setting(name):
    settings = ablations.Settings(more="--dropout 0.3 --label-smoothing 0.1")
    first, own = (parsed(ablations.flags_of(row, "multi30k", settings)) for row in ("base", name))
    fields = [field.name for field in dataclasses.fields(own)]
    differing = [field for field in fields if getattr(own, field) != getattr(first, field)]
    assert len(differing) == (name != "base")
    sizes = {"model_dim": 16, "feed_forward_dim": 8, "depth": 1, "vocabulary": "joint"}
    recipe.make_model(dataclasses.replace(own, **sizes), 20, 20).build()


def test_more_flags_win_over_the_budget_and_a_rows_own_over_both():
    settings = ablations.Settings(more="--epochs 7 --dropout 0.5", source="de", target="fr")
    found = parsed(ablations.flags_of("dropout 0.0", "multi30k", settings))
    assert (found.epochs, found.warmup_steps, found.dropout) == (7, 1_000, 0.0)
    assert (found.source, found.target, found.data) == ("de", "fr", "multi30k")


@pytest.mark.parametrize("arguments", [["--rows", "64 heads"], ["--rows"]])
def test_rows_that_there_are_not_are_one_line(arguments, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["transformer_ablations", *arguments])
    with pytest.raises(SystemExit) as exit_:
        start(ablations.main, ablations.Settings, ablations.__doc__)
    assert str(exit_.value.code).startswith("error: rows must be some of ['base', ")
