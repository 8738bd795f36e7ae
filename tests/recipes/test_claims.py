"""Claims over seeds: which runs are made, what is gathered of them, and what is refused."""

import dataclasses
import importlib
import json
import re
import sys
from pathlib import Path

import pytest
import tyro

import recipes.claims as claims
from zoo.files import whole_text
from zoo.training.command import start

ALL = [(claim, row) for claim, found in claims.CLAIMS.items() for row in found.rows]

COMPARED = {
    "hops": {"pooling", "penalty"},
    "intra": {"intra"},
    "mechanisms": {"mechanism", "score"},
    "biases": {"biases"},
    "over": {"attention"},
    "coattention": {"iterations", "attention", "scorer", "model"},
    "slots": {"query", "window"},
    "locations": {"locations", "first_location", "sigma"},
}
"""The settings in which a claim's rows may differ."""


def parsed(claim, flags):
    return tyro.cli(importlib.import_module(claims.CLAIMS[claim].recipe).Settings, args=flags)


@pytest.mark.parametrize(("claim", "row"), ALL)
def test_rows_differ_from_the_first_in_one_setting(claim, row):
    settings = claims.Settings(claim)
    first = next(iter(claims.CLAIMS[claim].rows))
    for data in claims.CLAIMS[claim].budgets:
        one, two = (
            parsed(claim, claims.flags_of(name, 3, data, settings)) for name in (first, row)
        )
        names = [field.name for field in dataclasses.fields(one)]
        differing = [name for name in names if getattr(one, name) != getattr(two, name)]
        assert (row != first) == bool(differing)
        assert {*differing} <= COMPARED[claim]
        assert (two.seed, two.data) == (3, data)


@pytest.mark.parametrize(("claim", "row"), ALL)
def test_the_recipe_of_a_claim_has_a_use_for_all_settings_of_its_rows(claim, row, monkeypatch):
    recipe = importlib.import_module(claims.CLAIMS[claim].recipe)
    monkeypatch.setattr(recipe, "run", lambda settings, task: "begun")
    for data in claims.CLAIMS[claim].budgets:
        flags = claims.flags_of(row, 3, data, claims.Settings(claim))
        assert recipe.main(parsed(claim, flags)) == "begun"


@pytest.mark.parametrize("claim", claims.CLAIMS)
def test_without_data_a_claim_is_settled_on_its_sample(claim, monkeypatch, tmp_path):
    monkeypatch.delenv("ZOO_DATA", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    assert claims.choose_data(claims.Settings(claim), claims.CLAIMS[claim]) == "sample"
    real = next(iter(claims.CLAIMS[claim].budgets))
    assert claims.data_set(real).name == real
    with pytest.raises(FileNotFoundError, match=f"no data set is complete: {real} needs "):
        claims.choose_data(claims.Settings(claim, data_dir=tmp_path), claims.CLAIMS[claim])


@pytest.fixture
def pretended(monkeypatch):
    """Commands of the runs, which end at once with results of this test's own."""
    commands = []

    def pretend(command, *_):
        commands.append(command)
        flags, folder = command[3:-2], Path(command[-1])
        seed = int(flags[flags.index("--seed") + 1])
        if "fail" in flags:
            return 1
        accuracy = {"--penalty": 80.0, "--pooling": 70.0}[flags[-2]] + seed
        result = {"accuracy": accuracy, "seconds": 60.0 * seed}
        if flags[-2] == "--penalty":
            result["overlap"] = 0.01
        (folder / "saved_model").mkdir(parents=True)
        with whole_text(folder / "result.json") as file:
            file.write(json.dumps(result))
        return 0

    monkeypatch.setattr("zoo.training.interruption.run_passing_signals", pretend)
    card = dataclasses.make_dataclass("Card", ["total_parameters"])
    monkeypatch.setattr("zoo.serving.cards.read_card", lambda _: card(1234))
    return commands


def test_runs_are_made_seed_by_seed_and_kept(pretended, tmp_path):
    settings = claims.Settings(
        "hops", data="sample", run_dir=tmp_path, seeds=(1, 3), rows=("max pooling", "penalty")
    )
    rows = claims.main(settings)["rows"]
    names = [Path(command[-1]).name for command in pretended]
    assert names == [f"{row}_seed_{n}" for n in (1, 3) for row in ("penalty", "max_pooling")]
    assert [row["row"] for row in rows] == ["penalty", "max pooling"]
    assert rows[0]["accuracy"] == [81, 83]
    assert rows[1]["overlap"] == []
    lines = (tmp_path / "table.md").read_text().splitlines()
    assert lines[2] == "| penalty | 2 | 82.00 \u00b1 1.41 | 0.0100 \u00b1 0.0000 | 1,234 | 2.0 |"
    assert lines[3] == "| max pooling | 2 | 72.00 \u00b1 1.41 |  | 1,234 | 2.0 |"
    assert (tmp_path / "claim.png").stat().st_size > 1000
    rows = claims.main(dataclasses.replace(settings, seeds=(2,)))["rows"]  # and the others stay
    assert len(pretended) == 6
    assert rows[0]["accuracy"] == [81, 82, 83]
    again = dataclasses.replace(settings, more="--epochs 9")
    with pytest.raises(ValueError, match=r"penalty, seed 1: .* holds it with other flags: .*"):
        claims.main(again)
    changed_later = dataclasses.replace(again, seeds=(7, 1))
    with pytest.raises(ValueError, match=r"penalty, seed 1: .* holds it with other flags: .*"):
        claims.main(changed_later)
    # Nor may other seeds or rows be compared with those that are there.
    for other in ({"seeds": (5,)}, {"rows": ("mean pooling",)}):
        with pytest.raises(ValueError, match=r"penalty, seed 1: .* holds it with other flags: .*"):
            claims.main(dataclasses.replace(again, **other))
    assert len(pretended) == 6  # nothing is trained before it is refused
    apart = dataclasses.replace(settings, run_dir=tmp_path / "apart", seeds=(5,), more="fail")
    with pytest.raises(ValueError, match="penalty, seed 5: the recipe ended with status 1"):
        claims.main(apart)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--rows", "hop"], "rows must be some of ['penalty', 'a tenth of it', 'no penalty', "),
        (["--seeds", "1", "1"], "seeds must be different numbers, got [1, 1]"),
        (["--seeds"], "seeds must be different numbers, got []"),
        (["--data", "sick"], "data must be one of ['auto', 'mr', 'imdb', 'sample'], got 'sick'"),
    ],
)
def test_what_there_is_not_is_one_line(arguments, told, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["claims", "hops", *arguments])
    with pytest.raises(SystemExit) as exit_:
        start(claims.main, claims.Settings, claims.__doc__)
    assert str(exit_.value.code).startswith(f"error: {told}")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("--seed 3", "more must not have --seed, which the study gives its runs"),
        ("--epochs 1 --data=sample", "more must not have --data, which the study gives its runs"),
        ("--data_dir x", "more must not have --data-dir, which the study gives its runs"),
        ("--run-dir x", "more must not have --run-dir, which the study gives its runs"),
        ("--vectors 'a b", 'more must be flags as in a shell, got "--vectors \'a b": No closing'),
    ],
)
def test_flags_of_all_runs_leave_alone_those_that_a_run_is_given(more, told, pretended, tmp_path):
    """The last value of a flag wins: all seeds would be one."""
    with pytest.raises(ValueError, match=f"^{re.escape(told)}"):
        claims.main(claims.Settings("hops", data="sample", run_dir=tmp_path / "new", more=more))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ({"rows": [{"row": "x, seed 1", "flags": []}]}, "hold rows of another study, got .*'x, se"),
        ({"rows": [{"row": "base", "flags": []}]}, "hold rows of another study, got .*with 'base'"),
        ({"accuracy": 1.0}, "be a study's folder or a new one, got .*result.json of no study"),
        ({"rows": [{"model": "soft"}]}, "be a study's folder or a new one, got .* of no study"),
    ],
)
def test_rows_of_something_else_are_not_overwritten(held, told, pretended, tmp_path):
    (tmp_path / "result.json").write_text(json.dumps(held))
    with pytest.raises(ValueError, match=rf"^run_dir must (not )?{told}"):
        claims.main(claims.Settings("hops", data="sample", run_dir=tmp_path, seeds=(1,)))
    assert json.loads((tmp_path / "result.json").read_text()) == held
    assert not pretended
