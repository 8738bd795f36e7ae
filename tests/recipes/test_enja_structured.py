"""The recipe of translation with structured attention: it learns, reads its data, refuses."""

import json
import sys
import typing
from pathlib import Path

import numpy as np
import pytest

import recipes.enja_structured as recipe
from tests.recipes.run_folder import check_run_folder
from zoo.models.structured.structured_translator import AttentionName, DecoderStart
from zoo.serving.cards import read_card
from zoo.serving.load import load_servable
from zoo.training.command import start


@pytest.mark.system
def test_a_short_training_learns_most_of_the_sample(tmp_path: Path) -> None:
    settings = recipe.Settings(data="sample", epochs=4, depth=1, run_dir=tmp_path)
    result = recipe.main(settings)
    assert result["exact_match"] >= 90, result
    check_run_folder(tmp_path, "exact_match")


def test_trains_on_files_in_the_layout_of_the_data_set(tmp_path: Path) -> None:
    for part, count in (("train", 60), ("dev", 5), ("test", 5)):
        english = "".join(f"it 's dog {n} .\n" for n in range(count))
        japanese = "".join(f"犬 {n} だ 。\n" for n in range(count))
        (tmp_path / f"{part}.en").write_text(english, encoding="utf-8")
        (tmp_path / f"{part}.ja").write_text(japanese, encoding="utf-8")
    settings = recipe.Settings(
        data_dir=tmp_path,
        run_dir=tmp_path / "run",
        attention="sigmoid",
        embedding_dim=4,
        hidden_dim=5,
        epochs=1,
        batch_size=32,
        warmup_steps=1,
        beam_width=2,
    )
    result = recipe.main(settings)
    assert {"bleu", "exact_match", "perplexity"} <= result.keys()
    stored = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert (stored["data"], stored["bleu_tokenize"], stored["initial_range"]) == (
        "enja",
        "13a",
        0.1,
    )
    card = read_card(tmp_path / "run" / "saved_model")
    assert card.config["attention"] == "sigmoid"
    serve = load_servable(tmp_path / "run" / "saved_model").signatures["serving_default"]
    answer = serve(text=np.array(["犬だ。"]))
    assert [one.decode() for one in answer["source_tokens"].numpy()[0][:3]] == ["犬", "だ", "。"]


def test_flags_reach_the_model() -> None:
    sizes = {"embedding_dim": 3, "hidden_dim": 4, "dropout": 0.25, "label_smoothing": 0.125}
    changes = {
        "attention": "structured",
        "total": 3.0,
        "double_count": True,
        "pairwise_l2": 0.5,
        "decoder_start": "encoder",
        "depth": 3,
        "initial_range": 0.25,
    }
    config = recipe.make_model(recipe.Settings(**sizes, **changes), 20, 10).get_config()
    assert config | sizes | changes == config
    hints = typing.get_type_hints(recipe.Settings)
    for name, choices in (("attention", AttentionName), ("decoder_start", DecoderStart)):
        assert typing.get_args(hints[name]) == typing.get_args(choices)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--source", "en"], "source and target must be en and ja, got 'en' and 'en'"),
        (["--source", "en", "--target", "ja"], "data: no data set for the languages en and ja is"),
        (["--total", "0"], "total must be positive and finite"),
    ],
)
def test_a_bad_setting_is_one_line(arguments, message, tmp_path, monkeypatch) -> None:
    run_dir = ["--run-dir", str(tmp_path / "run"), "--data-dir", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", [recipe.__name__, *arguments, *run_dir])
    with pytest.raises(SystemExit) as exit_:
        start(recipe.main, recipe.Settings, recipe.__doc__)
    assert str(exit_.value.code).startswith(f"error: {message}")
    assert "\n" not in str(exit_.value.code)
    assert not (tmp_path / "run").exists()
