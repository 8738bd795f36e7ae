"""Reading pairs of sentences in both published formats, in files of this test's own."""

import json
from pathlib import Path

import pytest

from zoo.data.snli import LABELS, find_snli, read_snli

PAIRS = [
    ("neutral", "A man reads.", "He reads a novel."),
    ("-", "Two dogs run.", "Nobody knows."),
    ("contradiction", "A child\u2028sleeps.", 'The child "runs".'),
    ("entailment", "Snow falls.", "It snows."),
]


def as_json(pairs=PAIRS) -> list[str]:
    return [
        json.dumps({"gold_label": label, "sentence1": one, "sentence2": two, "pairID": "7"})
        for label, one, two in pairs
    ]


def as_table(pairs=PAIRS) -> list[str]:
    rows = [f"{label}\t( parse )\t{one}\t{two}\t{label}" for label, one, two in pairs]
    return ["gold_label\tsentence1_parse\tsentence1\tsentence2\tlabel1", *rows]


def write(folder: Path, name: str, lines: list[str]) -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "lines"),
    [("snli_1.0_train.jsonl", as_json()), ("snli_1.0_train.txt", as_table())],
)
def test_both_formats_read_alike(tmp_path: Path, name: str, lines: list[str]) -> None:
    frame = read_snli(write(tmp_path, name, lines))
    assert frame["premise"].tolist() == ["A man reads.", "A child\u2028sleeps.", "Snow falls."]
    assert frame["hypothesis"].tolist() == ["He reads a novel.", 'The child "runs".', "It snows."]
    assert [LABELS[label] for label in frame["label"]] == ["neutral", "contradiction", "entailment"]
    assert frame.attrs == {"dropped": 1}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2 is not valid JSON"),
        ("", "line 2 is not valid JSON"),
        ("[1]", r"line 2 must be an object, got \[1\]"),
        ('{"gold_label": "neutral"}', "line 2 must have a string 'sentence1', got none"),
        (
            '{"gold_label": 1, "sentence1": "a", "sentence2": "b"}',
            "line 2 must have a string 'gold_label', got 1",
        ),
        (
            '{"gold_label": "maybe", "sentence1": "a", "sentence2": "b"}',
            "line 2: gold_label must be one of .*, got 'maybe'",
        ),
        (
            '{"gold_label": "neutral", "sentence1": " ", "sentence2": "b"}',
            "line 2: sentence1 must be a sentence, got an empty one",
        ),
        (
            '{"gold_label": "neutral", "sentence1": "a", "sentence2": "\\ud83d"}',
            "line 2: sentence2 has half of a surrogate pair",
        ),
    ],
)
def test_a_malformed_object_is_named(tmp_path: Path, line: str, message: str) -> None:
    lines = as_json()
    path = write(tmp_path, "snli_1.0_train.jsonl", [lines[0], line, *lines[1:]])
    with pytest.raises(ValueError, match=f"train.jsonl: {message}"):
        read_snli(path)


def test_a_malformed_table_is_named(tmp_path: Path) -> None:
    lines = as_table()
    path = write(tmp_path, "a.txt", [*lines[:3], "neutral\tonly", *lines[3:]])
    with pytest.raises(
        ValueError, match=r"a.txt: line 4 must have 5 columns, as line 1 has, got 2"
    ):
        read_snli(path)
    path = write(tmp_path, "b.txt", lines[1:])
    with pytest.raises(ValueError, match=r"b.txt: line 1 must have one column named 'gold_label'"):
        read_snli(path)
    path = write(tmp_path, "c.txt", [*lines, "maybe\t\ta\tb\t"])
    with pytest.raises(
        ValueError, match=r"c.txt: line 6: gold_label must be one of .*, got 'maybe'"
    ):
        read_snli(path)


def test_nothing_with_a_label_is_refused(tmp_path: Path) -> None:
    for name, lines in (("a.jsonl", as_json(PAIRS[1:2])), ("b.txt", as_table([]))):
        with pytest.raises(ValueError, match="must hold a pair with a gold label, got none"):
            read_snli(write(tmp_path, name, lines))


def test_either_format_is_found(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"snli_1.0_dev.jsonl: not found in .*; unpack http"
    ):
        find_snli("dev", tmp_path)
    (tmp_path / "snli_1.0").mkdir()
    table = write(tmp_path / "snli_1.0", "snli_1.0_dev.txt", as_table())
    assert find_snli("dev", tmp_path) == table
    objects = write(tmp_path / "snli_1.0", "snli_1.0_dev.jsonl", as_json())
    assert find_snli("dev", tmp_path) == objects
    with pytest.raises(ValueError, match=r"split must be one of .*, got 'valid'"):
        find_snli("valid", tmp_path)
