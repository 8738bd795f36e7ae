"""Files of pictures in a folder or a zip archive, read one by one."""

from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path, PurePosixPath
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
        names: File names, with or without folders. In an archive they may be below any folder; of
            several files of a name the one that shares most of the given folders is taken.

    Raises:
        FileNotFoundError: There is no such folder or archive, or the folder lacks files; names
            them.
        ValueError: It is no archive, lacks files, or holds several that a name could mean; names
            them.
    """
    path = Path(path)
    if path.is_dir():
        missing = [name for name in names if not (path / name).is_file()]
        if missing:
            raise FileNotFoundError(f"{path} must hold all pictures, missing: {listed(missing)}")
        return PictureFiles([*names], lambda row: (path / names[row]).read_bytes())
    archive = open_archive(path)
    members = _members(path, archive.namelist(), names)
    return PictureFiles([*names], lambda row: read_member(archive, members[row]))


def _members(path: Path, held: Sequence[str], names: Sequence[str]) -> list[str]:
    """Finds the member of an archive for each name."""
    by_name: dict[str, list[str]] = {}
    for member in dict.fromkeys(held):
        if not member.endswith("/"):
            by_name.setdefault(PurePosixPath(member).name, []).append(member)
    missing = [name for name in names if PurePosixPath(name).name not in by_name]
    if missing:
        raise ValueError(f"{path} must hold all pictures, missing: {listed(missing)}")
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        alike = _most_alike(by_name[PurePosixPath(name).name], name)
        if len(alike) > 1:
            raise ValueError(f"{path} must hold one file {name}, got {listed(alike)}")
        if (other := found.setdefault(alike[0], name)) != name:
            raise ValueError(
                f"{path} must hold a file each for {other} and {name}, got {alike[0]} alone"
            )
    members = {name: member for member, name in found.items()}
    return [members[name] for name in names]


def _most_alike(members: Sequence[str], name: str) -> list[str]:
    """Returns those of the members that share the longest end of their paths with a name."""
    if name in members:
        return [name]
    wanted = PurePosixPath(name).parts[::-1]

    def shared(member: str) -> int:
        pairs = zip(PurePosixPath(member).parts[::-1], wanted, strict=False)
        return len([*takewhile(lambda pair: pair[0] == pair[1], pairs)])

    lengths = [shared(member) for member in members]
    return [one for one, length in zip(members, lengths, strict=True) if length == max(lengths)]
