"""Archives of models: `NAME.tar.gz` holds `NAME/` with SavedModel, card and picture.

The same files make the same archive: names are sorted, and nothing tells when, by whom or from
where it was packed. An archive that is unpacked may come from anybody. Only plain files that belong
to a model are taken, and no more bytes than were announced.
"""

import gzip
import shutil
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from zoo.serving.cards import CARD_FILE, SAVED_MODEL_PARTS
from zoo.serving.folders import PICTURE_FILE

ENDING = ".tar.gz"
MAXIMUM_BYTES = 4 << 30
"""Largest size of an archive, and of the files in it."""
_TAKEN = {*SAVED_MODEL_PARTS, CARD_FILE, PICTURE_FILE}
_MAXIMUM_FILES = 1000
_HEADER_BYTES = 1 << 20  # more than those of all files need, and more than is read at a time


def pack(name: str, files: Mapping[str, Path], archive: BinaryIO) -> None:
    """Writes an archive.

    Args:
        name: The model's.
        files: Path inside its folder -> file.
        archive: Where to write.
    """
    with (
        gzip.GzipFile("", "wb", 9, archive, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path, file in sorted(files.items()):
            member = tarfile.TarInfo(f"{name}/{path}")
            member.size = file.stat().st_size
            member.mode = 0o644
            with file.open("rb") as opened:
                tar.addfile(member, opened)


def unpack(archive: Path, folder: Path, maximum: int) -> None:
    """Writes the files of an archive into a folder, without the folder around them.

    Args:
        archive: The archive.
        folder: Where to, an existing folder without these files.
        maximum: Bytes that the files may have together.

    Raises:
        ValueError: It is no whole archive; it holds something other than the files of a model, such
            as a link or a path that leads out of the folder; the files are larger.
    """
    try:
        with (
            _Bounded(archive, maximum + _HEADER_BYTES) as stream,
            tarfile.open(fileobj=stream, mode="r:") as tar,
        ):
            seen: set[PurePosixPath] = set()
            for member in tar:
                path = _place(member)
                if path is None:
                    continue
                if path in seen or len(seen) >= _MAXIMUM_FILES:
                    raise ValueError(f"holds {member.name!r} twice, or too many files")
                seen.add(path)
                maximum -= member.size
                if maximum < 0 or member.size < 0:
                    raise ValueError("holds more bytes than were announced")
                _extract(tar, member, folder / path)
            if not seen:
                raise ValueError("holds no files")
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, ValueError) as error:
        raise ValueError(f"{archive.name}: not an archive of a model: {error}") from error


def _place(member: tarfile.TarInfo) -> PurePosixPath | None:
    """Path of a file inside the model's folder; None for a folder.

    Raises:
        ValueError: It is neither, or does not belong to a model.
    """
    path = PurePosixPath(member.name)
    inside = path.parts if path.parts[:1] and path.parts[0] in _TAKEN else path.parts[1:]
    plain = not path.is_absolute() and ".." not in path.parts and "\\" not in member.name
    if not (plain and member.name.isprintable() and (member.isreg() or member.isdir())):
        raise ValueError(f"members must be plain files inside one folder, got {member.name!r}")
    if member.isdir():
        return None
    if not inside or inside[0] not in _TAKEN:
        raise ValueError(
            f"members must be files of a SavedModel, card or picture, got {member.name!r}"
        )
    return PurePosixPath(*inside)


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    source = tar.extractfile(member)
    if source is None:
        raise ValueError(f"{member.name!r} has no content")
    with source, target.open("xb") as file:
        shutil.copyfileobj(source, file)


class _Bounded(gzip.GzipFile):
    """A gzip file that ends with an error after too many bytes, or where one read is too long."""

    def __init__(self, path: Path, maximum: int) -> None:
        super().__init__(path, "rb")
        self._maximum = maximum

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= _HEADER_BYTES:
            raise ValueError("has a header that is too long")
        if self.tell() + size > self._maximum + _HEADER_BYTES:
            raise ValueError("holds more bytes than were announced")
        return super().read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        if offset > self._maximum:
            raise ValueError("holds more bytes than were announced")
        return super().seek(offset, whence)
