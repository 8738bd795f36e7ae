"""Files and folders that are written whole or not at all, without leftovers.

Both are written in the same parent folder under a temporary name, `.NAME.HEX.partial`, and renamed
when they are complete. Meanwhile their writer holds a lock on them, which ends with its process,
however that ends. A temporary name without a lock was therefore left by a killed process, and the
next writer in the same folder removes it.

A folder that is replaced waits in a locked folder, `.NAME.HEX.replaced`, until the new one has its
name. If its writer is killed before, the next writer in the same parent gives it its name back.
"""

import errno
import fcntl
import io
import os
import re
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from zoo.open_files import is_written_into, written_at_the_end

_REPLACED = ".replaced"
_TEMPORARY = re.compile(rf"\..*\.[0-9a-f]{{32}}\.(partial|{_REPLACED[1:]})", re.DOTALL)
_NAME_CHARACTERS = 50  # of the final name: with the rest, at most 255 bytes in UTF-8
_MEDIUM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}
"""Errors of the disk, for which write calls do not name the file."""
_TAKEN = {errno.ENOTEMPTY, errno.EEXIST}
"""Errors of a name that another writer has just given to its own folder."""


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Opens a file for writing; it gets its name when it is complete and on the disk.

    If the block raises, an existing file at `path` stays. A new file has the rights of the one that
    it replaces. A link stays, and the file that it points to is replaced. Pipes, terminals and
    other devices, and files that a process has open (`/dev/stdout`), are written into at the end.

    Args:
        path: The file to write or to replace; its folder exists.

    Yields:
        The open file, in binary.

    Raises:
        OSError: It cannot be written; names the file.
    """
    path = Path(path)
    if is_written_into(path):
        with naming(path), written_at_the_end(path) as stream:
            yield stream
        return
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
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

    A folder of that name is replaced as a whole, and stays if the block raises. Of several writers
    at the same time, the last one's folder stays.

    Args:
        folder: The folder to write or to replace; its parent exists.

    Yields:
        The folder under its temporary name.

    Raises:
        OSError: It cannot be written; names the folder.
    """
    folder = Path(folder)
    remove_abandoned(folder.parent)
    with naming(folder):
        partial, lock = _new_folder(folder, ".partial")
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

    A folder that a killed writer was about to replace gets its name back, if nothing has it.
    Leftovers stay if the file system has no locks, or if they cannot be removed.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name):
                _settle_unless_locked(Path(entry.path))


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Names the file in errors of the system, where these omit it or have a temporary name."""
    path = Path(path)
    try:
        yield
    except OSError as error:
        if known := _known_name(error, path):
            raise OSError(error.errno, error.strerror, os.fspath(known)) from error
        raise


def _known_name(error: OSError, path: Path) -> Path | None:
    """The final name of what an error is about; None if it needs no other name."""
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if _is_path(name)]
    # A copy's error has the temporary names of both files.
    if error.errno in _MEDIUM and len(names) != 1:
        return path
    inside = [parts for name in names if (parts := _inside_temporary(name, path)) is not None]
    if not inside:
        return None
    return path.joinpath(*inside[0]) if len(names) == 1 else path


def _is_path(name: object) -> bool:
    return isinstance(name, str | bytes | os.PathLike)


def _inside_temporary(name: str, path: Path) -> list[str] | None:
    """Parts of a path behind a temporary name of `path`; None if it has none."""
    if not Path(name).is_relative_to(path.parent):
        return None
    first, *inside = Path(name).relative_to(path.parent).parts or ("",)
    own = first.startswith(_beginning(path)) and _TEMPORARY.fullmatch(first)
    return inside if own else None


def flush(path: str | os.PathLike[str]) -> None:
    """Waits until a file or a folder's entries are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _beginning(path: Path) -> str:
    return f".{path.name[:_NAME_CHARACTERS]}."


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(f"{_beginning(path)}{uuid.uuid4().hex}{ending}")


def _new_file(path: Path) -> tuple[Path, BinaryIO]:
    """Creates a file and locks it."""
    while True:
        partial = _beside(path, ".partial")
        stream = open(partial, "xb")  # noqa: SIM115  # the caller closes it
        with suppress(FileNotFoundError):
            os.fchmod(stream.fileno(), stat.S_IMODE(os.stat(path).st_mode))
        _lock(stream.fileno())
        if partial.exists():  # else it was removed as a leftover before it was locked
            return partial, stream
        stream.close()


def _new_folder(path: Path, ending: str) -> tuple[Path, int]:
    """Makes a folder beside a path and locks it."""
    while True:
        folder = _beside(path, ending)
        folder.mkdir()
        with suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY)
            _lock(descriptor)
            if folder.exists():
                return folder, descriptor
            os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Locks an open file or folder, if the file system supports it."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _settle_unless_locked(path: Path) -> None:
    with suppress(OSError):  # it cannot be opened, or not be removed
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            _settle(path, locked=_lock_at_once(descriptor))
        except BlockingIOError:
            pass  # it is being written
        finally:
            os.close(descriptor)


def _lock_at_once(descriptor: int) -> bool:
    """Locks an open file or folder; returns whether the file system supports it.

    Raises:
        BlockingIOError: Another process has locked it.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def _settle(path: Path, *, locked: bool) -> None:
    """Removes what has a temporary name, if it is locked; gives a replaced folder its name back.

    Raises:
        OSError: The folder cannot be renamed; then it stays.
    """
    if path.suffix == _REPLACED:
        for old in path.iterdir():
            if not os.path.lexists(path.parent / old.name):
                os.rename(old, path.parent / old.name)
    if not locked:
        return
    if path.suffix == _REPLACED:  # if a kill leaves half of it, that half must not come back
        path = path.rename(path.with_suffix(".partial"))
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _replace_folder(new: Path, folder: Path) -> None:
    """Renames a complete folder into place; the old one is moved aside, then removed."""
    while True:
        try:
            with _moved_aside(folder):
                os.rename(new, folder)
            return
        except OSError as error:
            if error.errno not in _TAKEN:
                raise


@contextmanager
def _moved_aside(folder: Path) -> Iterator[None]:
    """Moves a folder, or a link to one, out of the way; it comes back if the block raises."""
    if not (folder.is_dir() or folder.is_symlink()):
        yield
        return
    aside, lock = _new_folder(folder, _REPLACED)
    try:
        with suppress(FileNotFoundError):  # another writer has moved it aside
            os.rename(folder, aside / folder.name)
        yield
    finally:
        with suppress(OSError):  # the next writer tries again
            _settle(aside, locked=True)
        os.close(lock)
