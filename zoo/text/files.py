"""Text files that appear whole or not at all."""

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
    path = Path(path)
    # Of this process alone: two processes may write the same file at the same time.
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
