"""An earlier run, set aside in its folder until the run that replaces it has a first step to take.

The files are moved into `.replaced`, by way of `.replacing`: whatever kill comes in between, either
the earlier run is complete there, or it is put back from both before anything else is written.
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

_MOVING, _COMPLETE = ".replacing", ".replaced"


def set_aside(folder: Path, files: Iterable[Path]) -> None:
    """Moves the files and folders of a run aside, those that there are."""
    (folder / _MOVING).mkdir()
    for file in files:
        if file.exists():
            os.replace(file, folder / _MOVING / file.name)
    os.replace(folder / _MOVING, folder / _COMPLETE)


def is_set_aside(folder: Path) -> bool:
    """Tells whether a complete run is set aside in a folder: what else is there replaces it."""
    return (folder / _COMPLETE).exists()


def holds_any(folder: Path) -> bool:
    """Tells whether anything of a run is set aside in a folder."""
    return is_set_aside(folder) or (folder / _MOVING).exists()


def put_back(folder: Path) -> None:
    """Moves back what is set aside, if anything; what replaced it must have been removed."""
    if is_set_aside(folder):
        os.replace(folder / _COMPLETE, folder / _MOVING)
    if (folder / _MOVING).exists():
        for file in (folder / _MOVING).iterdir():
            os.replace(file, folder / file.name)
        (folder / _MOVING).rmdir()


def remove_set_aside(folder: Path) -> None:
    """Removes for good what is set aside."""
    shutil.rmtree(folder / _COMPLETE, ignore_errors=True)
