r"""Reader of all text from users: whole files, and lines of files and streams, compressed or not.

The rules are the same for all readers:

- Text is UTF-8, but for published data sets in Latin-1, in which any byte is a character. Files
  whose name ends in `.gz` are read decompressed.
- Lines end in "\n" or "\r\n"; the last one may lack its end. Nothing else ends a line: a lone "\r",
  U+2028 and other characters of Python's `splitlines` may be part of a sentence.
- Whole texts keep their line breaks, so that offsets into them match the file.
- A byte-order mark at the beginning is not text, but byte offsets into the file count it.
"""

import codecs
import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, cast

Encoding = Literal["utf-8", "latin-1"]


class FileText(NamedTuple):
    """Text of a file, or a line of a stream."""

    text: str
    first_byte: int = 0
    """Offset of the text's first byte: 3 after a byte-order mark, else 0."""


@contextmanager
def gzip_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Re-raises decompression errors as a `ValueError` that names the file."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{os.fspath(path)}: not a complete gzip file: {error}") from error


@contextmanager
def open_content(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Opens a file for reading bytes, decompressed if its name ends in `.gz`.

    Raises:
        ValueError: The compressed file is truncated or damaged, raised when reading gets there.
    """
    path = Path(path)
    with gzip_errors(path), gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        yield cast(BinaryIO, file)


def read_content(path: str | os.PathLike[str]) -> bytes:
    """Reads all bytes of a file, decompressed if its name ends in `.gz`.

    Raises:
        ValueError: The compressed file is truncated or damaged.
    """
    path = Path(path)
    content = path.read_bytes()
    if path.suffix != ".gz":
        return content
    with gzip_errors(path):
        return gzip.decompress(content)  # several times faster than reading from a GzipFile


def read_text(path: str | os.PathLike[str], encoding: Encoding = "utf-8") -> FileText:
    """Reads a whole text with its line breaks.

    Raises:
        ValueError: The file is not UTF-8 (names the line), or truncated.
    """
    content = read_content(path)
    first_byte = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0
    try:
        return FileText(content[first_byte:].decode(encoding), first_byte)
    except UnicodeDecodeError as error:
        start = first_byte + error.start
        line = content.count(b"\n", 0, start) + 1
        raise ValueError(
            f"{os.fspath(path)}: line {line} is not UTF-8: "
            f"byte 0x{content[start]:02x}, {error.reason}"
        ) from error


def read_lines(path: str | os.PathLike[str], encoding: Encoding = "utf-8") -> list[str]:
    """Reads the lines of a text.

    Returns:
        At least one line, without line breaks.

    Raises:
        ValueError: The file is empty, truncated, or not UTF-8 (names the line).
    """
    lines = split_lines(read_text(path, encoding).text)
    if not lines:
        raise ValueError(f"{os.fspath(path)} must hold a sentence a line, got an empty file")
    return lines


def split_lines(text: str) -> list[str]:
    """Splits a text into lines without their ends; an empty text has none."""
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def iterate_lines(stream: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    r"""Yields the lines of a stream as they arrive.

    Args:
        stream: Lines that end in "\n", such as a file that is open for reading bytes.

    Yields:
        Offset of the first byte, and content, of each line without its end. The offset counts from
        the beginning of the line: 3 after a byte-order mark, which only the first line can have,
        else 0. A mark alone, without the end of a line, is no line.
    """
    first_byte = None
    for line in stream:
        content = line[:-2] if line[-2:] == b"\r\n" else line.removesuffix(b"\n")
        if first_byte is None:
            first_byte = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0
            if line != codecs.BOM_UTF8:
                yield first_byte, content[first_byte:]
        else:
            yield 0, content
