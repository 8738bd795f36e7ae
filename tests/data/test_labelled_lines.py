"""Labelled lines in Latin-1, in files of this test's own."""

from pathlib import Path

import pandas as pd
import pytest

from zoo.data.labelled_lines import SETS, find_lines, fold_of, read_labelled_lines


def test_a_line_is_a_label_and_a_sentence_in_latin_1(tmp_path: Path) -> None:
    path = tmp_path / "rt-polarity.all"
    path.write_bytes(b"0 simplistic , \x85 and clich\xe9s . \n1 0 stars ? \x0c no\r\n")
    frame = read_labelled_lines(path, "mr")
    assert frame["text"].tolist() == ["simplistic , \x85 and clich\xe9s .", "0 stars ? \x0c no"]
    assert frame["label"].tolist() == [0, 1]
    assert SETS["mr"].labels == ("negative", "positive")


def test_questions_have_numbers_or_names(tmp_path: Path) -> None:
    path = tmp_path / "train_5500.label"
    names = ("DESC:manner", "ENTY:cremat", "ABBR:exp", "HUM:ind", "LOC:other", "NUM")
    path.write_text("".join(f"{name} Why {number} ?\n" for number, name in enumerate(names)))
    frame = read_labelled_lines(path, "trec")
    path.write_text("".join(f"{number} Why {number} ?\n" for number in range(6)))
    assert frame.equals(read_labelled_lines(path, "trec"))
    assert frame["label"].tolist() == [0, 1, 2, 3, 4, 5]
    expected = ("description", "entity", "abbreviation", "human", "location", "number")
    assert SETS["trec"].labels == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("DESC", "line 2: 'text' must be text, got nothing"),
        ("", "line 2: '(label|text)' must be text, got nothing"),
        ("DESCRIPTION:x Why ?", r"line 2: label must be one of '0', .*, got 'DESCRIPTION'"),
        ("6 Why ?", r"line 2: label must be one of .*, got '6'"),
        ("0\tWhy ?", r"line 2: .*must be"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "TREC.train.all"
    path.write_text(f"0 Why ?\n{line}\n1 What ?\n")
    with pytest.raises(ValueError, match=f"TREC.train.all: {message}"):
        read_labelled_lines(path, "trec")


def test_files_are_found_by_either_name(tmp_path: Path) -> None:
    folder = tmp_path / "text-classification"
    folder.mkdir()
    (folder / "TREC.train.all").touch()
    (tmp_path / "TREC_10.label").touch()
    assert [path.name for path in find_lines("trec", tmp_path)] == [
        "TREC.train.all",
        "TREC_10.label",
    ]
    with pytest.raises(FileNotFoundError, match=r"subj.all: not found in .*put it at"):
        find_lines("subj", tmp_path)
    for read in (find_lines, lambda name: read_labelled_lines(tmp_path / "x", name)):
        with pytest.raises(ValueError, match=r"name must be one of .*, got 'cr'"):
            read("cr")


def test_ten_folds_share_out_every_sentence_and_class() -> None:
    frame = pd.DataFrame({"text": [str(n) for n in range(63)], "label": [0] * 40 + [1] * 23})
    tested = []
    for fold in range(10):
        train, test = fold_of(frame, fold)
        assert {*train["text"]} | {*test["text"]} == {*frame["text"]}
        assert len(train) + len(test) == len(frame)
        assert (test["label"] == 0).sum() == 4
        assert 2 <= (test["label"] == 1).sum() <= 3
        tested += test["text"].tolist()
    assert sorted(tested) == sorted(frame["text"])
    for fold in (-1, 10):
        with pytest.raises(ValueError, match=f"fold must be from 0 to 9, got {fold}"):
            fold_of(frame, fold)
