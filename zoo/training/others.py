"""Files of others in run folders: a run neither replaces nor removes them."""

from collections.abc import Iterable
from pathlib import Path

from zoo.data.download import listed
from zoo.serving.folders import check_free
from zoo.training.set_aside import holds_any

EXPORTS = ("saved_model", "saved_model_backward")
"""Names of the SavedModels in a run folder, the second of a training in both directions."""


def check_exports(folder: Path) -> None:
    """Checks that the SavedModels of a run in a folder would replace nothing else.

    Raises:
        ValueError: One would; names the files.
    """
    for name in EXPORTS:
        check_free(folder / name)


def check_own(folder: Path, contents: Iterable[Path], marks: Iterable[Path]) -> None:
    """Checks that files of the names that a run writes are those of a run.

    Args:
        folder: The run folder, which need not exist.
        contents: All that a run writes into it.
        marks: Files of which a run's folder has one at least, however its process ended.

    Raises:
        ValueError: They are not; names them.
    """
    if holds_any(folder) or any(mark.exists() for mark in marks):
        return
    if others := [path.name for path in contents if path.exists()]:
        raise ValueError(
            f"run_dir must be a new folder or that of a run: {folder} holds {listed(others)} but "
            "no settings.json, so they are not of a run, and would be lost"
        )
