"""Models are published as archives with an index, of which others can be sure."""

import dataclasses
import hashlib
import json
import shutil

import pytest

from tests.serving.published import write_model
from zoo.serving.cards import read_card
from zoo.serving.index import parse_index
from zoo.serving.publish import publish


def test_a_folder_of_archives_and_an_index(tmp_path):
    models = [write_model(tmp_path / name) for name in ("reader", "writer")]
    to = tmp_path / "new" / "published"
    archives = publish(models, to)
    assert archives == [to / "reader.tar.gz", to / "writer.tar.gz"]
    assert {path.name for path in to.iterdir()} == {
        "index.json",
        "reader.tar.gz",
        "writer.tar.gz",
    }
    index = parse_index((to / "index.json").read_bytes(), "index")
    entry = index.models["reader"]
    content = archives[0].read_bytes()
    assert entry.sha256 == hashlib.sha256(content).hexdigest()
    assert entry.bytes == len(content)
    assert entry.card == read_card(models[0])
    sizes = [path.stat().st_size for path in models[0].rglob("*") if path.is_file()]
    assert entry.unpacked_bytes == sum(sizes)


def test_the_same_models_make_the_same_files(tmp_path):
    write_model(tmp_path / "reader")
    write_model(tmp_path / "writer")
    publish([tmp_path / "reader", tmp_path / "writer"], tmp_path / "once")
    publish([tmp_path / "writer"], tmp_path / "twice")
    shutil.copytree(tmp_path / "reader", tmp_path / "runs" / "reader" / "saved_model")
    (tmp_path / "runs" / "reader" / "saved_model" / "attention.png").rename(
        tmp_path / "runs" / "reader" / "attention.png"
    )
    publish([tmp_path / "runs" / "reader"], tmp_path / "twice")  # the other one stays
    for name in ("index.json", "reader.tar.gz", "writer.tar.gz"):
        once, twice = (tmp_path / folder / name for folder in ("once", "twice"))
        assert once.read_bytes() == twice.read_bytes()


@pytest.mark.parametrize("inside", ["saved_model", "1"])
def test_the_folder_inside_does_not_name_the_model(inside, tmp_path):
    write_model(tmp_path / "reader" / inside)
    assert publish([tmp_path / "reader" / inside], tmp_path / "to")[0].name == "reader.tar.gz"


def test_what_is_not_whole_is_not_published(tmp_path):
    reader = write_model(tmp_path / "reader")
    with pytest.raises(ValueError, match="different names"):
        publish([reader, write_model(tmp_path / "other" / "reader")], tmp_path / "to")
    with pytest.raises(ValueError, match="letters, digits"):
        publish([write_model(tmp_path / "my reader")], tmp_path / "to")
    (reader / "saved_model.pb").write_text("another")
    with pytest.raises(ValueError, match=r"saved_model\.pb differs"):
        publish([write_model(tmp_path / "writer"), reader], tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_a_broken_index_is_not_replaced(tmp_path):
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "index.json").write_text("{")
    with pytest.raises(ValueError, match=r"index\.json: not a JSON file"):
        publish([write_model(tmp_path / "reader")], tmp_path / "to")
    assert [path.name for path in (tmp_path / "to").iterdir()] == ["index.json"]


@pytest.mark.parametrize(
    ("place", "value", "problem"),
    [
        (["archive"], "../reader.tar.gz", r"key 'archive' must be NAME.tar.gz, got '../reader"),
        (["archive"], "https://example.org/reader.tar.gz", "key 'archive' must be NAME"),
        (["sha256"], "12ab", "key 'sha256' must have 64 digits, got '12ab'"),
        (["bytes"], 0, "key 'bytes' must be 1 to 4,294,967,296, got 0"),
        (["unpacked_bytes"], 10**15, "key 'unpacked_bytes' must be 1 to"),
        (["card", "seed"], "3", "key 'models.reader.card.seed' must be a whole number"),
        (["card", "task"], "", "key 'task' must be a name"),
        (["colour"], 1, "unknown key 'models.reader.colour'"),
    ],
)
def test_an_index_is_read_strictly(place, value, problem, tmp_path):
    publish([write_model(tmp_path / "reader")], tmp_path)
    index = json.loads((tmp_path / "index.json").read_text())
    inner = index["models"]["reader"]
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(ValueError, match=f"^http://host/index.json: {problem}"):
        parse_index(json.dumps(index), "http://host/index.json")


def test_names_and_format_of_an_index(tmp_path):
    publish([write_model(tmp_path / "reader")], tmp_path)
    text = (tmp_path / "index.json").read_text()
    index = parse_index(text, "index")
    assert json.loads(text) == dataclasses.asdict(index)
    for wrong, problem in (
        (text.replace('"reader": {', '"../reader": {'), "key 'models' must have plain names"),
        (text.replace('"format": 1', '"format": 2'), "key 'format' must be 1, got 2"),
        (text.replace('"format": 1', '"format": 1, "format": 1'), "key 'format' is given more"),
        ("[]", "the index must be an object"),
    ):
        with pytest.raises(ValueError, match=problem):
            parse_index(wrong, "index")


def packs(*names):
    """A `pack` that fails for others."""

    def pack(name, files, archive):
        if name not in names:
            raise OSError(28, "No space left on device")
        archive.write(b"another " + name.encode())

    return pack


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_failure_leaves_the_folder_as_it_was(tmp_path, monkeypatch):
    models = [write_model(tmp_path / name) for name in ("reader", "writer")]
    publish(models, tmp_path / "to")
    before = contents(tmp_path / "to")
    monkeypatch.setattr("zoo.serving.publish.pack", packs("reader"))
    with pytest.raises(OSError, match="No space left"):
        publish(models, tmp_path / "to")
    assert contents(tmp_path / "to") == before
    monkeypatch.setattr("zoo.serving.publish.pack", packs("reader", "writer"))
    monkeypatch.setattr("zoo.serving.index.MAXIMUM_BYTES", 8)
    with pytest.raises(ValueError, match="'bytes' must be 1 to 8, got"):
        publish(models, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    monkeypatch.undo()
    monkeypatch.setattr("zoo.serving.publish.pack", packs("reader", "writer"))
    monkeypatch.setattr("zoo.serving.publish.parse_index", refuse_the_second(parse_index))
    with pytest.raises(ValueError, match="refused"):
        publish(models, tmp_path / "to")
    assert contents(tmp_path / "to") == before


def refuse_the_second(parse):
    """A `parse_index` that reads the index there, and refuses the one to be written."""
    calls = []

    def parse_once(*arguments):
        calls.append(arguments)
        if len(calls) > 1:
            raise ValueError("refused")
        return parse(*arguments)

    return parse_once
