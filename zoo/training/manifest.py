"""Manifests: SHA-256 of every file of a folder that a resumed training reads.

A file and its entry cannot be written in one step. While a file is being replaced, the manifest
therefore allows both the old and the new content. So a kill at any moment leaves files that match
the manifest.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from zoo.data.download import file_sha256
from zoo.files import whole_file
from zoo.training.json_files import read_object, write_json

_ABSENT = ""


class Manifest:
    """Manifest of a folder.

    Attributes:
        path: the file, `manifest.json`.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        self.path = self._folder / "manifest.json"

    def exists(self) -> bool:
        """Return whether the folder has a manifest; earlier versions wrote none."""
        return self.path.exists()

    def entries(self) -> dict[str, list[str]]:
        """Return the allowed checksums of each file, more than one only while it is replaced.

        Returns:
            name, relative to the folder -> SHA-256; "" stands for no file.

        Raises:
            ValueError: it is damaged.
        """
        if not self.exists():
            return {}
        entries = read_object(self.path)
        if not all(map(_is_entry, entries.values())):
            raise ValueError(f"{self.path} is damaged: it must hold lists of SHA-256")
        return entries

    def check(self) -> None:
        """Compare every file with its entry.

        Raises:
            ValueError: a file is missing or differs, or the manifest is damaged; names the file.
        """
        for name, allowed in self.entries().items():
            path = Path(os.path.normpath(self._folder / name))
            found = file_sha256(path) if path.is_file() else _ABSENT
            if found not in allowed:
                state = "differs from" if found else "is missing, against"
                raise ValueError(f"{path} {state} {self.path}: one of the two is damaged")

    def add(self, sums: Mapping[Path, str]) -> None:
        """Record complete files: path -> SHA-256."""
        added = {os.path.relpath(path, self._folder): [one] for path, one in sums.items()}
        entries = self.entries()
        if entries != (new := entries | added) or not self.exists():
            write_json(self.path, new)

    def write_file(self, name: str, content: bytes) -> None:
        """Write or replace a file and its entry, unless nothing changes."""
        entries, new = self.entries(), hashlib.sha256(content).hexdigest()
        if entries.get(name) == [new]:
            return
        write_json(self.path, entries | {name: [*entries.get(name, [_ABSENT]), new]})
        with whole_file(self._folder / name) as file:
            file.write(content)
        write_json(self.path, entries | {name: [new]})


def checksums(paths: Iterable[Path]) -> dict[Path, str]:
    """Return path -> SHA-256 of files."""
    return {path: file_sha256(path) for path in paths}


def _is_entry(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
