"""The recipes for any files: each trains a tiny model the whole way, and its card names files."""

import csv
import json
import re
from itertools import pairwise as pairs
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import recipes.classification as classification
import recipes.cloze as cloze
import recipes.language_model as language_model
import recipes.reading as reading
import recipes.translation as translation
from tests.recipes.run_folder import check_run_folder
from tests.recipes.test_cloze_aoa import write_set
from zoo.data.download import file_sha256
from zoo.data.reading_sample import reading_sample
from zoo.data.translation_sample import translation_sample
from zoo.serving.cards import DataRecord, read_card
from zoo.serving.load import load_servable
from zoo.training.command import start

TINY: dict[str, Any] = {"embedding_dim": 6, "hidden_dim": 6, "epochs": 1}


def write_csv(path: Path, columns: dict[str, list[Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def check_card(folder: Path, *files: Path) -> DataRecord:
    """The card of a run names the files, and no data set."""
    data = read_card(folder / "saved_model").data
    assert data.name == f"own files: {', '.join(path.name for path in files)}"
    assert data.sha256 == {path.name: file_sha256(path) for path in files}
    return data


def test_a_translator_of_own_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = translation_sample("train").head(40)
    files = [tmp_path / "dates.en", tmp_path / "dates.iso"]
    for path, side in zip(files, ("source", "target"), strict=True):
        path.write_text("\n".join(frame[side]) + "\n")
    settings = translation.Settings(
        train_source=files[0],
        train_target=files[1],
        held_out=0.25,
        run_dir=tmp_path / "run",
        model="luongtranslator",
        arguments=("score=general", "depth=2"),
        beam_width=2,
        maximum_tokens=300,
        devices="cpu:2",
        **TINY,
    )
    result = translation.main(settings)
    said = capsys.readouterr().out
    assert "train 30, validation 10, test 10" in said
    assert "vocabulary_size: " in said
    assert "warmup_steps: 0 instead of 100, for 1 steps in all" in said
    data = check_card(tmp_path / "run", *files)
    assert data.training == "dates.en, dates.iso but for 25%"
    assert data.evaluation == "25% of dates.en, dates.iso, held out"
    card = read_card(tmp_path / "run" / "saved_model")
    config = card.config
    assert card.limits["maximum_source_tokens"] == 300  # no fewer than in training
    assert (config["score"], config["depth"], config["hidden_dim"]) == ("general", 2, 6)
    assert check_run_folder(tmp_path / "run", "bleu")["step"] == result["step"] == 1
    assert translation.main(settings)["step"] == 1  # nothing more to train


def test_a_reader_of_an_own_table(tmp_path: Path) -> None:
    frame = reading_sample("train").head(40)
    answers = {"answer": [answers[0] for answers in frame["answers"]]}
    columns = {"question": [*frame["question"]], "context": [*frame["context"]]} | answers
    train = write_csv(tmp_path / "train.csv", columns)
    test = write_csv(tmp_path / "test.csv", {name: rows[:5] for name, rows in columns.items()})
    settings = reading.Settings(
        train=train,
        test=test,
        run_dir=tmp_path / "run",
        arguments=("iterations=1",),  # each of them is a part of every graph
        batch_size=8,
        maximum_context_tokens=2500,
        **TINY,
    )
    result = reading.main(settings)
    card = read_card(tmp_path / "run" / "saved_model")
    assert card.config["iterations"] == 1
    assert card.limits["maximum_context_tokens"] == 2500
    assert 0 <= result["exact_match"] <= result["f1"] <= 100
    assert check_card(tmp_path / "run", train, test).evaluation == "test.csv"
    serve = load_servable(tmp_path / "run" / "saved_model").signatures["serving_default"]
    asked = {side: tf.constant(columns[side][:1]) for side in ("question", "context")}
    assert serve(**asked)["answer"].numpy()[0].decode() in columns["context"][0]


class Reached(BaseException):
    """Ends a run before its first step."""


@pytest.fixture
def until_training(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Arguments of the training, in place of which a run ends."""
    handed: dict[str, Any] = {}

    def train(settings: Any, model: Any, batches: Any, run: Any, *_: Any, **__: Any) -> None:
        handed.update(
            settings=settings, model=model, run=run, batch=next(iter(batches.training(0)))
        )
        raise Reached

    monkeypatch.setattr("zoo.tasks.shared.training_run.train", train)
    return handed


def reached(recipe: Any, settings: Any, handed: dict[str, Any]) -> dict[str, Any]:
    with pytest.raises(Reached):
        recipe.main(settings)
    handed["model"].train_on_batch(*handed["batch"])
    handed["run"].close()
    return handed


@pytest.mark.parametrize("pairs", [False, True])
def test_a_classifier_of_own_texts(pairs: bool, tmp_path: Path, until_training) -> None:
    texts = [f"word{number} is {'good' if number % 3 else 'bad'}" for number in range(30)]
    rows = [{"a": text, "b": text[::-1], "stars": 10 if "good" in text else 9} for text in texts]
    table = tmp_path / "reviews.jsonl"
    table.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    settings = classification.Settings(
        train=table,
        text_columns=("a", "b") if pairs else ("a",),
        label_column="stars",
        run_dir=tmp_path / "run",
        **TINY,
    )
    handed = reached(classification, settings, until_training)
    model = "LSTMNInference" if pairs else "LSTMNClassifier"
    assert (type(handed["model"]).__name__, handed["model"].classes) == (model, 2)
    inputs, targets = handed["batch"]
    assert inputs.keys() == ({"premise", "hypothesis"} if pairs else {"text"})
    assert {*targets.numpy().tolist()} == {0, 1}
    assert len(targets) == 27


@pytest.mark.parametrize("pairs", [False, True])
def test_odd_examples_are_trained_on(pairs: bool, tmp_path: Path, until_training, capsys) -> None:
    """A class of one example, which may be held out; texts of no known word; 20,000 words."""
    rows = [{"a": f"x{n}", "b": f"y{n}", "label": "no" if n % 2 else "yes"} for n in range(12)]
    rows += [{"a": "long " * 20_000, "b": "z", "label": "once"}]
    table = tmp_path / "odd.jsonl"
    table.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    settings = classification.Settings(
        train=table,
        text_columns=("a", "b") if pairs else ("a",),
        model="DecomposableAttention" if pairs else "SelfAttentiveClassifier",
        held_out=0.2,
        maximum_tokens=50,
        run_dir=tmp_path / "run",
        **TINY,
    )
    handed = reached(classification, settings, until_training)
    assert handed["model"].classes == 3
    said = capsys.readouterr().out
    assert len(re.findall(r"1 of \d+ examples have texts cut to their first 50 tokens", said)) == 1
    inputs, _ = handed["batch"]
    assert max(ids.shape[1] for ids in inputs.values()) <= 50
    for weight in handed["model"].trainable_weights:
        assert np.isfinite(weight.numpy()).all()


def test_a_language_model_of_own_texts(tmp_path: Path, until_training, capsys) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    paths[0].write_text("the cat sat\nthe dog lay once\n\n" * 5)
    paths[1].write_text("the dog lay once\nthe cat sat\n\n" * 5)
    run = tmp_path / "run"
    settings = language_model.Settings(train=tuple(paths), run_dir=run, held_out=0.2, **TINY)
    handed = reached(language_model, settings, until_training)
    said = capsys.readouterr().out
    assert "train 24, validation 6, test 6" in said
    assert "vocabulary_size: 6 words occur twice or more" in said
    assert "batch_size: 4 instead of 20, for 80 words" in said
    assert handed["model"].vocabulary_size == 6 + 4
    assert json.loads((run / "data.json").read_text()).keys() == {"a.txt", "b.txt"}


def test_a_text_that_ends_in_empty_lines_is_not_scored_on_them(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("the cat sat\n" * 20 + "\n" * 9)
    settings = language_model.Settings(train=(path,), run_dir=tmp_path / "run", **TINY)
    with pytest.raises(ValueError, match=r"held_out must leave lines with words .*, got 0\.1"):
        language_model.main(settings)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("questions", [False, True])
def test_a_cloze_reader_of_own_books(questions: bool, tmp_path: Path, until_training) -> None:
    book = tmp_path / "book.txt"
    if questions:
        write_set(tmp_path)
        book = tmp_path / "ne_train.txt"
    else:
        names = ["Ada", "Bob", "Cid", "Dan", "Eva", "Fay", "Gus", "Hal", "Ida", "Jon", "Kim"]
        told = [f"Then {a} and {b} saw the old {c} again ." for a in names for b, c in pairs(names)]
        book.write_text("\n\n".join(told * 2))
    settings = cloze.Settings(
        train=(book,), questions=questions, run_dir=tmp_path / "run", held_out=0.4, **TINY
    )
    handed = reached(cloze, settings, until_training)
    inputs, _ = handed["batch"]
    assert inputs.keys() >= {"document", "query"}
    assert handed["settings"].hide_candidates == 0.5


@pytest.mark.parametrize(
    ("recipe", "flags", "message"),
    [
        (translation, [], "train must be a table, or else train_source and train_target, got"),
        (translation, ["--train-source", "a.en"], "train must be a table, or else train_source a"),
        (
            translation,
            ["--train", "no.tsv"],
            "train: there is no file no.tsv; . holds a.en, p.tsv, q",
        ),
        (translation, ["--train", "p.tsv"], "p.tsv: a column must be named 'source', got 'one'"),
        (
            translation,
            ["--train", "p.tsv", "--columns", "0", "1", "--held-out", "0"],
            "held_out must be a share that leaves some of the 2 training examples for both",
        ),
        (
            translation,
            ["--train", "p.tsv", "--model", "DynamicCoattentionNetwork"],
            "model must be one of ['BiasedRNNsearch', ",
        ),
        (
            translation,
            ["--train", "p.tsv", "--model", "transformer", "--embedding-dim", "9"],
            "embedding_dim must be left out with the model Transformer, got 9",
        ),
        (
            translation,
            ["--train", "p.tsv", "--model", "ExtendedNeuralGPU", "--hidden-dim", "9"],
            "hidden_dim must be left out with the model ExtendedNeuralGPU, got 9",
        ),
        (
            translation,
            ["--train-source", "a.en", "--train-target", "p.tsv", "--columns", "a", "b"],
            "columns must be left out without a table, got ('a', 'b')",
        ),
        (
            reading,
            ["--train", "q.json", "--columns", "a", "b", "c", "d"],
            "columns must be left out without a table, got ('a', 'b', 'c', 'd')",
        ),
        (
            reading,
            ["--train", "p.tsv", "--vectors", "v.txt", "--embedding-dim", "9"],
            "embedding_dim must be left out with vectors, got 9",
        ),
        (reading, ["--train", "p.tsv"], "p.tsv: a column must be named 'question', got 'one'"),
        (reading, ["--train", "a.en"], "a.en: the name must end in one of .csv, .tsv"),
        (
            classification,
            [
                "--train",
                "p.tsv",
                "--text-columns",
                "0",
                "--label-column",
                "1",
                "--validation",
                "q.tsv",
            ],
            "validation must have classes of the training part, got 'drei' as the label of example",
        ),
        (
            classification,
            ["--train", "s.tsv", "--text-columns", "0", "--label-column", "1"],
            "held_out must be a share that leaves some of the 1 different texts of text for both",
        ),
        (
            classification,
            ["--train", "p.tsv", "--text-columns", "0", "1", "--label-column", "2"],
            "p.tsv: a column must be named '2', got '0', '1'; name others by the flags",
        ),
        (
            classification,
            [
                *("--train", "p.tsv", "--text-columns", "0", "--label-column", "1"),
                *("--held-out", "0.5", "--model", "DecomposableAttention"),
            ],
            "model must be one of ['LSTMNClassifier', 'SelfAttentiveClassifier'], got 'Decompos",
        ),
        (language_model, [], "train must be files of training examples, got none"),
        (cloze, ["--train", "a.en"], "a.en: no question of kind 'ne'; 21 sentences in a row must"),
        (
            cloze,
            ["--train", "a.en", "--questions"],
            "a.en: line 1 must hold line 1 of the question",
        ),
    ],
)
def test_a_refusal_is_one_line_and_writes_nothing(
    recipe, flags, message, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.en").write_text("one\ntwo\n")
    (tmp_path / "p.tsv").write_text("one\teins\ntwo\tzwei\n")
    (tmp_path / "q.tsv").write_text("three\tdrei\n")
    (tmp_path / "s.tsv").write_text("same\tone\nsame\ttwo\n")
    with pytest.raises(SystemExit) as stopped:
        start(recipe.main, recipe.Settings, recipe.__doc__, arguments=flags)
    assert str(stopped.value.code).startswith(f"error: {message}")
    assert "\n" not in str(stopped.value.code)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.en", "p.tsv", "q.tsv", "s.tsv"]


def test_a_try_that_fails_in_the_data_leaves_no_folder_and_the_next_one_begins(tmp_path) -> None:
    question = {"question": ["Who ?"], "context": ["Ada sang ."], "answer": ["sang"]}
    settings = reading.Settings(
        train=write_csv(tmp_path / "t.csv", {name: rows * 4 for name, rows in question.items()}),
        validation=write_csv(tmp_path / "v.csv", question),
        vectors=tmp_path / "none.txt",
        run_dir=tmp_path / "run",
        hidden_dim=6,
        epochs=1,
    )
    with pytest.raises(FileNotFoundError, match=r"none\.txt"):
        reading.main(settings)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("\u202atexts.csv", r"^model_card\.json: text must have no control .*\\u202atexts\.csv"),
        ("texts\udcff.csv", r"names of files must be valid UTF-8, got .*texts\\udcff\.csv"),
    ],
)
def test_files_that_no_card_could_name_are_refused_before_the_training(
    name, shown, tmp_path, until_training
) -> None:
    columns = {"text": ["good", "bad"] * 8, "label": ["1", "0"] * 8}
    settings = classification.Settings(
        train=write_csv(tmp_path / name, columns), held_out=0.5, run_dir=tmp_path / "run", **TINY
    )
    with pytest.raises(ValueError, match=shown):
        classification.main(settings)
    assert not (tmp_path / "run").exists()


def test_settings_of_the_run_are_those_of_its_amount_of_data(tmp_path, monkeypatch) -> None:
    table = tmp_path / "pairs.jsonl.gz"
    monkeypatch.setattr("zoo.tasks.translation.own.read_pairs", lambda *_: frame)
    import pandas as pd

    for count, hidden in ((100, 128), (6_000, 256), (200_000, 512)):
        numbers = [str(number) for number in range(count)]
        frame = pd.DataFrame({"source": numbers, "target": numbers})
        table.touch()
        task = translation.OwnTranslationTask("translation", None, translation.DEFAULTS)
        settings = task.resolve(translation.Settings(train=table))
        assert settings.hidden_dim == hidden
        assert settings.run_dir == Path("runs/translation_RNNsearch_pairs")
        assert len(task.parts.training) == 0.9 * count
    assert json.dumps(settings.data) == '"files"'
