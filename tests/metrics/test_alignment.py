"""Links out of attention, the Pharaoh format and the alignment error rate, by hand."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from zoo.metrics.alignment import Alignment, aer, links, read_pharaoh, write_pharaoh

WEIGHTS = np.array(
    [
        [0.1, 0.6, 0.2, 0.1],
        [0.5, 0.2, 0.2, 0.1],
        [0.1, 0.2, 0.3, 0.4],
        [0.4, 0.1, 0.4, 0.1],
    ]
)


def annotation(sure: set, possible: set) -> Alignment:
    return Alignment(frozenset(sure), frozenset(possible))


def test_links_of_both_conventions() -> None:
    predicted = links(WEIGHTS, source_length=4, target_length=3)
    assert predicted == {(1, 0), (0, 1), (3, 2)}
    read = links(WEIGHTS, source_length=4, target_length=3, convention="input")
    assert read == {(0, 0), (3, 1), (0, 2)}  # of equal weights the first


def test_the_conventions_differ_by_one_step() -> None:
    weights = np.random.default_rng(3).random((9, 5))
    read = links(weights, 5, 8, "input")
    assert len(read) == 8
    assert read == links(weights[1:], 5, 8, "predicted")


def test_padding_and_ends_have_no_links() -> None:
    assert links(WEIGHTS, source_length=3, target_length=3) == {(1, 0), (0, 1), (2, 2)}
    padded = np.pad(WEIGHTS, ((0, 2), (0, 3)), constant_values=9.0)
    assert links(padded, 4, 4) == links(WEIGHTS, 4, 4) == {(1, 0), (0, 1), (3, 2), (0, 3)}
    assert links(WEIGHTS, 4, 0) == links(WEIGHTS, 0, 4) == frozenset()
    assert links(np.zeros((0, 4)), 4, 0, "input") == frozenset()


def test_a_step_without_weights_has_no_link() -> None:
    """As with local attention whose window lies outside of the sentence."""
    weights = WEIGHTS.copy()
    weights[1] = 0
    assert links(weights, 4, 3) == {(1, 0), (3, 2)}


def test_links_are_plain_numbers() -> None:
    found = links(WEIGHTS.astype(np.float32), 4, 4)
    assert len(found) == 4
    for link in found:
        assert [type(position) for position in link] == [int, int]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((WEIGHTS[0], 4, 1), r"alignment must have the shape \(T, S\), got \(4,\)"),
        ((WEIGHTS, 5, 3), r"source_length must be from 0 to 4 .* got 5"),
        ((WEIGHTS, -1, 3), r"source_length must be from 0 to 4 .* got -1"),
        ((WEIGHTS, 4, 5), r"target_length must be from 0 to 4 .* got 5"),
        ((WEIGHTS, 4, 4, "input"), r"target_length must be from 0 to 3 .* 'input', got 4"),
        ((WEIGHTS, 4, 4, "output"), "convention must be 'predicted' or 'input', got 'output'"),
        ((WEIGHTS * np.nan, 4, 4), "alignment must be finite, got"),
    ],
)
def test_links_name_what_is_wrong(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        links(*arguments)


def test_error_rate_by_hand() -> None:
    """A has 3 links: 1 sure, 2 possible; S has 2. 1 - (1 + 2) / (3 + 2)."""
    reference = annotation({(0, 0), (1, 1)}, {(0, 0), (1, 1), (1, 2)})
    assert aer([{(0, 0), (1, 2), (2, 1)}], [reference]) == pytest.approx(0.4)
    assert aer([{(0, 0), (1, 1)}], [reference]) == 0.0
    assert aer([{(0, 0), (1, 1), (1, 2)}], [reference]) == 0.0
    assert aer([{(2, 2)}], [reference]) == 1.0
    assert aer([set()], [reference]) == 1.0


def test_sure_links_are_possible_without_saying_so() -> None:
    assert aer([{(0, 0)}], [annotation({(0, 0)}, set())]) == 0.0


def test_the_error_rate_of_a_file_that_was_read() -> None:
    read = read_pharaoh(["0-0 1p1 2-3", ""])
    assert aer(read, read) == 0.0
    assert aer(read_pharaoh(["0-0 1-2", "0-0"]), read) == pytest.approx(1 - (1 + 1) / (3 + 2))


def test_error_rate_counts_over_the_corpus() -> None:
    references = [annotation({(0, 0)}, set()), annotation({(0, 0), (1, 1), (2, 2)}, {(5, 5)})]
    hypotheses = [{(0, 1)}, {(0, 0), (1, 1), (5, 5)}]
    assert aer(hypotheses, references) == pytest.approx(1 - (0 + 0 + 2 + 3) / (1 + 1 + 3 + 3))
    assert aer([set(), hypotheses[0]], [annotation(set(), set()), references[0]]) == 1.0


def test_error_rate_of_nothing() -> None:
    for corpus in ([], [annotation(set(), {(0, 0)})]):
        with pytest.raises(
            ValueError, match="references must hold a sure link, or hypotheses a link"
        ):
            aer([set()] * len(corpus), corpus)
    with pytest.raises(ValueError, match="must be one for each of the 1 references, got 2"):
        aer([set(), set()], [annotation({(0, 0)}, set())])


def test_read_pharaoh(tmp_path: Path) -> None:
    expected = [
        annotation({(0, 0), (10, 2)}, {(0, 0), (10, 2), (1, 12)}),
        annotation(set(), set()),
        annotation({(1, 1)}, {(1, 1)}),
    ]
    lines = ["0-0  10-2\t1p12 0p0", "", "1-1"]
    assert read_pharaoh(lines) == expected
    path = tmp_path / "gold.txt"
    for content in ("\n".join(lines), "\n".join(lines) + "\n", "\r\n".join(lines) + "\r\n"):
        path.write_bytes(content.encode())
        assert read_pharaoh(path) == read_pharaoh(str(path)) == expected
    path.write_text("")
    assert read_pharaoh(path) == []
    path.write_text("\n")
    assert read_pharaoh(path) == [annotation(set(), set())]


@pytest.mark.parametrize(
    "word", ["0", "0-", "-1-2", "1--2", "a-b", "0-1-2", "0P1", "1.0-2", "²-1", "0_1"]
)
def test_malformed_lines_are_named(tmp_path: Path, word: str) -> None:
    path = tmp_path / "gold.txt"
    path.write_text(f"0-0\n1-1 {word} 2-2\n", encoding="utf-8")
    message = f"line 2 must hold links such as 0-1 or 0p1, got {word!r}"
    with pytest.raises(ValueError, match=re.escape(f"{path}: {message}")):
        read_pharaoh(path)
    with pytest.raises(ValueError, match=re.escape(f"lines: {message}")):
        read_pharaoh(iter(["", word]))


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "gold.txt"
    path.write_bytes(b"0-0\n\xff\n")
    with pytest.raises(ValueError, match=r"gold\.txt: line 2 is not UTF-8: byte 0xff"):
        read_pharaoh(path)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_only_line_feeds_end_a_line(tmp_path: Path, mark: str) -> None:
    """As of parallel text, whose lines the alignments belong to."""
    expected = [annotation({(0, 0), (1, 1)}, {(0, 0), (1, 1)}), annotation({(2, 2)}, {(2, 2)})]
    path = tmp_path / "gold.txt.gz"
    for end in ("\n", "\r\n"):
        text = f"{mark}0-0\r1-1{end}2-2{end}"
        path.write_bytes(gzip.compress(text.encode()))
        assert read_pharaoh(path) == read_pharaoh(text.split("\n")[:2]) == expected
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match=r"gold\.txt\.gz: not a complete gzip file"):
        read_pharaoh(path)


def test_files_may_count_from_one(tmp_path: Path) -> None:
    expected = read_pharaoh(["0-0 1p2", "", "3-1"])
    assert read_pharaoh(["1-1 2p3", "", "4-2"], first=1) == expected
    path = tmp_path / "out.txt"
    write_pharaoh(path, expected, first=1)
    assert path.read_text() == "1-1 2p3\n\n4-2\n"
    assert read_pharaoh(path, first=1, lengths=[(2, 3), (0, 0), (4, 2)]) == expected
    for word in ("0-1", "1p0"):
        with pytest.raises(ValueError, match=f"line 2 must hold positions from 1, got '{word}'"):
            read_pharaoh(["1-1", f"2-2 {word}"], first=1)
    for first in (2, -1, None):
        with pytest.raises(ValueError, match=f"first must be 0 or 1, got {first}"):
            read_pharaoh([], first=first)
        with pytest.raises(ValueError, match=f"first must be 0 or 1, got {first}"):
            write_pharaoh(path, [], first=first)


@pytest.mark.parametrize(("link", "length"), [("2-0", (2, 2)), ("0p2", (3, 2)), ("0-0", (0, 1))])
def test_an_index_that_equals_the_length_is_refused(link: str, length: tuple[int, int]) -> None:
    """So much of a file that counts from 1 can be told for sure."""
    lines, lengths = ["0-0", link], [(1, 1), length]
    got = link.replace("p", "-")
    message = f"sentence pair 2: link must be inside of {length[0]} source .*, got {got};"
    with pytest.raises(ValueError, match=f"lines: {message}.* first=1"):
        read_pharaoh(lines, lengths=lengths)
    read = read_pharaoh(lines)
    for name, corpus in (
        ("references", ([set(), set()], read)),
        ("hypotheses", ([pair.possible for pair in read], read_pharaoh(["0-0", ""]))),
    ):
        with pytest.raises(ValueError, match=f"{name}: {message}"):
            aer(*corpus, lengths=lengths)
    assert aer([{(0, 0)}], [annotation({(0, 0)}, set())], lengths=[(1, 1)]) == 0.0
    with pytest.raises(ValueError, match="must be one for each of the 2 lines, got 1"):
        read_pharaoh(lines, lengths=[(1, 1)])


@pytest.mark.parametrize("link", [(-1, 0), (0, -1)])
def test_a_position_below_the_first_is_refused(link: tuple[int, int]) -> None:
    """As of links whose positions were lowered by one although they counted from 0."""
    reference = [annotation({(0, 0)}, set())]
    message = (
        f"hypotheses: sentence pair 1: link must be inside of 2 source .*, got {link[0]}-{link[1]};"
    )
    with pytest.raises(ValueError, match=message):
        aer([{link}], reference, lengths=[(2, 2)])


def test_a_corpus_without_a_first_token_is_told(recwarn: pytest.WarningsRecorder) -> None:
    ones = ["1-1 2-3", ""] * 10
    read_pharaoh(ones[:-2])
    read_pharaoh(ones, first=1)
    read_pharaoh([*ones, "3-0"])
    assert not list(recwarn)
    with pytest.warns(UserWarning, match="lines: none of 10 alignments has the position 0"):
        read_pharaoh(ones, lengths=[(3, 4)] * 20)
    with pytest.warns(UserWarning, match="lines: none of 10 alignments has the position 0"):
        read_pharaoh(ones)


def test_write_pharaoh(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    alignments = [annotation({(10, 2), (0, 0)}, {(0, 0), (1, 12)}), {(1, 1), (0, 3)}, set()]
    write_pharaoh(path, alignments)
    assert path.read_bytes() == b"0-0 1p12 10-2\n0-3 1-1\n\n"
    read = read_pharaoh(path)
    assert [reading.sure for reading in read] == [alignments[0].sure, alignments[1], set()]
    assert read[0].possible == alignments[0].sure | alignments[0].possible
    with pytest.raises(ValueError, match=r"line 2 must hold positions from 0, got \(0, -1\)"):
        write_pharaoh(path, [set(), {(0, -1)}])
    assert read_pharaoh(path) == read
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.txt"]
    write_pharaoh(path, [])
    assert read_pharaoh(path) == []


def test_a_threshold_links_a_token_to_all_with_as_large_a_weight() -> None:
    weights = np.array([[0.5, 0.5, 0.0], [0.3, 0.3, 0.4], [0.9, 0.05, 0.05]])
    assert links(weights, 3, 3, threshold=0.4) == {(0, 0), (1, 0), (2, 1), (0, 2)}
    assert links(weights, 2, 2, threshold=0.4) == {(0, 0), (1, 0)}
    assert links(weights, 3, 2, "input", threshold=0.95) == frozenset()
    assert all(type(place) is int for link in links(weights, 3, 3, threshold=0.4) for place in link)
    with pytest.raises(ValueError, match="threshold must be positive, got 0"):
        links(weights, 3, 3, threshold=0)
