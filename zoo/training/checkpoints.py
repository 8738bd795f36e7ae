"""Checkpoints from which a training resumes bit for bit as if it had never stopped.

A checkpoint is a folder, such as `000003-step-1500` for the third one. It holds the variables
(model, optimizer, states of the seed generators, metrics, and others that the caller names),
`progress.json`, and `manifest.json`: the checksums of these files and of the run's vocabulary and
data. It is written under another name, flushed to the disk, and then renamed. Only the rename makes
it a checkpoint, so a kill at any moment leaves the previous one. Before a checkpoint is restored,
it and the best weights that it refers to are verified. A damaged one, or one whose progress
contradicts its name, is skipped with a warning.

The states of the seed generators matter: without them dropout repeats or skips masks after a
resume. Neither `.weights.h5` files nor `tf.train.Checkpoint(model=...)` contain them. A layer must
therefore draw from its own `SeedGenerator`, as Keras' layers do.
"""

import contextlib
import logging
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import keras
import tensorflow as tf

from zoo.files import flush
from zoo.models.core.replica_seeds import seed_states
from zoo.serving.paths import without_patterns
from zoo.training.cluster import Workers
from zoo.training.manifest import Manifest, checksums
from zoo.training.progress import Progress
from zoo.training.runs import WRITING

_NAME = re.compile(r"(\d+)-step-(\d+)")
_PROGRESS = "progress.json"
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"  # TensorFlow's own entry


class Checkpointer:
    """Writer and reader of the whole state of a training."""

    def __init__(
        self,
        model: keras.Model,
        progress: Progress,
        folder: str | os.PathLike[str],
        *,
        extra: Mapping[str, Sequence[tf.Variable]] | None = None,
        keep: int = 2,
        shared: str | os.PathLike[str] | None = None,
        depends_on: Iterable[Path] = (),
        logger: logging.Logger | None = None,
    ) -> None:
        """Collect the variables of a built and compiled model.

        Args:
            model: the model; its optimizer is built here if necessary.
            progress: saved with the variables, and restored in place.
            folder: folder of the checkpoints; the best weights go to its subfolder `best/`.
            extra: more variables, such as the moving averages of the weights.
            keep: the number of checkpoints kept.
            shared: folder that checkpoints are read from, if not `folder`: processes that train
                together resume from the chief's checkpoints.
            depends_on: files, such as the vocabulary, that a checkpoint is only valid with.
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
        self._depends_on = checksums(depends_on)
        self._damaged: list[Path] = []
        self._weights = {"weights": [v.value for v in model.weights]}
        # Lists instead of the model: TensorFlow's graph of attributes silently omits variables that
        # are held in ways it does not know.
        self._state = {
            **self._weights,
            "seeds": seed_states(model),
            "optimizer": [v.value for v in model.optimizer.variables],
            "metrics": [v.value for v in model.metrics_variables],
            **{name: list(variables) for name, variables in (extra or {}).items()},
        }

    def save(self) -> Path:
        """Write a checkpoint of this step and remove superseded ones.

        Raises:
            OSError: it could not be written; earlier ones are still there.
        """
        path = self._write(self.folder, self._state)
        if self.workers.is_chief:
            for damaged in self._damaged:
                shutil.rmtree(damaged, ignore_errors=True)
        kept = _checkpoints(self.folder)[-self.keep :]
        for old in _checkpoints(self.folder):
            if old not in kept:
                shutil.rmtree(old)
        best_steps = {_progress(one).best_step for one in kept}
        for old in _checkpoints(self.best_folder):
            if _step(old) not in best_steps:
                shutil.rmtree(old)
        return path

    def save_best(self) -> Path:
        """Write the present weights as the best ones, those of `best_step`.

        Earlier best weights stay as long as a checkpoint refers to them.
        """
        return self._write(self.best_folder, self._weights)

    def restore_latest(self) -> bool:
        """Restore the newest undamaged checkpoint.

        Returns:
            False if there is no checkpoint at all.

        Raises:
            ValueError: there are checkpoints, but all are damaged or do not fit the model.
        """
        paths = _checkpoints(self.shared)
        for path in reversed(paths):
            damage = _damage(path) or self._damage_of_best(path)
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
        """Record on disk at once that training resumes from the restored checkpoint."""
        self.progress.restarts += 1
        if self.workers.is_chief:
            Manifest(self._restored).write_file(_PROGRESS, self.progress.as_json())

    def restore_best(self) -> bool:
        """Load the weights of the best evaluation into the model.

        Returns:
            False if nothing has been evaluated yet.

        Raises:
            ValueError: the best checkpoint is missing or damaged.
        """
        self.check_best()
        if self.progress.best_step is None:
            return False
        _read(self._best(self.progress.best_step), self._weights)
        return True

    def check_best(self) -> None:
        """Verify the weights of the best evaluation, if any.

        Raises:
            ValueError: the best checkpoint is missing or damaged.
        """
        if self.progress.best_step is None:
            return
        path = self._best(self.progress.best_step)
        damage = _damage(path)
        if damage is not None:
            raise ValueError(f"the best checkpoint {path} cannot be read: {damage}")

    def _best(self, step: int) -> Path:
        """Return the newest checkpoint of the best weights of a step."""
        for folder in (self.best_folder, self.shared / "best"):
            for path in reversed(_checkpoints(folder)):
                if _step(path) == step:
                    return path
        return self.best_folder / f"step-{step}"

    def _damage_of_best(self, path: Path) -> str | None:
        """Describe the damage of the best weights that a checkpoint refers to, or return None."""
        step = _progress(path).best_step
        if step is None or not (self.shared / "best").exists():
            return None
        damage = _damage(self._best(step))
        return None if damage is None else f"the best weights, of step {step}: {damage}"

    def _write(self, folder: Path, state: Mapping[str, Sequence[tf.Variable]]) -> Path:
        """Write `state` and the progress to a temporary folder, then rename it into place.

        Raises:
            OSError: they could not be written, for instance because the disk is full.
        """
        temporary = folder / WRITING
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            temporary.mkdir(parents=True)
            tf.train.Checkpoint(**state).write(os.fspath(temporary / "state"))
            (temporary / _PROGRESS).write_bytes(self.progress.as_json())
            files = [*temporary.iterdir()]
            for file in files:
                flush(file)
            Manifest(temporary).add(checksums(files) | self._depends_on)
        except (OSError, tf.errors.OpError) as error:
            shutil.rmtree(temporary, ignore_errors=True)  # it may be the cause of a full disk
            reason = str(error).splitlines()[0]
            raise OSError(
                f"step {self.progress.step} cannot be written to {folder}: {reason}. What was "
                "written before is still good: make room, and the same command goes on from there"
            ) from error
        number = 1 + max(map(_number, _checkpoints(folder)), default=0)
        path = folder / f"{number:06d}-step-{self.progress.step}"
        os.replace(temporary, path)
        flush(folder)
        return path


def _checkpoints(folder: Path) -> list[Path]:
    """Return the checkpoints in a folder, oldest first."""
    return sorted((one for one in folder.glob("*") if _NAME.fullmatch(one.name)), key=_number)


def _number(path: Path) -> int:
    """Return the number of a checkpoint."""
    return int(path.name.split("-")[0])


def _step(path: Path) -> int:
    """Return the step of a checkpoint."""
    return int(path.name.split("-")[-1])


def _progress(path: Path) -> Progress:
    """Return the progress of a checkpoint; a fresh one if it is damaged."""
    progress = Progress()
    with contextlib.suppress(OSError, ValueError):
        progress.read(path / _PROGRESS)
    return progress


def _damage(path: Path) -> str | None:
    """Describe the damage of a checkpoint's files, or return None."""
    try:
        _verify(path)
    except (OSError, LookupError, RuntimeError, ValueError, tf.errors.OpError) as error:
        return str(error).splitlines()[0] if str(error) else type(error).__name__
    return None


def _verify(path: Path) -> None:
    """Raise an error if the files of a checkpoint are damaged, or contradict its name."""
    manifest = Manifest(path)
    if not manifest.exists():  # written by an earlier version
        _verify_tensors(path)
    elif absent := {_PROGRESS, "state.index"} - manifest.entries().keys():
        raise ValueError(f"{manifest.path} is damaged: it lists no {', '.join(absent)}")
    manifest.check()
    progress = Progress()
    progress.read(path / _PROGRESS)
    if progress.step != _step(path):
        raise ValueError(f"it holds step {progress.step}, not the one of its name")


def _verify_tensors(path: Path) -> None:
    """Raise an error if TensorFlow's checksum of a tensor is wrong."""
    with without_patterns(path) as plain:
        reader = tf.train.load_checkpoint(os.fspath(plain / "state"))
        for name in reader.get_variable_to_shape_map():
            reader.get_tensor(name)


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
    """Restore `state` from an undamaged checkpoint; `complete`: everything in it."""
    with without_patterns(path) as plain:
        _read_from(os.fspath(plain / "state"), path, state, complete)


def _read_from(
    prefix: str, path: Path, state: Mapping[str, Sequence[tf.Variable]], complete: bool
) -> None:
    """Restore from the files that `prefix` names; `path` is the checkpoint's, for messages."""
    tensors = tf.train.load_checkpoint(prefix).get_variable_to_shape_map()
    held = Counter(name.split("/")[0] for name in tensors if name != _OBJECT_GRAPH)
    # Metrics are built late, so a resuming process may have fewer than the saving one.
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
