"""Annotated alignments in both formats, and scores of links against them."""

from pathlib import Path

import pytest

from zoo.metrics.alignment import Alignment, aer
from zoo.metrics.gold import read_gold, score_links

LENGTHS = [(3, 2), (1, 1), (2, 4)]
WANTED = [
    Alignment(frozenset({(0, 0)}), frozenset({(0, 0), (2, 1)})),
    Alignment(frozenset(), frozenset()),
    Alignment(frozenset({(1, 3)}), frozenset({(1, 3)})),
]


def write(folder: Path, name: str, lines: list[str]) -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.mark.parametrize(
    ("name", "lines", "first"),
    [
        ("gold.txt", ["0-0 2p1", "", "1-3"], 0),
        ("gold.txt", ["1-1 3p2", "", "2-4"], 1),
        ("gold.wa", ["1 0 0 S", "1 2 1 P", "3 1 3"], 0),
        ("gold.wa", ["1 1 1 S", "1 3 2 P", "3 2 4"], 1),
    ],
)
def test_both_formats_are_read(name, lines, first, tmp_path: Path) -> None:
    assert read_gold(write(tmp_path, name, lines), first, LENGTHS) == (WANTED, 0)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("gold.txt", ["0-0 2p1", "", "1-3"]),
        ("gold.wa", ["1 1 1 S", "1 3 2 P", "1 0 2 S", "3 2 4"]),  # 0 is the empty word
    ],
)
def test_each_format_counts_as_usual_unless_told(name, lines, tmp_path: Path) -> None:
    assert read_gold(write(tmp_path, name, lines), None, LENGTHS) == (WANTED, 0)


@pytest.mark.parametrize("drop_outside", [False, True])
@pytest.mark.parametrize(
    ("name", "line"),
    [("gold.txt", "1-1 2-2"), ("gold.wa", "{0} 1 1 S\n{0} 2 2 S\n{0} 0 3 S")],
)
def test_a_file_that_seems_to_count_from_one_is_told(name, line, drop_outside, tmp_path) -> None:
    path = write(tmp_path, name, [line.format(pair) for pair in range(1, 11)])
    with pytest.warns(UserWarning, match="none of 10 alignments has the .*first=1"):
        read_gold(path, 0, [(4, 4)] * 10, drop_outside=drop_outside)


def test_links_that_name_the_target_first_are_turned(tmp_path: Path) -> None:
    path = write(tmp_path, "gold.txt", ["0-0 1p2", "", "3-1"])
    assert read_gold(path, 0, LENGTHS, exchanged=True) == (WANTED, 0)
    with pytest.raises(ValueError, match="link must be inside of 3 source and 2 target"):
        read_gold(path, 0, LENGTHS)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("gold.txt", ["0-0 2p1 3p1 0-2", "", "1-3"]),
        ("gold.wa", ["1 0 0 S", "1 2 1 P", "1 3 1 P", "1 0 2 S", "3 1 3 S"]),
    ],
)
def test_links_beyond_their_sentences_are_refused_or_counted(name, lines, tmp_path) -> None:
    path = write(tmp_path, name, lines)
    with pytest.raises(ValueError, match="sentence pair 1: link must be inside of 3 source"):
        read_gold(path, 0, LENGTHS)
    assert read_gold(path, 0, LENGTHS, drop_outside=True) == (WANTED, 2)


def test_a_file_of_other_pairs_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "gold.txt", ["0-0", ""])
    with pytest.raises(ValueError, match=r"gold\.txt must have 3 lines, one a pair, got 2"):
        read_gold(path, 0, LENGTHS, drop_outside=True)


def test_scores_are_counted_over_all_pairs() -> None:
    found = [{(0, 0), (2, 1), (1, 1)}, {(0, 0)}, {(1, 3)}]
    scores = score_links(found, WANTED)
    # Of five links three are possible; of two sure ones both are found.
    assert scores == (1 - (2 + 3) / (5 + 2), 3 / 5, 1.0, 5)
    assert scores.error_rate == aer(found, WANTED)
    assert score_links([(), (), {(0, 0)}], WANTED) == (1.0, 0.0, 0.0, 1)
    assert score_links([()] * 3, WANTED) == (1.0, 0.0, 0.0, 0)


def test_annotations_are_scored_with_their_possible_links() -> None:
    found = [Alignment(frozenset({(0, 0)}), frozenset({(0, 0), (2, 1)})), {(0, 0)}, set()]
    assert score_links(found, WANTED) == score_links([{(0, 0), (2, 1)}, {(0, 0)}, ()], WANTED)
