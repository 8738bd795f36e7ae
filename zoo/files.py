"""Files and folders that appear whole or not at all, and leave nothing behind when they do not.

Both are written beside their place under a name of their own, `.NAME.HEX.partial`, and take their
name when they are complete. Meanwhile their writer holds a lock on them, which ends with its
process, however that ends: whatever bears such a name and is not locked was left by a process that
was killed, and the next one that writes into the same folder removes it.
"""

import errno
import fcntl
import io
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

_PARTIAL = re.compile(r"\..*\.[0-9a-f]{32}\.(partial|old)", re.DOTALL)
_NAME_CHARACTERS = 50  # of the final name: with the rest, at most 255 bytes in UTF-8
_MEDIUM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}
"""Errors of the medium: the system calls that write do not name the file."""


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Opens a file for writing; it takes its name when it is complete and on the disk.

    If the block raises, what stood at `path` stays.

    Args:
        path: The file to write or to replace; its folder exists.

    Yields:
        The open file, in binary.

    Raises:
        OSError: It cannot be written; names the file.
    """
    path = Path(path)
    remove_abandoned(path.parent)
    with naming(path):
        partial, stream = _new_file(path)
        try:
            with stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
                os.replace(partial, path)  # while it is locked
            flush(path.parent)
        finally:
            partial.unlink(missing_ok=True)


@contextmanager
def whole_text(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    r"""Does the same for UTF-8 text; lines end in "\n" on every system."""
    with whole_file(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
        yield text
        text.detach()


@contextmanager
def whole_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Makes a folder to write into; it takes its name when the block ends without an error.

    A folder of that name is replaced as a whole, and stays if the block raises.

    Args:
        folder: The folder to write or to replace; its parent exists.

    Yields:
        The folder under the name that it has meanwhile.

    Raises:
        OSError: It cannot be written; names the folder.
    """
    folder = Path(folder)
    restore_replaced(folder)
    remove_abandoned(folder.parent)
    with naming(folder):
        partial, lock = _new_folder(folder)
        try:
            yield partial
            _replace_folder(partial, folder)
        finally:
            os.close(lock)
            shutil.rmtree(partial, ignore_errors=True)


def remove_abandoned(folder: str | os.PathLike[str]) -> None:
    """Removes from a folder what killed writers have left there; writers at work keep theirs.

    Where the file system has no locks, or something cannot be removed, it stays.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _PARTIAL.fullmatch(entry.name):
                _remove_unless_locked(Path(entry.path))


def restore_replaced(folder: Path) -> None:
    """Gives a folder its name back if a kill came just while it was being replaced."""
    if folder.exists():
        return
    pattern = re.compile(rf"\.{re.escape(folder.name[:_NAME_CHARACTERS])}\.[0-9a-f]{{32}}\.old")
    with suppress(FileNotFoundError), os.scandir(folder.parent) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name):
                os.rename(entry.path, folder)
                return


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Lets errors of a full or broken disk name the file, which the system leaves out."""
    try:
        yield
    except OSError as error:
        # A copy names the two files as they are called meanwhile.
        if error.errno in _MEDIUM and (error.filename is None or error.filename2 is not None):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise


def flush(path: str | os.PathLike[str]) -> None:
    """Waits until a file, or the entries of a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(f".{path.name[:_NAME_CHARACTERS]}.{uuid.uuid4().hex}.{ending}")


def _new_file(path: Path) -> tuple[Path, BinaryIO]:
    """Creates a file and locks it."""
    while True:
        partial = _beside(path, "partial")
        stream = open(partial, "xb")  # noqa: SIM115  # the caller closes it
        _lock(stream.fileno())
        if partial.exists():  # else it was taken for an abandoned one before it was locked
            return partial, stream
        stream.close()


def _new_folder(folder: Path) -> tuple[Path, int]:
    """Makes a folder and locks it."""
    while True:
        partial = _beside(folder, "partial")
        partial.mkdir()
        with suppress(FileNotFoundError):
            descriptor = os.open(partial, os.O_RDONLY)
            _lock(descriptor)
            if partial.exists():
                return partial, descriptor
            os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Locks an open file or folder, where the file system can."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _remove_unless_locked(path: Path) -> None:
    with suppress(OSError):  # somebody writes it, or nobody can tell
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        finally:
            os.close(descriptor)


def _replace_folder(new: Path, folder: Path) -> None:
    """Gives a complete folder its name; what had that name is moved aside, then removed."""
    if not folder.exists():
        os.rename(new, folder)
        return
    aside = _beside(folder, "old")
    os.rename(folder, aside)
    try:
        os.rename(new, folder)
    except BaseException:
        os.rename(aside, folder)
        raise
    if aside.is_symlink():
        aside.unlink()  # what it points to is not ours
    else:
        shutil.rmtree(aside)
