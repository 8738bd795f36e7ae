"""The data set that a recipe takes when none is named: a whole one that lies here, or the sample.

Generated data stand in for real data only if nobody named any: neither a folder, nor a language or
the like, nor a folder of the set's name in `$ZOO_DATA` or the cache. Otherwise a missing file is an
error that lists the files looked for and the files found.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from zoo.data.download import contents, data_directories, files_in, listed, locate_name


class DataSet(NamedTuple):
    """Files of a data set."""

    name: str
    """Value of `--data` that asks for it, such as "squad"."""
    folders: tuple[str, ...]
    """Names of the folder that it may lie in."""
    files: tuple[tuple[str, ...], ...]
    """Needed files; of each, the names that serve, the preferred one first."""

    def missing(self, data_dir: str | Path | None = None) -> list[str]:
        """Lists the files that do not lie on this machine, by their preferred names."""
        return [names[0] for names in self.files if not self._found(names, data_dir)]

    def _found(self, names: Iterable[str], data_dir: str | Path | None) -> bool:
        places = ((folder, name) for folder in self.folders for name in names)
        return any(locate_name(folder, name, data_dir) for folder, name in places)

    def has_folder(self) -> bool:
        """Tells whether `$ZOO_DATA` or the cache has a folder of the set with files in it."""
        tops = data_directories()
        return any(files_in(top / folder) for top in tops for folder in self.folders)


def choose(
    sets: Sequence[DataSet],
    data_dir: str | Path | None = None,
    named: str | None = None,
    *,
    own: str,
) -> str:
    """Chooses the first data set of which all files lie on this machine, else the sample.

    Args:
        sets: The data sets, the preferred one first.
        data_dir: The user's folder of data sets; None: `$ZOO_DATA`, then the Keras cache.
        named: What else the user said about the data, such as a language, for the error; None:
            nothing.
        own: The command for files in any layout, for the error.

    Returns:
        The name of the set, or "sample".

    Raises:
        FileNotFoundError: No set is complete, but the user named a folder or said something else
            about the data, or there is a folder of a set; lists the files looked for and those
            that are there.
    """
    for one in sets:
        if not one.missing(data_dir):
            return one.name
    if data_dir is None and named is None and not any(one.has_folder() for one in sets):
        return "sample"
    reason = f" for {named}" if named else ""
    raise FileNotFoundError(
        f"data: no data set{reason} is complete: "
        f"{'; '.join(_told(one, data_dir) for one in sets)}. {_present(sets, data_dir)}. "
        f"For files of other names there is {own}, for generated data --data sample"
    )


def sample_reason(sets: Sequence[DataSet]) -> str:
    """Says that `$ZOO_DATA` lacks the data sets; empty if it is not set, or has one of them."""
    root = os.environ.get("ZOO_DATA")
    if not root or not all(one.missing() for one in sets):
        return ""
    return f" ($ZOO_DATA, {root}, does not hold {' or '.join(one.name for one in sets)})"


def _told(one: DataSet, data_dir: str | Path | None) -> str:
    missing = one.missing(data_dir)
    wanted = ", ".join(" or ".join(names) for names in one.files)
    return f"{one.name} needs {wanted} (each may end in .gz), missing: {', '.join(missing)}"


def _present(sets: Sequence[DataSet], data_dir: str | Path | None) -> str:
    tops = data_directories(data_dir)
    folders = [top / folder for top in tops for one in sets for folder in one.folders]
    there = [folder for folder in dict.fromkeys(folders) if folder.is_dir()]
    return f"Looked in {listed([*there, *tops])}: {contents([*there, *tops])}"
