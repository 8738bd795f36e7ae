"""The recipe of the Extended Neural GPU: what it reads, builds and refuses; it learns."""

import json
import sys
import typing
from pathlib import Path

import pytest

import recipes.tatoeba_neural_gpu as recipe
from tests.recipes.run_folder import check_run_folder
from zoo.models.neural_gpu.extended_neural_gpu import Decoder
from zoo.serving.cards import read_card
from zoo.training.command import start

SMALL = {
    "maps": 3,
    "rows": 2,
    "depth": 1,
    "extra_places": 2,
    "vocabulary_size": 50,
    "epochs": 1,
    "batch_size": 64,
    "warmup_steps": 1,
    "beam_width": 2,
}


def test_trains_on_short_pairs_in_the_layout_of_tatoeba(tmp_path: Path) -> None:
    short = [f"It is the {n}th.\tNous sommes le {n}.\n" for n in range(300)]
    long = [f"It is the {n}th of May.\tNous sommes le {n} mai.\n" for n in range(40)]
    (tmp_path / "fra.txt").write_text("".join(short + long), encoding="utf-8")
    settings = recipe.Settings(
        data_dir=tmp_path, run_dir=tmp_path / "run", maximum_words=4, **SMALL
    )
    result = recipe.main(settings)
    assert {"bleu", "exact_match", "perplexity"} <= result.keys()
    check_run_folder(tmp_path / "run", "perplexity")
    stored = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert (stored["data"], stored["vocabulary"], stored["dropout"]) == ("tatoeba", "words", 0.1)
    card = read_card(tmp_path / "run" / "saved_model")
    assert card.data.remarks.endswith("pairs of up to 4 words")
    assert (card.config["decoder"], card.config["dropout"]) == ("extended", 0.1)
    log = (tmp_path / "run" / "train.log").read_text()
    counts = [
        int(line.split(": ")[-1].split(" pairs")[0])
        for line in log.splitlines()
        if "of up to 4" in line
    ]
    assert len(counts) == 3
    assert 200 < sum(counts) <= 300


def test_flags_reach_the_model() -> None:
    sizes = {"maps": 5, "rows": 3, "depth": 2, "extra_places": 4, "kernel_size": 5}
    others = {"decoder": "markovian", "cutoff": 1.5, "dropout": 0.25, "label_smoothing": 0.125}
    config = recipe.make_model(recipe.Settings(**sizes, **others), 20, 10).get_config()
    assert config | sizes | others | {"loss_normaliser": "tokens"} == config
    hint = typing.get_type_hints(recipe.Settings)["decoder"]
    assert typing.get_args(hint) == typing.get_args(Decoder)


def test_no_short_pairs_are_an_error_of_one_line(tmp_path, monkeypatch) -> None:
    rows = [f"It is the {n}th.\tNous sommes le {n}.\n" for n in range(300)]
    (tmp_path / "fra.txt").write_text("".join(rows), encoding="utf-8")
    folders = ["--data-dir", str(tmp_path), "--run-dir", str(tmp_path / "run")]
    monkeypatch.setattr(sys, "argv", [recipe.__name__, "--maximum-words", "2", *folders])
    with pytest.raises(SystemExit) as exit_:
        start(recipe.main, recipe.Settings, recipe.__doc__)
    message = "error: maximum_words must leave pairs in each part, got 2"
    assert str(exit_.value.code) == message
    assert not (tmp_path / "run").exists()
