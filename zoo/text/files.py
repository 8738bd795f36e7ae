"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def write_atomically(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    r"""Opens a UTF-8 text file for writing; it takes its name when it is complete.

    Lines end in "\n" on every system. If the block raises, what stood at `path` stays.

    Args:
        path: The file to write or to replace.

    Yields:
        The open file.
    """
    with (
        _partial(Path(path)) as partial,
        partial.open("w", encoding="utf-8", newline="\n") as file,
    ):
        yield file


def write_bytes_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes a file; what stood at `path` is replaced in one step, or stays.

    Args:
        path: The file to write or to replace.
        content: All of it.
    """
    with _partial(Path(path)) as partial:
        partial.write_bytes(content)


@contextmanager
def _partial(path: Path) -> Iterator[Path]:
    """Gives a path beside the file to write to, and renames it unless the block raises."""
    # Of this process alone: two processes may write the same file at the same time.
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
