"""Files and folders that are written whole or not at all, without leftovers.

Both are written in the same parent folder under a temporary name, `.NAME.HEX.partial`, and renamed
when they are complete. Meanwhile their writer holds a lock on them, which ends with its process,
however that ends. A temporary name without a lock was therefore left by a killed process, and the
next writer in the same folder removes it.
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
"""Errors of the disk, for which write calls do not name the file."""


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Opens a file for writing; it gets its name when it is complete and on the disk.

    If the block raises, an existing file at `path` stays.

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
    r"""Opens a UTF-8 text file in the same way; lines end in "\n" on every system."""
    with whole_file(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
        yield text
        text.detach()


@contextmanager
def whole_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Makes a folder to write into; it gets its name when the block ends without an error.

    A folder of that name is replaced as a whole, and stays if the block raises.

    Args:
        folder: The folder to write or to replace; its parent exists.

    Yields:
        The folder under its temporary name.

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


@contextmanager
def locked_folder(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keeps other processes that ask for the same lock waiting; the folder is made if missing.

    A folder that is still empty at the end is removed.

    Args:
        folder: The folder to lock.

    Raises:
        OSError: It cannot be made.
    """
    folder = Path(folder)
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY)
            _lock(descriptor)
            if folder.exists() and os.path.samestat(os.fstat(descriptor), folder.stat()):
                break
            os.close(descriptor)  # removed by the process that had it before
    try:
        yield
    finally:
        with suppress(OSError):
            folder.rmdir()
        os.close(descriptor)


def remove_abandoned(folder: str | os.PathLike[str]) -> None:
    """Removes leftovers of killed writers from a folder, but not those of active ones.

    Leftovers stay if the file system has no locks, or if they cannot be removed.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _PARTIAL.fullmatch(entry.name):
                _remove_unless_locked(Path(entry.path))


def restore_replaced(folder: Path) -> None:
    """Restores a folder's name if a kill interrupted its replacement."""
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
    """Adds the file's name to errors of a full or broken disk, where the system omits it."""
    try:
        yield
    except OSError as error:
        # A copy's error has the temporary names of both files.
        if error.errno in _MEDIUM and (error.filename is None or error.filename2 is not None):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise


def flush(path: str | os.PathLike[str]) -> None:
    """Waits until a file or a folder's entries are on the disk."""
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
        if partial.exists():  # else it was removed as a leftover before it was locked
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
    """Locks an open file or folder, if the file system supports it."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _remove_unless_locked(path: Path) -> None:
    with suppress(OSError):  # it is being written, or locks are not supported
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
    """Renames a complete folder into place; the old one is moved aside, then removed."""
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
        aside.unlink()  # a link's target is not ours to remove
    else:
        shutil.rmtree(aside)
