"""Parallel text: what fits is read, what does not is reported with its line."""

import gzip
import re
from pathlib import Path

import pytest

from zoo.data.parallel import read_lines, read_parallel, read_parallel_tsv


@pytest.fixture
def write(tmp_path: Path):
    def write_file(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        content = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write_file


def test_read_parallel(write) -> None:
    frame = read_parallel(write("a.en", "One.\nTwo three.\n"), write("a.de", "Eins.\nZwei.\n"))
    assert list(frame.columns) == ["source", "target"]
    assert frame["source"].tolist() == ["One.", "Two three."]
    assert frame["target"].tolist() == ["Eins.", "Zwei."]
    assert frame.attrs == {"dropped": []}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain", "a b\nc\td\n"),
        ("unfinished", "a b\nc\td"),
        ("crlf", "a b\r\nc\td\r\n"),
        ("crlf_unfinished", "a b\r\nc\td"),
        ("mixed", "a b\nc\td\r\n"),
        ("mark", "\ufeffa b\nc\td\n"),
        ("packed.gz", "a b\r\nc\td"),
    ],
)
def test_ways_to_end_a_line(write, name: str, content: str) -> None:
    path = write(name, content)
    assert read_lines(path) == ["a b", "c\td"]
    assert len(read_parallel(path, write("other", "1\n2\n"))) == 2


def test_nothing_else_ends_a_line(write) -> None:
    text = "a\u2028b\x0bc\x0cd\x85e\x1cf\rg\x00h"
    assert read_lines(write("a", f"{text}\n{text} \n")) == [text, f"{text} "]


@pytest.mark.parametrize(("source", "target"), [("1\n2\n3\n", "1\n2"), ("1\n2\n", "1\n2\n3")])
def test_different_numbers_of_lines_are_refused(write, source: str, target: str) -> None:
    paths = write("a.en", source), write("a.de", target)
    longer = max(paths, key=lambda path: path.stat().st_size)
    counts = [len(text.split()) for text in (source, target)]
    message = (
        f"{paths[1]} must have {counts[0]} lines, as {paths[0]} has, got {counts[1]} lines. "
        f"The first without a partner is line 3 of {longer}: '3'"
    )
    for empty in ("error", "drop"):
        with pytest.raises(ValueError, match=re.escape(message)):
            read_parallel(*paths, empty=empty)


def test_an_empty_last_line_is_a_line(write) -> None:
    """A final line break too many is a line too many, not one to overlook."""
    with pytest.raises(
        ValueError, match=r"must have 3 lines, .*, got 2 lines\. .* line 3 of .*: ''"
    ):
        read_parallel(write("a", "1\n2\n\n"), write("b", "1\n2\n"))


def test_empty_lines_are_refused_with_their_numbers(write) -> None:
    full, gaps = write("a", "1\n2\n3\n4\n"), write("b", "1\n\n \t\u00a0\r\n4\n")
    message = rf"^{re.escape(str(gaps))} must have text .*, got 2 of 4 lines empty \(line 2, 3\):"
    for paths in ((full, gaps), (gaps, full)):
        with pytest.raises(ValueError, match=message):
            read_parallel(*paths)
    many = write("c", "\n" * 9 + "x")
    with pytest.raises(ValueError, match=r"9 of 10 lines empty \(line 1, 2, 3, 4, 5, ...\)"):
        read_parallel(many, write("d", "x\n" * 10))


def test_empty_lines_can_be_dropped_with_their_pairs(write) -> None:
    paths = write("a", "1\n\n3\n4\n5"), write("b", "1\n2\n \n4\n5\n")
    frame = read_parallel(*paths, empty="drop")
    assert frame["source"].tolist() == frame["target"].tolist() == ["1", "4", "5"]
    assert frame.index.tolist() == [0, 1, 2]
    assert frame.attrs["dropped"] == [2, 3]
    with pytest.raises(ValueError, match="must have a pair with text on both sides"):
        read_parallel(write("c", "x\n\n"), write("d", "\nx\n"), empty="drop")


def test_bytes_that_are_not_utf8_are_named_by_line(write) -> None:
    path = write("a", "gut\nschön\n".encode() + "größer\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"line 3 is not UTF-8: byte 0xf6, invalid") as error:
        read_parallel(path, write("b", "1\n2\n3\n"))
    assert str(path) in str(error.value)


def test_files_without_content(write, tmp_path: Path) -> None:
    other = write("b", "1\n")
    for name in ("a", "a.gz"):
        with pytest.raises(ValueError, match="must hold a sentence a line, got an empty file"):
            read_parallel(write(name, ""), other)
    with pytest.raises(FileNotFoundError):
        read_parallel(tmp_path / "missing", other)
    whole = write("cut.gz", "1\n" * 1000)
    for broken in (whole.read_bytes()[:-9], b"1\n"):
        whole.write_bytes(broken)
        with pytest.raises(ValueError, match=r"cut.gz: not a complete gzip file"):
            read_parallel(whole, other)


def test_read_parallel_tsv(write) -> None:
    path = write("a.tsv", 'de\ten\tid\r\nEr sagt "ja\tHe says "yes\t1\r\nZwei\tTwo\t2')
    frame = read_parallel_tsv(path, columns=("en", "de"))
    assert frame["source"].tolist() == ['He says "yes', "Two"]
    assert frame["target"].tolist() == ['Er sagt "ja', "Zwei"]
    assert frame.attrs == {"dropped": []}
    by_number = read_parallel_tsv(path, columns=(1, 0))
    assert by_number["source"].tolist() == ["en", *frame["source"]]
    assert read_parallel_tsv(write("b.tsv.gz", "a\tb\n"))["target"].tolist() == ["b"]


def test_empty_cells_of_a_table(write) -> None:
    path = write("a.tsv", "en\tde\n1\t1\n\t2\n3\t\n4\t4\n")
    message = (
        rf"column 'en' of {re.escape(str(path))} must have .*, got 1 of 4 lines empty \(line 3\)"
    )
    with pytest.raises(ValueError, match=message):
        read_parallel_tsv(path, ("en", "de"))
    frame = read_parallel_tsv(path, ("en", "de"), empty="drop")
    assert frame["source"].tolist() == ["1", "4"]
    assert frame.attrs["dropped"] == [3, 4]


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("a\tb\nc\n", (0, 1), "line 2 must have 2 columns, as line 1 has, got 1"),
        ("a\tb\nc\td\te\n", (0, 1), "line 2 must have 2 columns, as line 1 has, got 3"),
        ("a\tb\n\n", (0, 1), "line 2 must have 2 columns, as line 1 has, got 1"),
        ("a\tb\n", (0, 2), "columns must be from 0 to 1, got 2"),
        ("a\tb\n", (-1, 0), "columns must be from 0 to 1, got -1"),
        ("en\tde\n1\t1\n", ("en", "fr"), "line 1 must have one column named 'fr', got"),
        ("en\ten\n1\t1\n", ("en", "en"), "line 1 must have one column named 'en', got"),
        ("en\tde\n", ("en", "de"), "must have a line after the names of the columns"),
    ],
)
def test_broken_tables_are_refused(write, content: str, columns, message: str) -> None:
    path = write("a.tsv", content)
    with pytest.raises(ValueError, match=message) as error:
        read_parallel_tsv(path, columns)
    assert str(path) in str(error.value)


def test_other_ways_to_treat_empty_lines_are_refused(write) -> None:
    path = write("a", "a\tb\n")
    for read in (
        lambda: read_parallel(path, path, empty="keep"),
        lambda: read_parallel_tsv(path, empty="keep"),
    ):
        with pytest.raises(ValueError, match="empty must be 'error' or 'drop', got 'keep'"):
            read()
