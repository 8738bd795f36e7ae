"""Reading sentiment trees, in files of this test's own."""

from pathlib import Path

import pytest

from zoo.data.sst import LABELS, Phrase, find_sst, parse_tree, read_sst

TREES = [
    "(4 (2 A) (3 (4 fine) (2 film)))",
    "(2 (2 It) (2 ends))",
    "(1 (0 dull) (2 film))",
]


def write(folder: Path, *lines: str) -> Path:
    path = folder / "train.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_a_tree_is_its_nodes_from_the_top() -> None:
    assert parse_tree(TREES[0]) == [
        Phrase(4, ["A", "fine", "film"]),
        Phrase(2, ["A"]),
        Phrase(3, ["fine", "film"]),
        Phrase(4, ["fine"]),
        Phrase(2, ["film"]),
    ]
    assert parse_tree(" (3  fine ) ") == [Phrase(3, ["fine"])]


def test_spelled_out_characters_are_what_they_stand_for() -> None:
    (tree, *_) = parse_tree(r"(2 (2 -LRB-) (2 (2 1\/2) (2 (2 f\*\*\*) (2 -RRB-))))")
    assert tree.words == ["(", "1/2", "f***", ")"]


def test_a_no_break_space_is_part_of_a_word() -> None:
    assert parse_tree("(2 (2 8\u00a01\\/2) (3 stars))")[1] == Phrase(2, ["8\u00a01/2"])


def test_a_deep_tree_needs_no_recursion() -> None:
    depth = 2000
    nodes = parse_tree("(2 (2 a) " * depth + "(2 b)" + ")" * depth)
    assert nodes[0].words == ["a"] * depth + ["b"]
    assert len(nodes) == 2 * depth + 1


def test_sentences_of_five_classes(tmp_path: Path) -> None:
    frame = read_sst(write(tmp_path, *TREES))
    assert frame["text"].tolist() == ["A fine film", "It ends", "dull film"]
    assert frame["label"].tolist() == [4, 2, 1]
    assert len(LABELS[5]) == 5


def test_two_classes_leave_out_what_is_neutral(tmp_path: Path) -> None:
    frame = read_sst(write(tmp_path, *TREES), classes=2)
    assert frame["text"].tolist() == ["A fine film", "dull film"]
    assert frame["label"].tolist() == [1, 0]


def test_phrases_are_examples_once(tmp_path: Path) -> None:
    frame = read_sst(write(tmp_path, *TREES), phrases=True)
    assert frame["text"].tolist() == [
        *("A fine film", "A", "fine film", "fine", "film"),
        *("It ends", "It", "ends"),
        *("dull film", "dull"),
    ]
    assert frame["label"].tolist() == [4, 2, 3, 4, 2, 2, 2, 2, 1, 0]
    binary = read_sst(tmp_path / "train.txt", classes=2, phrases=True)
    assert binary["text"].tolist() == ["A fine film", "fine film", "fine", "dull film", "dull"]
    assert binary["label"].tolist() == [1, 1, 1, 0, 0]


def test_nothing_but_neutral_sentences_leaves_an_empty_frame(tmp_path: Path) -> None:
    frame = read_sst(write(tmp_path, TREES[1]), classes=2)
    assert frame.empty
    assert list(frame.columns) == ["text", "label"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "no tree at the end of the line"),
        ("a film", r"character 1 must be '\(' and a label, got 'a'"),
        ("(2 (2 a) (2 film)", r"1 '\)' missing"),
        ("(2 (2 a) (2 film)))", r"character 19 must be '\(' and a label, got '\)'"),
        ("(5 film)", "character 2 must be a label from 0 to 4, got '5'"),
        ("(film)", "character 2 must be a label from 0 to 4, got 'film'"),
        ("(2 a film)", r"character 6 must be '\)' after a word or two trees, got 'film'"),
        ("(2 (2 a))", "character 9 must be a word or a tree, got the end of a node"),
        ("(2 (2 a) (2 b) (2 c))", "character 21 must be a word or a tree, got the end of a node"),
        ("(2 (2 a) b)", r"character 10 must be '\)' after a word or two trees, got 'b'"),
        ("(2 a (2 b))", "character 11 must be a word or a tree, got the end of a node"),
        ("(2)", "character 3 must be a word or a tree, got the end of a node"),
        ("((2 a) (2 b))", "a label must come before character 6, got a tree"),
        ("(2 a) (2 b)", "character 7 must be the end of the line, got a second tree"),
    ],
)
def test_a_line_that_is_no_tree_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path, TREES[0], line, TREES[1])
    with pytest.raises(ValueError, match=rf"train.txt: line 2: {message}"):
        read_sst(path)


def test_other_refusals(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must hold a sentence a line, got an empty file"):
        read_sst(write(tmp_path))
    with pytest.raises(ValueError, match=r"classes must be one of \[2, 5\], got 3"):
        read_sst(write(tmp_path, *TREES), classes=3)
    with pytest.raises(ValueError, match=r"split must be one of .*, got 'valid'"):
        find_sst("valid", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"dev.txt: not found in .*; unpack http"):
        find_sst("dev", tmp_path)
    assert find_sst("train", tmp_path) == tmp_path / "train.txt"
