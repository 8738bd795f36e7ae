"""Run folders: all files of one training, and its settings.

A run folder holds `settings.json`, `train.log`, `tensorboard/`, `checkpoints/`, `result.json`,
`vocabulary/`, `saved_model/` and `attention.png`; of two directions that were trained together also
`saved_model_backward/`. Reopening it with other settings is refused,
because the checkpoints in it belong to the settings that are written there. `manifest.json` has the
checksums of settings, data and vocabulary: a damaged or exchanged one is refused too. `format.json`
has the version of all this: a folder of another version is refused. `shortened.json` has defaults
that were too long for the training (`zoo.training.shortened`).
"""

import contextlib
import logging
import os
import shutil
import sys
import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from zoo.files import remove_abandoned
from zoo.training.claims import claim, release
from zoo.training.json_files import as_json, plain, read_object, write_json
from zoo.training.manifest import Manifest, checksums
from zoo.training.memory import peak_megabytes
from zoo.training.others import EXPORTS, check_own
from zoo.training.set_aside import is_set_aside, put_back, remove_set_aside, set_aside

MAY_CHANGE = frozenset(
    {
        "accumulate",
        "checkpoint_every",
        "data_dir",
        "devices",
        "epochs",
        "fresh",
        "maximum_minutes",
        "patience",
        "readings",
        "run_dir",
        "strategy",
    }
)
"""Settings that may change when a run is resumed, unless the caller names others.

A changed setting that affects further training is reported on resume: with more epochs, for
instance, a cosine learning rate follows the longer curve.
"""
FORMAT = 2
"""Version of what a run folder holds. The first one had no `format.json`.

Raise it when a setting is added or changes its meaning: what older folders were trained with is
then not known, and they cannot be gone on with.
"""
WRITING = ".writing"
"""Name pattern of an incomplete checkpoint."""
WITHOUT_EFFECT = frozenset({"checkpoint_every", "data_dir", "fresh", "run_dir"})


class RunFolder:
    """Folder of one training, created or reopened.

    Attributes:
        path: the folder. The files in it have attributes of their own (`log`, `result`, ...).
        shared_checkpoints: folder to resume from: `checkpoints`, or the chief's if this process is
            not the chief.
        resumed: True if the folder already held this run.
        logger: writes to the console and, with the time, to the end of `train.log`. DEBUG
            messages go to the file only.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        settings: Any,
        *,
        may_change: Collection[str] = MAY_CHANGE,
        fresh: bool = False,
        lock_untrained: bool = True,
    ) -> None:
        """Create the folder, or reopen it.

        Args:
            path: the folder; its parents are created too.
            settings: the resolved settings, a mapping or a dataclass.
            may_change: names of settings that may differ from those of the folder.
            fresh: begin anew, whatever run the folder holds. That run is put back if this one is
                refused (`discard`) or killed before its first step (`settle`).
            lock_untrained: whether a run that kept no step is gone on with too, and locks its
                settings; else it is begun anew.

        Raises:
            ValueError: the folder holds a run with other settings or of another version, or files
                that are damaged or of no run; or another process trains in it.
        """
        self.path = _writable_name(path)
        self.manifest = Manifest(self.path)
        self.format = self.path / "format.json"
        self.settings = self.path / "settings.json"
        self.data = self.path / "data.json"
        self.shortened = self.path / "shortened.json"
        self.log = self.path / "train.log"
        self.tensorboard = self.path / "tensorboard"
        self.checkpoints = self.shared_checkpoints = self.path / "checkpoints"
        self.result = self.path / "result.json"
        self.vocabulary = self.path / "vocabulary"
        self.saved_model = self.path / EXPORTS[0]
        self.picture = self.path / "attention.png"
        self.heads_picture = self.path / "attention_heads.png"
        self._opened = time.monotonic()
        wanted, written = plain(settings), as_json(settings)
        check_own(self.path, self._contents(), (self.manifest.path, self.format, self.settings))
        self.path.mkdir(parents=True, exist_ok=True)
        notes = claim(self.path)
        self._make_room(fresh, lock_untrained)
        self._check_files()
        self.resumed = self.settings.exists()
        if self.resumed:
            notes += self._changes(wanted, may_change)
        elif self.checkpoints.exists():
            raise ValueError(f"{self.path} holds checkpoints but no {self.settings.name}")
        self.manifest.write_file(self.format.name, as_json({"format": FORMAT}))
        self.manifest.write_file(self.settings.name, written)
        self.vocabulary.mkdir(exist_ok=True)
        self.logger = _make_logger(self.log, notes)

    @property
    def backward_saved_model(self) -> Path:
        """The other direction, of two that were trained together."""
        return self.path / EXPORTS[1]

    def check_data(self, sha256: Mapping[str, str]) -> None:
        """Record the checksums of the training data: with other data, words have other ids.

        Raises:
            ValueError: the run began with other files.
        """
        held = read_object(self.data) if self.resumed and self.data.exists() else dict(sha256)
        names = held.keys() | sha256.keys()
        if other := sorted(name for name in names if held.get(name) != sha256.get(name)):
            raise ValueError(f"{self.path} holds a run on other data: {', '.join(other)} differ")
        self.manifest.write_file(self.data.name, as_json(dict(sorted(sha256.items()))))

    def seal(self) -> list[Path]:
        """Record the complete vocabulary in the manifest before the first step.

        Returns:
            The files on which the ids of the training depend.

        Raises:
            ValueError: the run has another vocabulary.
        """
        try:
            self.manifest.check()
        except ValueError as error:
            raise ValueError(f"the vocabulary is not that of the run: {error}") from error
        files = sorted(path for path in self.vocabulary.rglob("*") if path.is_file())
        self.manifest.add(checksums(files))
        return [*files, *([self.data] if self.data.exists() else [])]

    def settle(self) -> None:
        """Remove the run that this one replaces (fresh), since training begins."""
        remove_set_aside(self.path)

    def finish(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Write `result.json`: the result, and the run's time and memory.

        `total_seconds` is the time that the folder was open, `peak_memory_mb` the peak resident
        memory of this process (in 10^6 bytes).
        """
        seconds = round(time.monotonic() - self._opened, 1)
        memory = {"peak_memory_mb": round(peak_megabytes())}
        complete = {**result, "total_seconds": seconds, **memory}
        write_json(self.result, complete)
        self.logger.info("%s: %.0f s", self.path, seconds)
        return complete

    def discard(self) -> None:
        """Remove what a run wrote that is refused before its first step; the folder too if empty.

        A run that is gone on with keeps everything, and one that was to be replaced comes back.
        """
        self.close()
        if not self._is_untrained():
            return
        self._remove_beginning()
        put_back(self.path)
        release(self.path)
        with contextlib.suppress(OSError):  # it holds something else
            self.path.rmdir()

    def close(self) -> None:
        """Close the log file. The folder stays usable, but no longer logs."""
        for handler in list(self.logger.handlers):
            self.logger.removeHandler(handler)
            handler.close()

    def _make_room(self, fresh: bool, lock_untrained: bool) -> None:
        """Put back, set aside or remove what earlier runs left, as `__init__` says."""
        if is_set_aside(self.path):  # what replaces it was killed before its first step
            self._remove_beginning()
        put_back(self.path)
        if fresh:
            set_aside(self.path, self._contents())
        elif not lock_untrained and self._is_untrained():
            self._remove_beginning()

    def _is_untrained(self) -> bool:
        """Tell whether this is the folder of a run that kept no step, so there is none to resume.

        A run that was refused, or killed before its first checkpoint, leaves one.
        """
        begun = self.settings.exists() and self.format.exists()
        kept = any(path.name != WRITING for path in self.checkpoints.glob("*"))
        return begun and not kept and not self.result.exists()

    def _contents(self) -> list[Path]:
        """Return all that a run writes, files of the user's in the folder aside."""
        exported = [self.saved_model, self.backward_saved_model, self.picture, self.heads_picture]
        return [*exported, self.result, *self._beginning()]

    def _beginning(self) -> list[Path]:
        """Return what a run writes up to its first checkpoint, the settings last."""
        folders = [self.checkpoints, self.tensorboard, self.vocabulary]
        files = [self.manifest.path, self.log, self.data, self.shortened, self.format]
        return [*folders, *files, self.settings]

    def _remove_beginning(self) -> None:
        for path in self._beginning():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def _check_files(self) -> None:
        """Compare the files with the manifest, and remove what a killed process left unfinished.

        Raises:
            ValueError: one is damaged or missing; names it.
        """
        for folder in (self.path, self.vocabulary):
            remove_abandoned(folder)
        for unfinished in self.checkpoints.glob(f"**/{WRITING}"):
            shutil.rmtree(unfinished, ignore_errors=True)
        try:
            self.manifest.check()
        except ValueError as error:
            raise ValueError(f"{error}. Put it right, or start the run afresh (fresh)") from error
        if self.settings.exists():
            self._check_format()
            if not self.manifest.exists():
                raise ValueError(
                    f"{self.manifest.path} is missing. Put it back, or start the run afresh (fresh)"
                )
        entries = self.manifest.entries()
        for path in self.vocabulary.rglob("*"):
            # A kill came before it was recorded, and before the first step.
            if path.is_file() and path.relative_to(self.path).as_posix() not in entries:
                path.unlink()

    def _check_format(self) -> None:
        """Raise ValueError if a resumed folder is of another version."""
        held = read_object(self.format).get("format") if self.format.exists() else 1
        if held != FORMAT:
            raise ValueError(
                f"{self.path} must hold a run of format {FORMAT}, got {held}. Finish it with the "
                "version that began it, choose another folder, or start it afresh (fresh)"
            )

    def _changes(self, wanted: dict[str, Any], may_change: Collection[str]) -> list[str]:
        """Return what differs from the settings of the folder, and may; raise for what may not."""
        held = read_object(self.settings)
        absent = "(not set)"
        differing = {
            name: f"{name}: {held.get(name, absent)!r} in the folder, "
            f"{wanted.get(name, absent)!r} now"
            for name in {**held, **wanted}
            if held.get(name, absent) != wanted.get(name, absent)
        }
        refused = [text for name, text in differing.items() if name not in may_change]
        if refused:
            raise ValueError(
                f"{self.path} holds a run with other settings: {'; '.join(refused)}. Give these "
                "settings back, choose another folder, or start it afresh (fresh)"
            )
        return [
            f"going on with another setting: {text}"
            for name, text in differing.items()
            if name not in WITHOUT_EFFECT
        ]


def _writable_name(path: str | os.PathLike[str]) -> Path:
    """Return a path, or raise ValueError if its name cannot be written into a file."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"run_dir must be valid UTF-8, got {os.fspath(path)!r}") from error
    return Path(path)


class _LogFile(logging.FileHandler):
    """Log file whose failure is reported once, in one line, without stopping the training."""

    _told = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's name
        """Write the line; logging would print a traceback for each record."""
        if not self._told:
            sys.stderr.write(f"{self.baseFilename} cannot be written: {sys.exc_info()[1]}\n")
        self._told = True


def _make_logger(path: Path, notes: Iterable[str]) -> logging.Logger:
    """Return a logger of the run alone: console (INFO) and `path` (DEBUG, with the time).

    The notes are logged first.
    """
    logger = logging.Logger(f"zoo.run.{path.parent.name}", level=logging.DEBUG)
    console = logging.StreamHandler(sys.stdout)
    console.setLevel(logging.INFO)
    console.setFormatter(logging.Formatter("%(message)s"))
    file = _LogFile(path, mode="a", encoding="utf-8")
    file.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    logger.addHandler(console)
    logger.addHandler(file)
    for note in notes:
        logger.info("%s", note)
    return logger
