"""Claims of run folders: one process at a time trains in a folder."""

import fcntl
from pathlib import Path
from typing import IO

_CLAIMED: dict[Path, IO[str]] = {}


def claim(folder: Path) -> list[str]:
    """Lock a folder for this process until it ends, in whatever way.

    Returns:
        Messages to log if it cannot be locked.

    Raises:
        ValueError: another process has locked it.
    """
    folder = folder.resolve()
    if folder in _CLAIMED:
        return []
    stream = open(folder / ".lock", "w", encoding="utf-8")  # noqa: SIM115  # stays open
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        stream.close()
        raise ValueError(
            f"{folder} is in use: another process trains in it; wait for its end, or stop it"
        ) from error
    except OSError as error:  # some network file systems have no locks
        stream.close()
        return [f"nothing keeps another process from training here too: {error}"]
    _CLAIMED[folder] = stream
    return []


def release(folder: Path) -> None:
    """Give back a claimed folder, and remove the lock's file."""
    (folder / ".lock").unlink(missing_ok=True)
    if stream := _CLAIMED.pop(folder.resolve(), None):
        stream.close()
