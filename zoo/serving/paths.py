r"""Paths that TensorFlow takes for names, not for patterns.

TensorFlow looks for the files of a checkpoint, and of the weights of a SavedModel, with a pattern,
without escaping the folders above them: it finds nothing below `lr=[1,2]` or `a\b`, and walks
through whole trees for `*`.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PATTERN = frozenset("*?[]\\")


@contextmanager
def without_patterns(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives a folder a name that is no pattern, for as long as the block lasts.

    Args:
        folder: Any folder.

    Yields:
        The folder itself, or a link to it in a temporary folder.

    Raises:
        ValueError: The folder of temporary files has such a name too.
    """
    if not _PATTERN & {*os.fspath(folder)}:
        yield Path(folder)
        return
    with tempfile.TemporaryDirectory(prefix="zoo-path-") as temporary:
        if _PATTERN & {*temporary}:
            raise ValueError(
                f"TMPDIR must be a path without any of * ? [ ] \\, got {tempfile.gettempdir()}: "
                f"TensorFlow takes it for a pattern, and the name of {folder} too"
            )
        link = Path(temporary) / "folder"
        link.symlink_to(Path(folder).absolute(), target_is_directory=True)
        yield link
