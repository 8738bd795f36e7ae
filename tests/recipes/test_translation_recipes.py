"""The translation recipes: they learn the sample as a user would run them, and refuse bad input."""

import dataclasses
import json
import sys
import typing
from pathlib import Path

import pytest
import tensorflow as tf

import recipes.multi30k_lstmn as lstmn
import recipes.multi30k_luong as luong
import recipes.multi30k_rnnsearch as rnnsearch
import recipes.multi30k_seq2seq as seq2seq
import recipes.multi30k_transformer as transformer
from tests.recipes.run_folder import check_run_folder
from zoo.data.translation_sample import translation_sample
from zoo.models.lstmn.lstmn_translator import TranslatorFusion
from zoo.models.luong.luong import Mechanism, ScoreName, Window
from zoo.models.rnnsearch.rnnsearch import Readout
from zoo.models.transformer.transformer import Norm, Positions, SmoothingOver
from zoo.serving.cards import read_card
from zoo.serving.load import load_servable
from zoo.tasks.translation.data import SPLITS
from zoo.tasks.translation.recipe import SHARED_DEFAULTS
from zoo.training.command import start
from zoo.training.settings import learning_rate, resolve

ROOT = Path(__file__).parents[2]
RECIPES = [rnnsearch, luong, seq2seq, transformer, lstmn]
every_recipe = pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.__name__)


def check_answers(folder: Path, least: int) -> None:
    """The exported translator answers dates that it has never seen."""
    frame = translation_sample("test").head(100)
    serve = load_servable(folder).signatures["serving_default"]
    outputs = serve(text=tf.constant([*frame["source"]]))
    answers = [text.decode() for text in outputs["translation"].numpy()]
    right = sum(a == b for a, b in zip(answers, frame["target"], strict=True))
    assert right >= least


@pytest.mark.system
@pytest.mark.parametrize(
    ("recipe", "changes", "least"),
    [
        (rnnsearch, {"epochs": 4}, 80),
        (luong, {"epochs": 3}, 90),
        (transformer, {"epochs": 2, "batch_size": 32, "depth": 1}, 95),
        (seq2seq, {"epochs": 5}, 80),
        (lstmn, {"epochs": 2, "evaluate_every": 500}, 25),
    ],
    ids=["rnnsearch", "luong", "transformer", "seq2seq", "lstmn"],
)
def test_a_short_training_learns_most_of_the_sample(recipe, changes, least, tmp_path) -> None:
    result = recipe.main(recipe.Settings(data="sample", run_dir=tmp_path, **changes))
    assert result["exact_match"] >= least, result
    assert "tok:13a" in result["signature"]
    check_run_folder(tmp_path, "exact_match", attends=recipe is not seq2seq)
    check_answers(tmp_path / "saved_model", least - 10)


@every_recipe
def test_settings_given_as_none_depend_on_the_data(recipe) -> None:
    for data in ("sample", "multi30k"):
        settings = recipe.Settings(dropout=0.7, seed=5)
        resolved = resolve(settings, "some_recipe", data, SHARED_DEFAULTS, recipe.DEFAULTS)
        assert resolved.run_dir == Path(f"runs/some_recipe_{data}")
        assert (resolved.data, resolved.dropout, resolved.seed) == (data, 0.7, 5)
        shared = SHARED_DEFAULTS[data] | recipe.DEFAULTS.get(data, {}) | {"dropout": 0.7}
        assert {name: getattr(resolved, name) for name in shared} == shared
        left = {f.name for f in dataclasses.fields(resolved) if getattr(resolved, f.name) is None}
        optional = {
            "data_dir",
            "devices",
            "patience",
            "evaluate_every",
            "maximum_minutes",
            "batch_tokens",
        }
        optional |= {"warmup_steps", "average_last"}
        if recipe is transformer:
            optional |= {"key_dim", "value_dim", "clip_norm", "ema_decay", "shared_embeddings"}
        if recipe is lstmn:
            optional |= {"window"}
        assert left <= optional
    explicit = recipe.Settings(run_dir=Path("here"), epochs=1)
    resolved = resolve(explicit, "some_recipe", "sample", SHARED_DEFAULTS, recipe.DEFAULTS)
    assert (resolved.run_dir, resolved.epochs) == (Path("here"), 1)


@every_recipe
@pytest.mark.parametrize(
    ("given", "averages"),
    [
        ({"average_last": 3}, (None, 3)),
        ({"ema_decay": 0.9}, (0.9, None)),
        ({"ema_decay": 0.9, "average_last": 3}, (0.9, 3)),
    ],
)
@pytest.mark.parametrize("data", ["sample", "multi30k"])
def test_the_average_that_is_given_replaces_the_default_one(recipe, given, averages, data) -> None:
    settings = recipe.Settings(**given)
    resolved = resolve(settings, "some_recipe", data, SHARED_DEFAULTS, recipe.DEFAULTS)
    assert (resolved.ema_decay, resolved.average_last) == averages


@pytest.mark.parametrize(
    ("recipe", "field", "choices"),
    [
        (rnnsearch, "readout", Readout),
        (luong, "score", ScoreName),
        (luong, "mechanism", Mechanism),
        (luong, "window", Window),
        (lstmn, "fusion", TranslatorFusion),
        (transformer, "norm", Norm),
        (transformer, "positions", Positions),
        (transformer, "smoothing_over", SmoothingOver),
    ],
)
def test_every_choice_of_the_model_is_a_flag(recipe, field, choices) -> None:
    hint = typing.get_type_hints(recipe.Settings)[field]
    assert typing.get_args(hint) == typing.get_args(choices)


@pytest.mark.parametrize("model", ["sutskever", "rnnencdec", "cho"])
def test_the_recipe_without_attention_builds_each_of_its_models(model) -> None:
    sizes = {"hidden_dim": 4, "embedding_dim": 3, "maxout_dim": 2}
    rates = {"dropout": 0.0, "label_smoothing": 0.0}
    settings = seq2seq.Settings(model=model, initial_range=0.5, **rates, **sizes)
    built = seq2seq.make_model(settings, 20, 10)
    built.build()
    assert built.loss_normaliser == "tokens"
    assert (built.hidden_dim, built.target_vocabulary_size) == (4, 10)
    assert model in type(built).__name__.lower()


def test_flags_reach_the_models() -> None:
    sizes = {"embedding_dim": 3, "hidden_dim": 4, "dropout": 0.25, "label_smoothing": 0.125}
    changes = {
        "score": "location",
        "mechanism": "local_m",
        "input_feeding": False,
        "reverse_source": False,
        "half_width": 3,
        "window": "real",
        "renormalise": True,
        "depth": 3,
        "initial_range": 0.5,
    }
    config = luong.make_model(luong.Settings(**sizes, **changes), 20, 10).get_config()
    assert config | sizes | changes == config
    assert config["maximum_source_length"] == luong.Settings().maximum_tokens
    changes = {"readout": "groundhog", "alignment_dim": 5, "maxout_dim": 6}
    config = rnnsearch.make_model(rnnsearch.Settings(**sizes, **changes), 20, 10).get_config()
    assert config | sizes | changes == config
    changes = {"fusion": "shallow", "window": 3, "include_initial": False}
    config = lstmn.make_model(lstmn.Settings(**sizes, **changes), 20, 10).get_config()
    assert config | sizes | changes == config
    changes = {
        "model_dim": 6,
        "feed_forward_dim": 7,
        "num_heads": 3,
        "key_dim": 4,
        "value_dim": 5,
        "depth": 1,
        "norm": "pre",
        "positions": "learned",
        "shared_embeddings": True,
        "dropout": 0.2,
        "attention_dropout": 0.3,
        "activation_dropout": 0.4,
        "label_smoothing": 0.1,
        "smoothing_over": "all",
    }
    settings = transformer.Settings(**changes, vocabulary="joint")
    config = transformer.make_model(settings, 20, 20).get_config()
    assert config | changes == config
    apart = dataclasses.replace(settings, vocabulary="separate")
    with pytest.raises(
        ValueError, match="vocabulary must be 'joint' with shared_embeddings, got 'separate'"
    ):
        transformer.make_model(apart, 20, 20)
    none = dataclasses.replace(apart, shared_embeddings=None)
    assert not transformer.make_model(none, 20, 20).shared_embeddings


def test_the_transformer_is_trained_as_in_the_paper() -> None:
    settings = resolve(
        transformer.Settings(), "r", "multi30k", SHARED_DEFAULTS, transformer.DEFAULTS
    )
    rates = learning_rate(settings, 10_000)
    assert float(rates(1_999)) == pytest.approx(settings.learning_rate)
    assert float(rates(7_999)) == pytest.approx(settings.learning_rate / 2)
    assert (settings.beta_2, settings.epsilon, settings.clip_norm) == (0.98, 1e-9, None)
    assert (settings.label_smoothing, settings.ema_decay, settings.average_last) == (0.1, None, 10)


def write_parallel(folder: Path) -> None:
    """Dates in the layout of Multi30k, from English to German as it were."""
    for split, part in zip(SPLITS, ("train", "val", "test"), strict=True):
        frame = translation_sample(part, pairs=40)
        for language, side in (("en", "source"), ("de", "target")):
            text = "\n".join(frame[side]) + "\n"
            (folder / f"{split}.{language}").write_text(text, encoding="utf-8")


def test_trains_on_files_in_the_layout_of_multi30k(tmp_path: Path) -> None:
    """One epoch on two devices; started again it trains no step; other settings are refused."""
    write_parallel(tmp_path)
    settings = rnnsearch.Settings(
        data_dir=tmp_path,
        run_dir=tmp_path / "run",
        embedding_dim=4,
        hidden_dim=5,
        alignment_dim=4,
        maxout_dim=3,
        vocabulary_size=100,
        epochs=1,
        batch_size=8,
        warmup_steps=1,
        beam_width=2,
        devices="cpu:2",
    )
    result = rnnsearch.main(settings)
    assert result["replicas"] == 2
    assert result["step"] == 5
    assert {"bleu", "bleu_lowercase", "exact_match", "perplexity"} <= result.keys()
    assert result["perplexity"] < 150
    assert [set(one) >= {"bleu", "step"} for one in result["history"]] == [True]
    stored = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert (stored["data"], stored["dropout"]) == ("multi30k", 0.4)
    card = read_card(tmp_path / "run" / "saved_model")
    assert card.data.sha256.keys() == {f"{s}.{side}" for s in SPLITS for side in ("en", "de")}
    assert card.limits["beam_width"] == 2
    assert card.tokenizer["source"]["class"] == "SubwordCodec"
    assert card.metrics == {name: result[name] for name in card.metrics}

    again = rnnsearch.main(settings)
    same = ("step", "history", "bleu", "perplexity", "restarts")
    assert {name: again[name] for name in same} == {name: result[name] for name in same}
    with pytest.raises(ValueError, match="hidden_dim: 5 in the folder, 6 now"):
        rnnsearch.main(dataclasses.replace(settings, hidden_dim=6))


DIGITS = "〇一二三四五六七八九"


def test_a_language_without_spaces_keeps_the_best_weights_and_not_the_first(tmp_path) -> None:
    numbers = [f"{n:02}" for n in range(100)]
    for split in SPLITS:
        (tmp_path / f"{split}.en").write_text("".join(f"{a} {b}\n" for a, b in numbers))
        chinese = ["".join(DIGITS[int(digit)] for digit in number) for number in numbers]
        (tmp_path / f"{split}.zh").write_text("".join(f"{text}年\n" for text in chinese))
    settings = rnnsearch.Settings(
        data_dir=tmp_path,
        run_dir=tmp_path / "run",
        target="zh",
        vocabulary="words",
        embedding_dim=16,
        hidden_dim=16,
        alignment_dim=16,
        maxout_dim=16,
        dropout=0.0,
        label_smoothing=0.0,
        learning_rate=0.03,
        warmup_steps=4,
        ema_decay=0.0,
        epochs=4,
        batch_size=10,
        beam_width=1,
    )
    result = rnnsearch.main(settings)
    assert "|tok:zh|" in result["signature"]
    scores = [one["bleu"] for one in result["history"]]
    assert result["best_score"] == max(scores) > max(scores[0], 5)
    assert result["bleu"] == pytest.approx(max(scores))  # the test part is the validation part
    stored = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert stored["bleu_tokenize"] == "zh"
    with pytest.raises(ValueError, match="bleu_tokenize: 'zh' in the folder, '13a' now"):
        rnnsearch.main(dataclasses.replace(settings, bleu_tokenize="13a"))


def test_a_transformer_with_one_vocabulary_is_trained_by_tokens_and_averaged(tmp_path) -> None:
    write_parallel(tmp_path)
    settings = transformer.Settings(
        data_dir=tmp_path,
        run_dir=tmp_path / "run",
        model_dim=8,
        feed_forward_dim=8,
        num_heads=2,
        depth=1,
        vocabulary_size=100,
        epochs=2,
        batch_tokens=200,
        warmup_steps=3,
        beam_width=2,
        devices="cpu:2",
    )
    result = transformer.main(settings)
    assert result["replicas"] == 2
    steps = [record["step"] for record in result["history"]]
    assert steps == [result["step"] // 2, result["step"]]
    assert steps[0] > 1
    assert result["perplexity"] < 150
    stored = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert (stored["batch_tokens"], stored["average_last"], stored["ema_decay"]) == (200, 10, None)
    assert read_card(tmp_path / "run" / "saved_model").config["norm"] == "post"
    assert (tmp_path / "run" / "attention.png").exists()


@pytest.mark.parametrize(
    ("recipe", "arguments", "message"),
    [
        (rnnsearch, ["--data", "multi30k", "--source", "nl"], "language must be one of"),
        (luong, ["--data", "multi30k", "--source", "de"], "target must be another language"),
        (
            seq2seq,
            ["--data", "sample", "--dropout", "1.5"],
            "dropout must be at least 0 and less than 1, got 1.5",
        ),
        (
            rnnsearch,
            ["--data", "sample", "--learning-rate", "-1"],
            "learning_rate must be positive",
        ),
        (luong, ["--data", "sample", "--clip-norm", "0"], "clip_norm must be positive"),
        (
            rnnsearch,
            ["--data", "sample", "--batch-size", "0"],
            "batch_size must be positive",
        ),
        (luong, ["--data", "sample", "--epochs", "0"], "epochs must be positive, got 0"),
        (transformer, ["--data", "sample", "--num-heads", "3"], "key_dim must be given, got None"),
        (
            transformer,
            ["--data", "sample", "--average-last", "3", "--ema-decay", "0.99"],
            "ema_decay must be None with average_last 3, got 0.99",
        ),
    ],
)
def test_a_bad_setting_is_one_line(recipe, arguments, message, tmp_path, monkeypatch) -> None:
    run_dir = ["--run-dir", str(tmp_path / "run"), "--data-dir", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", [recipe.__name__, *arguments, *run_dir])
    with pytest.raises(SystemExit) as exit_:
        start(recipe.main, recipe.Settings, recipe.__doc__)
    assert str(exit_.value.code).startswith(f"error: {message}")
    assert "\n" not in str(exit_.value.code)


@pytest.mark.parametrize(
    ("recipe", "arguments"),
    [
        (luong, ["--score", "additive"]),
        (rnnsearch, ["--readout", "eq5"]),
        (seq2seq, ["--model", "bahdanau"]),
        (seq2seq, ["--hidden-dim", "many"]),
    ],
)
def test_a_value_that_is_no_choice_is_refused_by_the_command_line(
    recipe, arguments, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(sys, "argv", [recipe.__name__, *arguments])
    with pytest.raises(SystemExit) as exit_:
        start(recipe.main, recipe.Settings, recipe.__doc__)
    assert exit_.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def test_files_that_do_not_fit_together_are_one_line(tmp_path, monkeypatch) -> None:
    write_parallel(tmp_path)
    (tmp_path / "val.de").write_text("1986-03-05\n")
    run_dir = ["--run-dir", str(tmp_path / "run"), "--data-dir", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", [seq2seq.__name__, *run_dir])
    with pytest.raises(SystemExit) as exit_:
        start(seq2seq.main, seq2seq.Settings, seq2seq.__doc__)
    message = str(exit_.value.code)
    assert message.startswith("error: ")
    assert "val.de" in message
    assert "40" in message
