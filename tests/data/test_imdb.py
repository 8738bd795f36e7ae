"""Reviews in both layouts, in files of this test's own."""

import gzip
import json
import re
from pathlib import Path

import pytest

from zoo.data.imdb import DATA_SET, LABELS, find_imdb, read_imdb

REVIEWS = [
    ("0_9", 1, "Good.<br /><br />Really."),
    ("2_7", 1, "Fine \u2028 film, \x85 caf\u00e9."),
    ("10_8", 1, "Fun"),
    ("0_1", 0, "Bad!"),
]


def write_folders(root: Path) -> None:
    """Writes the published layout."""
    for split in ("train", "test"):
        for name, label, text in REVIEWS:
            folder = root / split / ("pos" if label else "neg")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    (root / "train/unsup").mkdir()
    (root / "train/labeledBow.feat").write_text("9 0:9")


def write_lines(root: Path) -> None:
    """Writes an object a line."""
    root.mkdir(parents=True, exist_ok=True)
    for split in ("train", "test"):
        rows = [
            json.dumps({"id": name, "label": label, "rating": 1, "text": text})
            for name, label, text in REVIEWS
        ]
        with gzip.open(root / f"{split}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(rows) + "\n")


@pytest.mark.parametrize("root", ["aclImdb", "imdb/aclImdb", "imdb", "."])
def test_folders_are_read_where_they_lie(tmp_path: Path, root: str) -> None:
    write_folders(tmp_path / root)
    assert not DATA_SET.missing(tmp_path)
    assert find_imdb("test", tmp_path) == tmp_path / root / "test"
    frame = read_imdb(find_imdb("train", tmp_path))
    assert frame["text"].tolist() == [text.replace("<br />", " ") for *_, text in REVIEWS]
    assert [LABELS[label] for label in frame["label"]] == ["positive"] * 3 + ["negative"]


@pytest.mark.parametrize("root", ["imdb", "."])
def test_lines_are_the_same_reviews(tmp_path: Path, root: str) -> None:
    write_lines(tmp_path / root)
    write_folders(tmp_path / "other")
    assert not DATA_SET.missing(tmp_path)
    frame = read_imdb(find_imdb("train", tmp_path))
    assert frame.equals(read_imdb(tmp_path / "other/train"))


def test_a_missing_part_is_told(tmp_path: Path) -> None:
    write_folders(tmp_path / "aclImdb")
    (tmp_path / "aclImdb/test/neg").rename(tmp_path / "aclImdb/test/negative")
    assert DATA_SET.missing(tmp_path) == ["test.jsonl"]
    with pytest.raises(FileNotFoundError, match=r"test.jsonl or aclImdb/test: not found in .*unpa"):
        find_imdb("test", tmp_path)
    with pytest.raises(ValueError, match=r"split must be one of .*, got 'dev'"):
        find_imdb("dev", tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "x"}', "line 2: 'label' must be text, got nothing"),
        ('{"label": 1}', "line 2: 'text' must be text, got nothing"),
        ('{"label": 1, "text": " "}', "line 2: 'text' must be text, got ' '"),
        ('{"label": 2, "text": "x"}', "line 2: label must be one of '0', '1', got '2'"),
        ("[1]", r"line 2 must be an object, got \[1\]"),
        ("{", "line 2 is not valid JSON"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(f'{{"label": 0, "text": "x"}}\n{line}\n')
    with pytest.raises(ValueError, match=f"train.jsonl: {message}"):
        read_imdb(path)


def test_a_column_that_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text('{"stars": 0, "text": "x"}\n')
    with pytest.raises(ValueError, match="a column must be named 'label', got 'stars', 'text'"):
        read_imdb(path)


def test_a_malformed_folder_is_named(tmp_path: Path) -> None:
    write_folders(tmp_path)
    review = tmp_path / "train/neg/0_1.txt"
    review.write_bytes(b"caf\xe9")
    with pytest.raises(ValueError, match=re.escape(f"{review}: line 1 is not UTF-8: byte 0xe9")):
        read_imdb(tmp_path / "train")
    review.write_text(" \n")
    with pytest.raises(ValueError, match=re.escape(f"{review} must be a review, got an empty")):
        read_imdb(tmp_path / "train")
    review.unlink()
    with pytest.raises(ValueError, match=r"must hold a review a file, got no \.txt file"):
        read_imdb(tmp_path / "train")
