"""Cards are read strictly: every key, of its type, and the files that they describe."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from zoo.serving.cards import (
    CARD_FILE,
    DataRecord,
    Example,
    ModelCard,
    Paper,
    file_checksums,
    read_card,
    verify,
    write_card,
)

CARD = ModelCard(
    model_class="zoo>Reader",
    config={"hidden_dim": 5, "dtype": {"config": {"name": "float32"}}},
    task="reading",
    data=DataRecord("squad", "train", "dev", {"train.json": "12ab"}, "reconstructed, not original"),
    metrics={"f1": 66.25},
    seed=3,
    wall_time_seconds=12.5,
    hardware="a laptop, 2 cores",
    trainable_parameters=10,
    total_parameters=20,
    date="2025-01-02T03:04:05+00:00",
    versions={"keras": "3.15.1"},
    limits={"maximum_context_tokens": 400},
    axes={"context_tokens": [{"kind": "tokens", "of": "context", "sentinel": False}]},
    tokenizer={"case_fold": True},
    sha256={"saved_model.pb": "00"},
)


@pytest.fixture
def written(tmp_path) -> dict:
    """The card's JSON as a dict, after the card was written to tmp_path."""
    write_card(tmp_path, CARD)
    return json.loads((tmp_path / CARD_FILE).read_text(encoding="utf-8"))


def test_a_card_comes_back_as_it_was_written(tmp_path, written):
    assert read_card(tmp_path) == CARD
    assert written == dataclasses.asdict(CARD)
    assert [path.name for path in tmp_path.iterdir()] == [CARD_FILE]


def test_what_need_not_be_told_is_empty_and_each_cards_own(tmp_path):
    optional = ("limits", "tokenizer", "sha256")
    fields = {field.name: getattr(CARD, field.name) for field in dataclasses.fields(CARD)}
    plain = {name: value for name, value in fields.items() if name not in optional}
    card, other = ModelCard(**plain), ModelCard(**plain)
    for name in optional:
        assert getattr(card, name) == {}
        assert getattr(card, name) is not getattr(other, name)
    data = DataRecord("sample", "train", "test")
    assert (data.sha256, data.remarks) == ({}, "")
    write_card(tmp_path, card)
    assert read_card(tmp_path) == card


def test_a_card_from_before_there_were_axes_is_read_and_says_nothing_of_them(tmp_path, written):
    del written["axes"]
    (tmp_path / CARD_FILE).write_text(json.dumps(written))
    assert read_card(tmp_path) == dataclasses.replace(CARD, axes=None)


TOLD = {
    "intended_use": "answering questions on lighthouses",
    "limitations": "other questions",
    "papers": [Paper("On Lighthouses", "Moreau", "ICLR 2017", "https://example.org/1")],
    "licence": "Apache-2.0",
    "data_terms": "CC BY-SA 4.0",
    "labels": ["no", "yes"],
    "example": Example({"text": "Who?"}, {"answer": "Ada", "score": 0.5}, "serving_default"),
}


def test_a_complete_card_comes_back_and_one_from_before_says_nothing(tmp_path):
    card = dataclasses.replace(CARD, **TOLD)
    write_card(tmp_path, card)
    assert read_card(tmp_path) == card
    values = json.loads((tmp_path / CARD_FILE).read_text())
    for name in TOLD:
        del values[name]
    (tmp_path / CARD_FILE).write_text(json.dumps(values))
    assert read_card(tmp_path) == CARD


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("labels", "yes", "key 'labels' must be a list, got 'yes'"),
        ("labels", ["no", 1], "key 'labels.1' must be a string, got 1"),
        ("papers", [{"title": "One"}], "key 'papers.0.authors' is missing"),
        ("papers", ["One"], "papers.0. must be an object, got 'One'"),
        ("example", "Who?", "key 'example' must be an object or null, got 'Who\\?'"),
        ("example", {"inputs": {}}, "key 'example.outputs' is missing"),
        ("example", {"inputs": {}, "outputs": []}, "key 'example.outputs' must be an object"),
        ("limitations", None, "key 'limitations' must be a string, got None"),
        ("licence", "two\nlines", "text must have no control characters"),
    ],
)
def test_a_wrong_key_that_may_be_missing_is_named(key, value, problem, tmp_path, written):
    (tmp_path / CARD_FILE).write_text(json.dumps(written | {key: value}))
    with pytest.raises(ValueError, match=f"{tmp_path / CARD_FILE}: {problem}"):
        read_card(tmp_path)


def test_a_whole_number_is_a_number(tmp_path, written):
    written["metrics"]["f1"] = 66
    (tmp_path / CARD_FILE).write_text(json.dumps(written))
    assert read_card(tmp_path).metrics == {"f1": 66.0}


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (["seed"], ..., "key 'seed' is missing"),
        (["limits"], ..., "key 'limits' is missing"),
        (["data", "remarks"], ..., "key 'data.remarks' is missing"),
        (["colour"], "blue", "unknown key 'colour'; known: model_class, config"),
        (["data", "colour"], "blue", "unknown key 'data.colour'; known: name"),
        (["seed"], "3", "key 'seed' must be a whole number, got '3'"),
        (["seed"], 3.5, "key 'seed' must be a whole number, got 3.5"),
        (["seed"], True, "key 'seed' must be a whole number, got True"),
        (["wall_time_seconds"], None, "key 'wall_time_seconds' must be a number, got None"),
        (["task"], 1, "key 'task' must be a string, got 1"),
        (["config"], [], r"key 'config' must be an object, got \[\]"),
        (["axes"], [], r"key 'axes' must be an object or null, got \[\]"),
        (["axes", "start"], {}, "key 'axes': axes of start must be a list, got {}"),
        (["axes", "start"], [{"kind": "row"}], "key 'axes': axes of start must be of the kinds"),
        (["axes", "start"], [{"kind": []}], "key 'axes': axes of start must be of the kinds"),
        (["axes", "start"], [{"kind": "steps", "of": 1}], "key 'axes': .* must have of: str, got"),
        (["axes", "start"], [{"kind": "slots", "count": True}], "key 'axes': .* count: int | str"),
        (["data"], "squad", "data. must be an object, got 'squad'"),
        (["metrics", "f1"], "high", "key 'metrics.f1' must be a number, got 'high'"),
        (["versions", "keras"], 3, "key 'versions.keras' must be a string, got 3"),
        (["metrics", "f1"], float("nan"), "not a JSON file: NaN is not a JSON number"),
        (["metrics", "f1"], 10**400, "key 'metrics.f1' must be a number, got 1000"),
        (["task"], "constructor", "key 'task' must be a name such as 'language_model', got 'const"),
        (["task"], "__proto__", "key 'task' must be a name"),
        (["task"], "", "key 'task' must be a name"),
        (
            ["data", "name"],
            "\x1b[2Jsquad",
            r"text must have no control .*got '\\x1b\[2Jsquad'",
        ),
        (["config", "\x9b2J"], 1, r"text must have no control .*got '\\x9b2J'"),
        (["tokenizer", "words"], ["a", "\u202eb"], r"text must have no .*got '\\u202eb'"),
        (["remarks\n"], 1, r"text must have no control characters, got 'remarks\\n'"),
    ],
)
def test_a_wrong_key_is_named_with_its_file(tmp_path, written, path, value, problem):
    *parents, key = path
    place = written
    for parent in parents:
        place = place[parent]
    if value is ...:
        del place[key]
    else:
        place[key] = value
    (tmp_path / CARD_FILE).write_text(json.dumps(written))
    with pytest.raises(ValueError, match=f"{tmp_path / CARD_FILE}: {problem}"):
        read_card(tmp_path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not a JSON file"),
        ("{", "not a JSON file"),
        ("[]", r"the card must be an object, got \[\]"),
        ("null", "the card must be an object, got None"),
        ("[" * 40 + "]" * 40, "lists and objects that are more than 30 deep inside each other"),
        ("[" * 10**5, "lists and objects that are more than 30 deep inside each other"),
        ('{"config": {"hidden_dim": 1e999}}', "numbers must be finite, got inf"),
        ('{"seed": ' + "9" * 5000 + "}", "not a JSON file: Exceeds the limit"),
        (b'{"task": "\xff"}', "not a JSON file: .*utf-8"),
        (None, "cannot be read: Is a directory"),
    ],
)
def test_a_broken_card_is_refused(tmp_path, text, problem):
    if text is None:
        (tmp_path / CARD_FILE).mkdir()
    else:
        (tmp_path / CARD_FILE).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=problem):
        read_card(tmp_path)


def test_no_card(tmp_path):
    with pytest.raises(ValueError, match=rf"{tmp_path}: has no model card \(model_card.json\)"):
        read_card(tmp_path)


@pytest.mark.parametrize("value", [float("inf"), object()])
def test_what_json_cannot_hold_is_refused_and_the_old_card_stays(tmp_path, written, value):
    card = dataclasses.replace(CARD, config={"hidden_dim": value})
    with pytest.raises(ValueError, match="a value cannot be written as JSON"):
        write_card(tmp_path, card)
    assert read_card(tmp_path) == CARD
    assert [path.name for path in tmp_path.iterdir()] == [CARD_FILE]


def test_what_could_not_be_read_again_is_not_written(tmp_path, written):
    with pytest.raises(ValueError, match=r"text must have no control characters, got 'two\\n'"):
        write_card(tmp_path, dataclasses.replace(CARD, hardware="two\n"))
    assert read_card(tmp_path) == CARD


@pytest.fixture
def folder(tmp_path) -> Path:
    """The files of a SavedModel, which need not be real ones here, with a card and a picture."""
    for name in ("saved_model.pb", "variables/variables.index", "assets/words.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "attention.png").write_text("a picture is no part of it")
    write_card(tmp_path, dataclasses.replace(CARD, sha256=file_checksums(tmp_path)))
    return tmp_path


def test_verify_takes_what_the_card_describes(folder):
    names = ["assets/words.txt", "saved_model.pb", "variables/variables.index"]
    assert list(verify(folder).sha256) == names


def test_verify_names_all_that_differs(folder):
    (folder / "saved_model.pb").write_text("another")
    shutil.rmtree(folder / "variables")
    (folder / "assets" / "more.txt").touch()
    with pytest.raises(ValueError, match="not the files that its card describes: ") as error:
        verify(folder)
    for problem in (
        "variables/variables.index is missing",
        "assets/more.txt is not in the card",
        "saved_model.pb differs",
    ):
        assert problem in str(error.value)


def test_a_card_without_checksums_describes_nothing(folder):
    write_card(folder, dataclasses.replace(CARD, sha256={}))
    with pytest.raises(ValueError, match=r"key 'sha256' lists no saved_model\.pb"):
        verify(folder)


@pytest.mark.parametrize("place", ["seed", "task", "hardware", "x" * 10**5])
def test_a_long_value_is_cut_in_the_message(place, tmp_path):
    write_card(tmp_path, CARD)
    values = json.loads((tmp_path / "model_card.json").read_text())
    values[place] = "A" * 10**5 + "\x1b"
    (tmp_path / "model_card.json").write_text(json.dumps(values))
    with pytest.raises(ValueError, match="card") as error:
        read_card(tmp_path)
    assert len(str(error.value)) < 600
