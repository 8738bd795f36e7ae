"""The readers of handed-in text: what ends a line, marks at the beginning, broken-off files."""

import gzip
import io
import re
from pathlib import Path

import pytest

from zoo.text_files import (
    FileText,
    iterate_lines,
    open_content,
    read_content,
    read_lines,
    read_text,
    split_lines,
)

ROOT = Path(__file__).resolve().parent.parent
MARK = "\ufeff"
TEXTS = {
    "": [],
    "\n": [""],
    "\r\n": [""],
    "a": ["a"],
    "a\n": ["a"],
    "a\r\n": ["a"],
    "a\n\n": ["a", ""],
    "a\r\n\nb": ["a", "", "b"],
    "a\r": ["a\r"],
    "a\rb\r\r\nc": ["a\rb\r", "c"],
    "a\u2028b\x0bc\x0cd\x85e\x1cf\x00\n\ufeffg": ["a\u2028b\x0bc\x0cd\x85e\x1cf\x00", "\ufeffg"],
}


@pytest.fixture(params=["text.txt", "text.txt.gz"])
def write(tmp_path: Path, request: pytest.FixtureRequest):
    def write_file(content: bytes) -> Path:
        path = tmp_path / request.param
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        return path

    return write_file


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("mark", ["", MARK])
def test_all_readers_agree(write, text: str, mark: str) -> None:
    content = (mark + text).encode()
    path, lines = write(content), TEXTS[text]
    first = len(mark.encode())
    assert read_content(path) == content
    assert read_text(path) == read_text(str(path)) == FileText(text, first)
    assert split_lines(text) == lines
    with open_content(path) as file:
        found = list(iterate_lines(file))
    assert [line.decode() for _, line in found] == lines
    assert [number for number, _ in found[:1]] == [first] * bool(text)
    assert not any(number for number, _ in found[1:])
    if lines:
        assert read_lines(path) == lines
    else:
        with pytest.raises(
            ValueError, match=rf"{re.escape(str(path))} must hold .*, got an empty file"
        ):
            read_lines(path)


def test_only_one_mark_is_left_out(write) -> None:
    path = write((MARK + MARK + "a").encode())
    assert read_text(path) == FileText(MARK + "a", 3)
    assert list(iterate_lines(io.BytesIO((MARK + MARK + "a").encode()))) == [
        (3, f"{MARK}a".encode())
    ]


def test_bytes_that_are_not_utf8_are_named_by_line(write) -> None:
    path = write("gut\r\nschön\rx\n".encode() + b"gr\xf6\xdfer\n")
    for read in (read_text, read_lines):
        with pytest.raises(ValueError, match="line 3 is not UTF-8: byte 0xf6, invalid") as error:
            read(path)
        assert str(path) in str(error.value)


def test_broken_off_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    whole = gzip.compress("".join(map(str, range(9999))).encode())
    flipped = whole[:99] + bytes([whole[99] ^ 0xFF]) + whole[100:]
    for broken in (whole[:-1], whole[:500], whole[:4], flipped, b"plain text", whole + b"more"):
        path.write_bytes(broken)
        for read in (read_content, read_text, read_lines, _all_bytes):
            with pytest.raises(ValueError, match=r"text\.gz: not a complete gzip file"):
                read(path)


def _all_bytes(path: Path) -> bytes:
    with open_content(path) as file:
        return file.read()


def test_a_missing_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    for read in (read_content, read_text, read_lines, _all_bytes):
        with pytest.raises(FileNotFoundError, match=r"none\.txt\.gz"):
            read(tmp_path / "none.txt.gz")


def test_nothing_else_reads_what_people_hand_in() -> None:
    other = re.compile(r"\.read_text\(|\.decompress\(|GzipFile\(path|sys\.stdin\.read")
    parts = ("zoo/cli", "zoo/data", "zoo/metrics", "zoo/text", "recipes")
    sources = [path for part in parts for path in (ROOT / part).rglob("*.py")]
    assert sources
    assert [path for path in sources if other.search(path.read_text(encoding="utf-8"))] == []
