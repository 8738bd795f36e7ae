"""Members of zip archives, read or refused by name."""

import lzma
import zipfile
import zlib
from pathlib import Path

_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError)


def open_archive(path: Path) -> zipfile.ZipFile:
    """Opens an archive to read.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: It is no zip archive.
    """
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, RuntimeError) as error:
        raise ValueError(f"{path} must be a zip archive: {error}") from error


def read_member(archive: zipfile.ZipFile, member: str) -> bytes:
    """Reads a file of an archive.

    Raises:
        ValueError: It is damaged, encrypted, or compressed in a way that cannot be read; names
            archive and file.
    """
    try:
        return archive.read(member)
    except _DAMAGED as error:
        told = f"{archive.filename}: {member} is damaged: {error or 'it ends too early'}"
        raise ValueError(told) from error
    except RuntimeError as error:  # encrypted, or of another method
        raise ValueError(f"{archive.filename}: {member} cannot be read: {error}") from error
