"""Pipes, terminals and other devices, and files that a process has open, such as `/dev/stdout`.

No file can take their place, so they are written into, once all that they get is known.
"""

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast


def is_written_into(path: Path) -> bool:
    """Tells whether something has this name that is neither a file nor a folder.

    Names in `/dev` and `/proc` are those of devices and of open files.

    Raises:
        OSError: The path is a circle of links.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise
        return False
    folder = os.path.realpath(path.parent)
    ordinary = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    return not ordinary or folder == "/dev" or folder.startswith("/proc/")


@contextmanager
def written_at_the_end(path: Path) -> Iterator[BinaryIO]:
    """Opens a temporary file; its content is added to `path` if the block ends without an error."""
    with tempfile.TemporaryFile() as whole:
        yield cast(BinaryIO, whole)
        whole.seek(0)
        own = _own_descriptor(path)
        with open(path, "ab") if own is None else os.fdopen(os.dup(own), "wb") as stream:
            shutil.copyfileobj(whole, stream)


def _own_descriptor(path: Path) -> int | None:
    """The number of an open file of this process, whose place for writing it shares."""
    if path.parent == Path("/dev") and path.is_symlink():  # /dev/stdout
        path = path.readlink()
    folder = os.path.realpath(path.parent)
    return int(path.name) if folder == f"/proc/{os.getpid()}/fd" and path.name.isdigit() else None
