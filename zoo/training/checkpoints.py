"""Checkpoints that make a resumed training equal, bit for bit, to one that never stopped.

A checkpoint is a folder, `000003-step-1500` the third one, with the variables (model, optimizer,
states of the seed generators, metrics, whatever else the caller names) and `progress.json`. It is
written under another name, flushed to the disk, and then renamed: only the rename makes it a
checkpoint, so a kill at any moment leaves the previous one. TensorFlow stores a checksum of every
tensor; they are all verified before a checkpoint is restored, and a damaged one is passed over with
a warning.

The states of the seed generators matter: without them dropout repeats or skips masks after a
resume. Neither `.weights.h5` files nor `tf.train.Checkpoint(model=...)` hold them. A layer must
therefore draw from a `SeedGenerator` of its own, as those of Keras do.
"""

import dataclasses
import logging
import os
import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from zoo.training.cluster import Workers
from zoo.training.runs import read_json, write_json

_WRITING = ".writing"
_PROGRESS = "progress.json"
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"  # TensorFlow's own entry


@dataclasses.dataclass
class Progress:
    """How far a training has come; all that the loop and its callbacks remember.

    Attributes:
        step: batches trained on, over all epochs.
        best_score: the best value of the monitored metric, None before the first evaluation.
        best_step: the step of that evaluation; its weights are the best checkpoint.
        evaluations_without_gain: evaluations since then.
        seconds: wall time of training, evaluation included, over all resumed runs.
        restarts: how many times the training was resumed.
        history: a dict for each evaluation: `step`, `seconds`, the training `loss` of
            the epoch so far, and the metrics.
    """

    step: int = 0
    best_score: float | None = None
    best_step: int | None = None
    evaluations_without_gain: int = 0
    seconds: float = 0.0
    restarts: int = 0
    history: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    _clock: float | None = dataclasses.field(default=None, init=False, repr=False, compare=False)

    def count_time(self) -> None:
        """Add the time since the last call to `seconds`; the first call starts the clock."""
        now = time.monotonic()
        if self._clock is not None:
            self.seconds += now - self._clock
        self._clock = now

    def write(self, path: Path) -> None:
        """Write all but the clock to a JSON file."""
        values = dataclasses.asdict(self)
        del values["_clock"]
        write_json(path, values)

    def read(self, path: Path) -> None:
        """Take over what a file holds."""
        for name, value in read_json(path).items():
            setattr(self, name, value)

    @property
    def evaluated(self) -> bool:
        """Whether the weights of this very step have been evaluated."""
        return bool(self.history) and self.history[-1]["step"] == self.step


class Checkpointer:
    """Writes and restores the whole state of a training."""

    def __init__(
        self,
        model: keras.Model,
        progress: Progress,
        folder: str | os.PathLike[str],
        *,
        extra: Mapping[str, Sequence[tf.Variable]] | None = None,
        keep: int = 2,
        shared: str | os.PathLike[str] | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        """Look at the variables of a built and compiled model.

        Args:
            model: the model; its optimizer is built here if it was not.
            progress: written beside the variables, and restored in place.
            folder: the folder of the checkpoints; the best weights go to `best/` in it.
            extra: more variables, such as the moving averages of the weights.
            keep: the number of checkpoints kept.
            shared: the folder that checkpoints are read from, where it is not `folder`: processes
                that train together go on from what the first of them has written.
            logger: gets a warning for each damaged checkpoint.

        Raises:
            ValueError: the model is not built, or not compiled.
        """
        if not model.built or not model.compiled:
            raise ValueError("model must be built and compiled before it can be checkpointed")
        if not model.optimizer.built:
            with model.distribute_strategy.scope():
                model.optimizer.build(model.trainable_variables)
        self.model = model
        self.progress = progress
        self.folder = Path(folder)
        self.best_folder = self.folder / "best"
        self.shared = self.folder if shared is None else Path(shared)
        self.workers = Workers(model.distribute_strategy)
        self.keep = keep
        self.logger = logger or logging.getLogger(__name__)
        self._damaged: list[Path] = []
        self._weights = {"weights": [v.value for v in model.weights]}
        # Lists, not the model itself: the graph of attributes that TensorFlow would follow leaves
        # out what is held in ways it does not know, without a word. A list is complete.
        self._state = {
            **self._weights,
            "seeds": seed_states(model),
            "optimizer": [v.value for v in model.optimizer.variables],
            "metrics": [v.value for v in model.metrics_variables],
            **{name: list(variables) for name, variables in (extra or {}).items()},
        }

    def save(self) -> Path:
        """Write a checkpoint of this step and remove those that it makes superfluous.

        Raises:
            OSError: it could not be written; those before it are still there.
        """
        path = self._write(self.folder, self._state)
        if self.workers.is_chief:
            for damaged in self._damaged:
                shutil.rmtree(damaged, ignore_errors=True)
        kept = _checkpoints(self.folder)[-self.keep :]
        for old in _checkpoints(self.folder):
            if old not in kept:
                shutil.rmtree(old)
        best_steps = {read_json(one / _PROGRESS)["best_step"] for one in kept}
        for old in _checkpoints(self.best_folder):
            if _step(old) not in best_steps:
                shutil.rmtree(old)
        return path

    def save_best(self) -> Path:
        """Write the weights that the model has now as the best ones, those of `best_step`.

        The former best weights stay as long as a checkpoint refers to them.
        """
        return self._write(self.best_folder, self._weights)

    def restore_latest(self) -> bool:
        """Restore the newest checkpoint that is whole.

        Returns:
            False if there is no checkpoint at all.

        Raises:
            ValueError: there are checkpoints, but all of them are damaged, or they do not fit
                the model.
        """
        paths = _checkpoints(self.shared)
        for path in reversed(paths):
            damage = _damage(path)
            if damage is None:
                _read(path, self._state)
                self.progress.read(path / _PROGRESS)
                self._restored = path
                return True
            self._damaged.append(path)
            self.logger.warning("checkpoint %s is damaged and passed over: %s", path, damage)
        if paths:
            raise ValueError(
                f"no checkpoint in {self.shared} can be read: {', '.join(p.name for p in paths)} "
                "are damaged. Start the training afresh"
            )
        return False

    def count_restart(self) -> None:
        """Count, on the disk at once, that the training goes on from the restored checkpoint."""
        self.progress.restarts += 1
        if self.workers.is_chief:
            self.progress.write(self._restored / _PROGRESS)

    def restore_best(self) -> bool:
        """Load the weights of the best evaluation into the model.

        Returns:
            False if nothing has been evaluated yet.

        Raises:
            ValueError: the best checkpoint is missing or damaged.
        """
        if self.progress.best_step is None:
            return False
        name = f"step-{self.progress.best_step}"
        found = [*self.best_folder.glob(f"*-{name}")] or (self.shared / "best").glob(f"*-{name}")
        path = max(found, default=self.best_folder / name)
        damage = _damage(path)
        if damage is not None:
            raise ValueError(f"the best checkpoint {path} cannot be read: {damage}")
        _read(path, self._weights)
        return True

    def _write(self, folder: Path, state: Mapping[str, Sequence[tf.Variable]]) -> Path:
        """Write `state` and the progress to a folder of their own, which a rename puts in place.

        Raises:
            OSError: they could not be written, for instance because the disk is full.
        """
        temporary = folder / _WRITING
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            temporary.mkdir(parents=True)
            tf.train.Checkpoint(**state).write(os.fspath(temporary / "state"))
            for file in temporary.iterdir():
                _flush(file)
            self.progress.write(temporary / _PROGRESS)
        except (OSError, tf.errors.OpError) as error:
            shutil.rmtree(temporary, ignore_errors=True)  # it may be what fills the disk
            reason = str(error).splitlines()[0]
            raise OSError(
                f"step {self.progress.step} cannot be written to {folder}: {reason}. What was "
                "written before is still good: make room, and the same command goes on from there"
            ) from error
        number = 1 + max((int(old.name[:6]) for old in _checkpoints(folder)), default=0)
        path = folder / f"{number:06d}-step-{self.progress.step}"
        os.replace(temporary, path)
        _flush(folder)
        return path


def seed_states(model: keras.Model) -> list[tf.Variable]:
    """Return the states of the model's seed generators (dropout), which `weights` leaves out."""
    weights = {id(weight) for weight in model.weights}
    return [v.value for v in model.variables if id(v) not in weights]


def _checkpoints(folder: Path) -> list[Path]:
    """Return the checkpoints in a folder, oldest first."""
    return sorted(folder.glob("[0-9]*-step-[0-9]*"))


def _step(path: Path) -> int:
    """Return the step of a checkpoint."""
    return int(path.name.rsplit("-", maxsplit=1)[-1])


def _damage(path: Path) -> str | None:
    """Return what is wrong with a checkpoint's files, None if nothing is."""
    try:
        read_json(path / _PROGRESS)
        reader = tf.train.load_checkpoint(os.fspath(path / "state"))
        for name in reader.get_variable_to_shape_map():
            reader.get_tensor(name)  # verifies the checksum
    except (OSError, LookupError, RuntimeError, ValueError, tf.errors.OpError) as error:
        return str(error).splitlines()[0] if str(error) else type(error).__name__
    return None


def read_weights(path: str | os.PathLike[str], model: keras.Model) -> None:
    """Restore the weights of a built model, and nothing else, from a checkpoint of a run.

    Raises:
        ValueError: the checkpoint is damaged, or does not fit the model.
    """
    path = Path(path)
    damage = _damage(path)
    if damage is not None:
        raise ValueError(f"the checkpoint {path} cannot be read: {damage}")
    _read(path, {"weights": [weight.value for weight in model.weights]}, complete=False)


def _read(path: Path, state: Mapping[str, Sequence[tf.Variable]], *, complete: bool = True) -> None:
    """Restore the variables of `state` from a checkpoint that is whole, `complete`: all it has."""
    prefix = os.fspath(path / "state")
    tensors = tf.train.load_checkpoint(prefix).get_variable_to_shape_map()
    held = Counter(name.split("/")[0] for name in tensors if name != _OBJECT_GRAPH)
    # Metrics are built late: a process that resumes may have fewer than the one that saved.
    wanted = Counter({name: len(variables) for name, variables in state.items()})
    names = held | wanted if complete else wanted
    differing = [name for name in names if held[name] != wanted[name] and name != "metrics"]
    if differing:
        listed = ", ".join(f"{held[name]} {name}, not {wanted[name]}" for name in differing)
        raise ValueError(f"checkpoint {path} does not fit this model: it holds {listed}")
    try:
        tf.train.Checkpoint(**state).read(prefix).expect_partial()
    except ValueError as error:  # of shapes
        raise ValueError(f"checkpoint {path} does not fit this model: {error}") from error


def _flush(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
