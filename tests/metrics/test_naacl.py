"""Files of alignments with a link per line."""

import gzip
from pathlib import Path

import pytest

from zoo.metrics.alignment import Alignment, aer
from zoo.metrics.naacl import read_naacl

LINES = ["1 1 1 S", "1 2 3 P", "", "0003 1 2", "3 2 1 P 0.75", "3 2 2 S 1 "]


def links(sure: set, possible: set) -> Alignment:
    return Alignment(frozenset(sure), frozenset(sure | possible))


EXPECTED = [
    links({(0, 0)}, {(1, 2)}),
    links(set(), set()),
    links({(0, 1), (1, 1)}, {(1, 0)}),
]


def test_links_are_collected_by_sentence_pair(tmp_path: Path) -> None:
    assert read_naacl(LINES) == EXPECTED
    path = tmp_path / "gold.wa"
    path.write_bytes("\ufeff".encode() + "\r\n".join(LINES).encode())
    assert read_naacl(path) == EXPECTED
    packed = tmp_path / "gold.wa.gz"
    packed.write_bytes(gzip.compress("\n".join(LINES).encode()))
    assert read_naacl(packed) == EXPECTED
    assert aer([{(0, 0)}, set(), {(0, 1)}], EXPECTED) == pytest.approx(1 - 4 / 5)


def test_pairs_without_links_are_there() -> None:
    assert read_naacl(LINES, sentences=4) == [*EXPECTED, links(set(), set())]
    assert read_naacl(LINES, lengths=[(2, 3)] * 5)[3:] == [links(set(), set())] * 2
    assert read_naacl([]) == []


def test_files_may_count_from_zero() -> None:
    assert read_naacl(["1 0 0 S", "1 2 1 P"], first=0) == [links({(0, 0)}, {(2, 1)})]


def test_the_empty_word_has_no_link() -> None:
    assert read_naacl(["1 0 4 S", "2 3 0 P", "2 1 1"]) == [
        links(set(), set()),
        links({(0, 0)}, set()),
    ]


@pytest.mark.parametrize("line", ["1 2", "1 2 3 X", "1-2", "1 2 -3 S", "1 2 3 S 0.5 6", "a 1 1"])
def test_malformed_lines_are_named(line: str) -> None:
    with pytest.raises(ValueError, match=r"^lines: line 2 must hold a link such as 1 3 4 S, got "):
        read_naacl(["1 1 1", line])


def test_sentence_pairs_that_there_are_not_are_refused() -> None:
    with pytest.raises(ValueError, match="line 1: the sentence pair must be from 1, got 0"):
        read_naacl(["0 1 1"])
    with pytest.raises(ValueError, match="line 2: the sentence pair must be from 1 to 2, got 3"):
        read_naacl(["1 1 1", "3 1 1"], sentences=2)
    with pytest.raises(ValueError, match="sentence pair 1: link must be inside of 2 source"):
        read_naacl(["1 3 1"], lengths=[(2, 2)])
    with pytest.raises(ValueError, match="first must be 0 or 1, got 2"):
        read_naacl(LINES, first=2)


def test_a_corpus_without_a_first_token_is_told():
    ones = [f"{pair} 1 {pair}" for pair in range(1, 11)]
    read_naacl(ones)
    read_naacl(ones[1:], first=0)
    read_naacl([*ones, "11 0 0"], first=0)
    with pytest.warns(UserWarning, match="lines: none of 10 alignments has the link 0-0"):
        read_naacl(ones, first=0)
    with pytest.warns(UserWarning, match="lines: none of 10 alignments has the link 0-0"):
        read_naacl(ones, first=0, lengths=[(2, 11)] * 10)
    # Position 0 alone may be the empty word of a file that counts from 1.
    with pytest.warns(UserWarning, match="lines: none of 11 alignments has the link 0-0"):
        read_naacl([*ones, "11 0 1"], first=0)


def test_a_file_that_counts_from_zero_is_not_read_as_one_with_empty_words() -> None:
    told = "line 2 must not link two empty words, got '1 0 0 S'; first=0 reads a file"
    with pytest.raises(ValueError, match=told):
        read_naacl(["1 2 1 S", "1 0 0 S"])


def test_the_error_of_a_file_read_from_one_does_not_suggest_it() -> None:
    with pytest.raises(ValueError, match=r"counted from 0, got 2-0$"):
        read_naacl(["1 3 1"], lengths=[(2, 2)])
    with pytest.raises(ValueError, match=r"got 3-1; first=1 reads a file that counts from 1$"):
        read_naacl(["1 3 1"], first=0, lengths=[(2, 2)])
