"""The data sets of classification as the recipes take them: parts, records, what is refused."""

import gzip
import json
import logging

import pytest

from zoo.tasks.classification.data import load_texts, resolve_data

LOGGER = logging.getLogger(__name__)


@pytest.fixture
def data_dir(tmp_path):
    """Forty reviews and forty sentences, in both layouts of the reviews."""
    texts = [(number % 2, f"Review {number}.") for number in range(40)]
    for split in ("train", "test"):
        for label, text in texts:
            folder = tmp_path / "folders" / "aclImdb" / split / ("pos" if label else "neg")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{text.split()[1]}7.txt").write_text(text)
        rows = [json.dumps({"label": label, "text": text}) for label, text in texts]
        (tmp_path / "imdb").mkdir(exist_ok=True)
        with gzip.open(tmp_path / "imdb" / f"{split}.jsonl.gz", "wt") as file:
            file.write("\n".join(rows))
    lines = "".join(f"{label} {text}\n" for label, text in texts)
    for name in ("TREC.train.all", "TREC.test.all", "rt-polarity.all"):
        (tmp_path / name).write_text(lines)
    return tmp_path


@pytest.mark.parametrize("data", ["imdb", "trec", "mr"])
def test_a_share_of_the_training_part_is_held_out_and_the_test_part_is_not_touched(data_dir, data):
    found = load_texts(data, 3, 0.25, data_dir, LOGGER)
    train, dev, test = (
        {*frame["text"]} for frame in (found.training, found.validation, found.test)
    )
    tested = 4 if data == "mr" else 40
    assert len(test) == tested
    assert (len(train), len(dev)) == ((27, 9) if data == "mr" else (30, 10))
    assert not train & dev
    if data == "mr":
        assert not test & (train | dev)
        assert found.record.evaluation == "fold 3 of 10"
    assert found.labels[0] == ("description" if data == "trec" else "negative")
    assert "25% of the training part held out" in found.record.remarks
    assert found.record.name.startswith("own files: ")  # of this test, not the published ones


def test_folders_are_one_entry_each_in_the_record(data_dir):
    found = load_texts("imdb", 0, 0.1, data_dir / "folders", LOGGER)
    assert found.record.sha256.keys() == {"train", "test"}
    assert len({*found.record.sha256.values()}) == 1  # of the same names and content
    review = data_dir / "folders/aclImdb/test/pos/17.txt"
    review.write_text("Changed.")
    changed = load_texts("imdb", 0, 0.1, data_dir / "folders", LOGGER).record.sha256
    assert changed["train"] == found.record.sha256["train"]
    assert changed["test"] != found.record.sha256["test"]


def test_the_sample_has_two_classes():
    found = load_texts("sample", 0, 0.1, None, LOGGER)
    assert found.labels == ("negative", "positive")
    assert {*found.training["label"]} == {0, 1}


def test_what_cannot_be_is_refused(data_dir):
    with pytest.raises(ValueError, match="fold must be from 0 to 9, got 10"):
        load_texts("mr", 10, 0.1, data_dir, LOGGER)
    with pytest.raises(ValueError, match=r"held_out must leave some of the 40 .*, got 0.0"):
        load_texts("imdb", 0, 0.0, data_dir, LOGGER)


def test_auto_takes_the_reviews_where_they_lie(data_dir, monkeypatch, tmp_path):
    assert resolve_data("auto", "imdb", data_dir) == "imdb"
    assert resolve_data("auto", "imdb", data_dir / "folders") == "imdb"
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.delenv("ZOO_DATA", raising=False)
    assert resolve_data("auto", "imdb", None) == "sample"
    with pytest.raises(FileNotFoundError, match=r"imdb needs train.jsonl or aclImdb/train, "):
        resolve_data("auto", "imdb", tmp_path / "imdb" / "nowhere")
