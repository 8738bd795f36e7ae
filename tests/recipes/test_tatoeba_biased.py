"""The recipe of structural alignment biases: it learns the sample, and refuses bad input."""

import dataclasses
import json
import sys
import typing
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import recipes.tatoeba_biased as recipe
from tests.recipes.run_folder import check_run_folder
from zoo.data.tatoeba import PARTS
from zoo.models.rnnsearch.biased_rnnsearch import BiasedReadout
from zoo.serving.cards import read_card
from zoo.serving.codecs import load_codecs
from zoo.serving.load import load, load_servable
from zoo.training.command import start


@pytest.mark.system
def test_a_short_training_learns_most_of_the_sample(tmp_path: Path) -> None:
    settings = recipe.Settings(data="sample", biases="markov", epochs=6, run_dir=tmp_path)
    result = recipe.main(settings)
    assert result["exact_match"] >= 75, result
    check_run_folder(tmp_path, "exact_match")


def test_trains_on_files_in_the_layout_of_tatoeba(tmp_path: Path) -> None:
    rows = [f"It is the {n}th.\tNous sommes le {n}.\n" for n in range(400)]
    (tmp_path / "fra.txt").write_text("".join(rows), encoding="utf-8")
    settings = recipe.Settings(
        data_dir=tmp_path,
        run_dir=tmp_path / "run",
        biases="markov,fertility",
        global_fertility=0.25,
        embedding_dim=4,
        hidden_dim=5,
        alignment_dim=4,
        vocabulary_size=100,
        epochs=1,
        batch_size=64,
        warmup_steps=1,
        beam_width=2,
    )
    result = recipe.main(settings)
    assert {"bleu", "exact_match", "perplexity"} <= result.keys()
    stored = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert (stored["data"], stored["dropout"]) == ("tatoeba", 0.2)
    card = read_card(tmp_path / "run" / "saved_model")
    assert card.data.sha256.keys() == {"fra.txt"}
    switches = {name: card.config[name] for name in recipe.BIASES}
    assert switches == {"position": False, "markov": True, "fertility": True}
    assert card.config["global_fertility"] == 0.25
    log = (tmp_path / "run" / "train.log").read_text()
    assert all(f"Tatoeba fr-en {part}: " in log for part in PARTS)

    trained = load(tmp_path / "run" / "saved_model")
    sizes = [trained.source_vocabulary_size, trained.target_vocabulary_size]
    changes = {"global_fertility": 1.0, "dropout": 0.0, "label_smoothing": 0.0, "maxout_dim": 256}
    start_from = tmp_path / "run" / "saved_model"
    further = dataclasses.replace(settings, start_from=start_from, **changes)
    model = recipe.make_model(further, *sizes)
    assert model.global_fertility == 1.0
    assert len(model.weights) == len(trained.weights)
    for weight, other in zip(model.weights, trained.weights, strict=True):
        np.testing.assert_array_equal(weight, other)
    wider = dataclasses.replace(further, hidden_dim=6)
    with pytest.raises(ValueError, match=r"start_from must have a .* of shape .*, got "):
        recipe.make_model(wider, *sizes)
    fewer = dataclasses.replace(further, biases="position,fertility")
    told = r"start_from must have no trained weights but this run's, got biases/markov_kernel too"
    with pytest.raises(ValueError, match=told):
        recipe.make_model(fewer, *sizes)
    more = recipe.make_model(dataclasses.replace(further, biases=",".join(recipe.BIASES)), *sizes)
    assert len(more.weights) > len(trained.weights)
    # As many words, but others.
    (tmp_path / "fra.txt").write_text("".join(rows).replace("the", "my"), encoding="utf-8")
    other = dataclasses.replace(settings, start_from=start_from, run_dir=tmp_path / "other")
    with pytest.raises(ValueError, match="start_from must have this run's vocabulary"):
        recipe.main(other)


def test_a_file_that_leaves_a_part_without_a_pair_is_refused_before_the_training(tmp_path) -> None:
    rows = [f"It is the {n}th.\tDemain nous serons le {n}.\n" for n in range(60)]
    (tmp_path / "fra.txt").write_text("".join(rows), encoding="utf-8")
    told = r"fra\.txt must hold enough pairs for the parts training, .* none for validation$"
    with pytest.raises(ValueError, match=told):
        recipe.main(recipe.Settings(data_dir=tmp_path, run_dir=tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_trains_both_directions_together(tmp_path: Path) -> None:
    rows = [f"It is the {n}th.\tDemain nous serons le {n}.\n" for n in range(400)]
    (tmp_path / "fra.txt").write_text("".join(rows), encoding="utf-8")
    sizes = {"embedding_dim": 4, "hidden_dim": 5, "alignment_dim": 4}
    settings = recipe.Settings(
        data_dir=tmp_path,
        run_dir=tmp_path / "run",
        symmetric=True,
        trace_weight=0.5,
        bleu_tokenize="intl",
        vocabulary="words",
        vocabulary_size=1000,
        epochs=1,
        batch_size=64,
        warmup_steps=1,
        beam_width=2,
        **sizes,
    )
    result = recipe.main(settings)
    folders = [tmp_path / "run" / name for name in ("saved_model", "saved_model_backward")]
    forward, backward = (read_card(folder) for folder in folders)
    metrics = {"bleu", "exact_match", "perplexity"}
    assert metrics <= backward.metrics.keys() == forward.metrics.keys()
    assert result["perplexity"] == forward.metrics["perplexity"]
    assert "|tok:intl|" in result["signature"]  # of both directions
    assert result["backward"] == backward.metrics | {"signature": result["signature"]}
    assert "fr to en" in forward.data.remarks
    assert backward.data.remarks == f"{forward.data.remarks}; source and target exchanged"
    # The codecs and vocabularies are exchanged, and each SavedModel answers.
    of_forward, of_backward = (load_codecs(folder) for folder in folders)
    assert of_forward[0].vocabulary_size != of_forward[1].vocabulary_size
    text = tf.constant(["It is the 7th."])
    assert of_forward[1].encode(text).to_list() == of_backward[0].encode(text).to_list()
    trained = [load(folder) for folder in folders]
    assert trained[0].source_vocabulary_size == trained[1].target_vocabulary_size
    answer = load_servable(folders[1]).signatures["serving_default"](text=text)
    assert answer["attention_alignment"].shape[0] == 1
    assert answer["source_tokens"].numpy()[0, :2].tolist() == [b"It", b"is"]

    # And a later training begins with both.
    further = dataclasses.replace(
        settings,
        start_from=folders[0],
        start_backward_from=folders[1],
        dropout=0.0,
        label_smoothing=0.0,
        maxout_dim=256,  # as `resolve` gives it
    )
    sizes = trained[0].source_vocabulary_size, trained[0].target_vocabulary_size
    model = recipe.make_model(further, *sizes)
    assert model.trace_weight == 0.5
    for one, other in zip((model.source_to_target, model.target_to_source), trained, strict=True):
        for weight, expected in zip(one.weights, other.weights, strict=True):
            np.testing.assert_array_equal(weight, expected)
    # An error of the other direction names its own setting.
    other = dataclasses.replace(further, start_from=None, biases="none")
    with pytest.raises(ValueError, match=r"^start_backward_from must have no trained weights but"):
        recipe.make_model(other, *sizes)


def test_flags_reach_the_model() -> None:
    sizes = {"embedding_dim": 3, "hidden_dim": 4, "dropout": 0.25, "label_smoothing": 0.125}
    changes = {
        "readout": "groundhog",
        "alignment_dim": 5,
        "maxout_dim": 6,
        "half_width": 2,
        "global_fertility": 0.5,
    }
    settings = recipe.Settings(biases="none", **sizes, **changes)
    config = recipe.make_model(settings, 20, 10).get_config()
    assert config | sizes | changes | dict.fromkeys(recipe.BIASES, False) == config
    hint = typing.get_type_hints(recipe.Settings)["readout"]
    assert typing.get_args(hint) == typing.get_args(BiasedReadout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--biases", "position,order"], "biases must be none, or among position,markov,fertil"),
        (["--source", "fr", "--target", "de"], "source and target must be en and one of"),
        (["--source", "de"], "data: no data set for the languages de and en is complete"),
        (["--global-fertility", "-1"], "global_fertility must be at least 0 and finite"),
        (["--symmetric", "--trace-weight", "-1"], "trace_weight must be at least 0 and finite"),
        (
            ["--start-backward-from", "x"],
            "start_backward_from must be left out without symmetric, got 'x'",
        ),
        (["--trace-weight", "0.1"], "trace_weight must be left out without symmetric, got 0.1"),
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
