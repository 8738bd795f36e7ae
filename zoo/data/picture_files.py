"""Files of pictures in a folder or a zip archive, read one by one."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from zoo.data.archives import open_archive, read_member
from zoo.data.download import listed


class PictureFiles(NamedTuple):
    """Pictures that are read when they are needed."""

    names: Sequence[str]
    """One for each, for messages."""
    read: Callable[[int], bytes]
    """Returns the content of a file by its number.

    Raises:
        ValueError: The file is damaged or encrypted in its archive; names both.
    """

    def chosen(self, numbers: Sequence[int]) -> "PictureFiles":
        """Returns some of the pictures, by their numbers."""
        kept = [*numbers]
        return PictureFiles([self.names[n] for n in kept], lambda row: self.read(kept[row]))


def open_pictures(path: str | Path, names: Sequence[str]) -> PictureFiles:
    """Finds pictures in a folder or in a zip archive.

    Args:
        path: The folder or the archive.
        names: File names; in an archive, below any folder.

    Raises:
        FileNotFoundError: There is no such folder or archive, or the folder lacks files; names
            them.
        ValueError: It is no archive, or lacks files; names them.
    """
    path = Path(path)
    if path.is_dir():
        missing = [name for name in names if not (path / name).is_file()]
        if missing:
            raise FileNotFoundError(f"{path} must hold all pictures, missing: {listed(missing)}")
        return PictureFiles([*names], lambda row: (path / names[row]).read_bytes())
    archive = open_archive(path)
    members = {Path(name).name: name for name in archive.namelist()}
    missing = [name for name in names if Path(name).name not in members]
    if missing:
        raise ValueError(f"{path} must hold all pictures, missing: {listed(missing)}")

    def read(row: int) -> bytes:
        return read_member(archive, members[Path(names[row]).name])

    return PictureFiles([*names], read)
