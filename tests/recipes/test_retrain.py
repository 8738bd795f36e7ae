"""The commands behind the shipped models, and the README's table of their cards."""

import importlib
import json
import shlex
from pathlib import Path

import pytest
import tyro

import recipes.results as results
import recipes.retrain as retrain
from zoo.serving.cards import read_card

SHIPPED = sorted(path.parent.name for path in retrain.ROOT.glob("saved_models/*/model_card.json"))


def test_every_shipped_model_has_its_commands_and_its_row() -> None:
    assert sorted(retrain.SHIPPED) == sorted(results.ROWS) == SHIPPED
    assert [*retrain.SHIPPED] == [*results.ROWS]
    assert results.WITHOUT_CARD.keys() <= results.ROWS.keys()
    assert all(len(row) == len(results.HEADER) for row in sum(results.WITHOUT_CARD.values(), ()))


def test_the_table_of_the_readme_is_that_of_the_cards() -> None:
    _, place, _ = results.divided((results.ROOT / "README.md").read_text(encoding="utf-8"))
    assert place.strip() == results.table(), "python -m recipes.results --write"


def test_a_row_has_the_figures_of_the_card() -> None:
    card = read_card(results.ROOT / "saved_models" / "sick_decomposable")
    row = results.Row("[A](a.md)", "B", ("accuracy", "loss"), "C", "vectors from D")
    card.metrics.update({"accuracy": 76.954, "loss": 0.5})
    here, trained, parameters, size = (results.cells(row, card, 400_000)[n] for n in (2, 4, 5, 6))
    assert (here, size) == ("76.95 / 0.50", "0.4 MB")
    minutes = round(card.wall_time_seconds / 60)
    assert trained == f"2 CPU cores, {minutes} min, vectors from D"
    fixed = card.total_parameters - card.trainable_parameters
    assert fixed > 0
    assert parameters == f"{card.trainable_parameters:,} + {fixed:,} in fixed word vectors"
    assert results.told_hardware("1 H100") == "1 H100"


def test_a_readme_without_a_place_is_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(results, "ROOT", tmp_path)
    monkeypatch.setattr(results, "table", lambda: "| new |")
    (tmp_path / "README.md").write_text("# Zoo\n")
    with pytest.raises(ValueError, match=r"README.md must have the lines '<!-- results"):
        results.main(results.Settings(write=True))
    (tmp_path / "README.md").write_text(f"# Zoo\n{results.BEGIN}| old |\n{results.END}rest\n")
    results.main(results.Settings(write=True))
    written = (tmp_path / "README.md").read_text()
    assert written == f"# Zoo\n{results.BEGIN}| new |\n{results.END}rest\n"


@pytest.mark.parametrize("name", SHIPPED)
def test_commands_are_taken_and_give_the_settings_of_the_card(name: str) -> None:
    commands = [shlex.split(command) for command in retrain.SHIPPED[name].commands(name)]
    parsed = [
        tyro.cli(importlib.import_module(module).Settings, args=arguments)
        for _, _, module, *arguments in commands
    ]
    card = read_card(retrain.ROOT / "saved_models" / name)
    seeds = getattr(parsed[-1], "runs", None) or 1  # of which the best one is shipped
    assert parsed[-1].seed <= card.seed < parsed[-1].seed + seeds
    if retrain.SHIPPED[name].vectors:
        assert parsed[0].output == parsed[-1].vectors == retrain.vectors_of(name)
    if "word vectors" in card.data.remarks:
        assert retrain.SHIPPED[name].vectors
    given, default = parsed[-1], type(parsed[-1])()
    for setting in card.config.keys() & vars(given).keys() - {"vocabulary_size"}:
        if getattr(given, setting) != getattr(default, setting):
            assert card.config[setting] == getattr(given, setting), setting


def test_commands_are_listed_with_their_times(capsys) -> None:
    retrain.main(retrain.Settings(names=("cloze_aoa",)))
    title, *commands = capsys.readouterr().out.splitlines()
    assert title.startswith("# cloze_aoa: 2 min for the vectors and ")
    assert commands == [*retrain.SHIPPED["cloze_aoa"].commands("cloze_aoa")]
    retrain.main(retrain.Settings())
    assert sum(line[0] == "#" for line in capsys.readouterr().out.splitlines()) == len(SHIPPED)
    with pytest.raises(ValueError, match=r"names must be some of .*, got \['nobody'\]"):
        retrain.main(retrain.Settings(names=("nobody", "cloze_aoa")))


def test_commands_are_run_in_order_until_one_fails(tmp_path: Path, monkeypatch, capsys) -> None:
    """Recipes that write down what they are called with, and refuse a flag."""
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "__init__.py").touch()
    writer = "import json, sys\nprint(json.dumps(sys.argv[1:]), file=open('said.txt', 'a'))\n"
    (tmp_path / "recipes" / "word_vectors.py").write_text(writer)
    (tmp_path / "recipes" / "model.py").write_text(f"{writer}sys.exit('--bad' in sys.argv)\n")
    monkeypatch.setattr(retrain, "ROOT", tmp_path)
    monkeypatch.setattr(retrain, "told_time", lambda name: "1 min")
    origins = {
        "a": retrain.Origin("model --x 1", earlier="model --x 0", vectors="--texts t"),
        "b": retrain.Origin("model --x 2", earlier="model --bad"),
    }
    monkeypatch.setattr(retrain, "SHIPPED", origins)
    with pytest.raises(ValueError, match=r"python -m recipes.model --bad: ended with status 1"):
        retrain.main(retrain.Settings(run=True))
    file = str(retrain.vectors_of("a"))
    said = [json.loads(line) for line in (tmp_path / "said.txt").read_text().splitlines()]
    given = ["--vectors", file]
    assert said == [
        ["--texts", "t", "--output", file],
        ["--x", "0", *given],
        ["--x", "1", *given],
        ["--bad"],
    ]
    (tmp_path / file).touch()
    retrain.main(retrain.Settings(names=("a",), run=True))
    assert f"# {file} is there" in capsys.readouterr().out
    assert len((tmp_path / "said.txt").read_text().splitlines()) == len(said) + 2
