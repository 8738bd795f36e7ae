r"""Text that people hand in: whole files, lines of files and of streams, compressed or not.

The rules are the same for all readers:

- Text is UTF-8. Files whose name ends in `.gz` are read decompressed.
- Lines end in "\n" or "\r\n"; the last one may lack its end. Nothing else ends a line: a lone "\r",
  U+2028 and other characters that Python's `splitlines` knows do occur within sentences.
- Whole texts keep their line breaks as they are, so that offsets into them fit the file.
- A byte-order mark at the very beginning is no text. Byte offsets into the file count it.
"""

import codecs
import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

_MARK = "\ufeff"


class FileText(NamedTuple):
    """Text of a file, or a line of a stream."""

    text: str
    first_byte: int = 0
    """Offset of the text's first byte: 3 behind a byte-order mark, else 0."""


@contextmanager
def gzip_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Re-raises what goes wrong in decompressing a file as a `ValueError` that names it."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{os.fspath(path)}: not a complete gzip file: {error}") from error


@contextmanager
def open_content(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Opens a file for reading bytes, decompressed if its name ends in `.gz`.

    Raises:
        ValueError: The compressed file is broken off or damaged, seen when reading gets there.
    """
    path = Path(path)
    with gzip_errors(path), gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        yield cast(BinaryIO, file)


def read_content(path: str | os.PathLike[str]) -> bytes:
    """Reads all bytes of a file, decompressed if its name ends in `.gz`.

    Raises:
        ValueError: The compressed file is broken off or damaged.
    """
    path = Path(path)
    content = path.read_bytes()
    if path.suffix != ".gz":
        return content
    with gzip_errors(path):
        return gzip.decompress(content)  # several times faster than reading from a GzipFile


def read_text(path: str | os.PathLike[str]) -> FileText:
    """Reads a whole text, its line breaks as they are.

    Raises:
        ValueError: The file is not UTF-8 (says in which line), or not complete.
    """
    content = read_content(path)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{os.fspath(path)}: line {line} is not UTF-8: "
            f"byte 0x{content[error.start]:02x}, {error.reason}"
        ) from error
    first_byte = len(codecs.BOM_UTF8) if text.startswith(_MARK) else 0
    return FileText(text.removeprefix(_MARK), first_byte)


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """Reads the lines of a text.

    Returns:
        At least one line, without line breaks.

    Raises:
        ValueError: The file is empty, not complete, or not UTF-8; says which line is not.
    """
    lines = split_lines(read_text(path).text)
    if not lines:
        raise ValueError(f"{os.fspath(path)}: the file is empty; expected a sentence a line")
    return lines


def split_lines(text: str) -> list[str]:
    """Cuts a text into its lines, without their ends; an empty text has none."""
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def iterate_lines(stream: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    r"""Yields the lines of a stream as they come.

    Args:
        stream: Lines that end in "\n", such as a file that is open for reading bytes.

    Yields:
        First byte and content of each line, without its end. The first byte is counted from the
        beginning of the line: 3 behind a byte-order mark, which only the first line can have.
    """
    first_byte = None
    for line in stream:
        content = line[:-2] if line[-2:] == b"\r\n" else line.removesuffix(b"\n")
        if first_byte is None:
            first_byte = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0
            yield first_byte, content[first_byte:]
        else:
            yield 0, content
