"""The recipe of formulas: it learns the sample, and every attention trains and is exported."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import recipes.formulas_structured as recipe
from tests.recipes.run_folder import check_run_folder
from zoo.serving.cards import read_card
from zoo.serving.load import load_servable
from zoo.training.command import start

FORMULA = "$ ( + 3 ( * 4 5 ) )"
SMALL = {
    "data": "sample",
    "embedding_dim": 4,
    "hidden_dim": 5,
    "parser_dim": 3,
    "score_dim": 4,
    "epochs": 1,
    "batch_size": 512,
    "beam_width": 2,
}


@pytest.mark.parametrize("attention", ["structured", "none"])
def test_a_run_is_measured_by_depth_and_answers_with_its_parents(attention, tmp_path: Path):
    sizes = SMALL if attention != "none" else SMALL | {"parser_dim": None, "score_dim": None}
    result = recipe.main(recipe.Settings(attention=attention, run_dir=tmp_path, **sizes))
    found = check_run_folder(tmp_path, "until_failure_3")
    assert found["until_failure"] == pytest.approx(
        np.mean([found[f"until_failure_{depth}"] for depth in (1, 2, 3)])
    )
    assert result["until_failure"] == found["until_failure"]
    card = read_card(tmp_path / "saved_model")
    given = {name: size for name, size in sizes.items() if name.endswith("_dim") and size}
    assert card.config | given == card.config
    assert (card.config["attention"], card.data.name) == (attention, "sample")
    stored = json.loads((tmp_path / "settings.json").read_text())
    assert (stored["optimizer"], stored["beam_width"]) == ("adam", 2)
    serve = load_servable(tmp_path / "saved_model").signatures["serving_default"]
    answer = {name: value.numpy() for name, value in serve(text=np.array([FORMULA, ""])).items()}
    assert answer["source_tokens"][0].tolist()[:4] == [b"$", b"(", b"+", b"3"]
    if attention == "none":
        assert "attention_parents" not in answer
        return
    parents = answer["attention_parents"]
    length = answer["source_length"][0]
    assert parents.shape == (2, length, length)
    np.testing.assert_allclose(parents[0].sum(axis=1), [0] + [1] * (length - 1), atol=1e-5)
    assert not parents[1].any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--initial-range", "0"], "initial_range must be positive"),
        (["--decay-after", "0"], "decay_after must be positive"),
        (["--dropout", "1"], "dropout must be at least 0 and less than 1"),
    ],
)
def test_a_bad_setting_is_one_line(arguments, message, tmp_path, monkeypatch) -> None:
    command = [recipe.__name__, "--run-dir", str(tmp_path / "run"), *arguments]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as exit_:
        start(recipe.main, recipe.Settings, recipe.__doc__)
    assert str(exit_.value.code).startswith(f"error: {message}")
    assert not (tmp_path / "run").exists()
