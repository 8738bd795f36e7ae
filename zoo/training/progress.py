"""Progress of a training, as stored in its checkpoints."""

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zoo.files import whole_file
from zoo.training.json_files import as_json, read_object, with_nan


def _unsaved(value: Any) -> Any:
    """Return a field that no file has, and no comparison."""
    return dataclasses.field(default=value, init=False, repr=False, compare=False)


@dataclasses.dataclass
class Progress:
    """Progress of a training: everything that the loop and its callbacks remember.

    Attributes:
        step: batches trained on, over all epochs.
        best_score: the best value of the monitored metric, None before the first evaluation. A
            file has no infinite one, which is None there too.
        best_step: the step of that evaluation; its weights are the best checkpoint.
        evaluations_without_gain: evaluations since then.
        seconds: wall time of training, evaluation included, over all resumed runs.
        restarts: how many times the training was resumed.
        history: a dict for each evaluation: `step`, `seconds`, `training_loss` of the epoch so far,
            and the metrics. Earlier versions called it `loss`, which a metric could replace.
    """

    step: int = 0
    best_score: float | None = None
    best_step: int | None = None
    evaluations_without_gain: int = 0
    seconds: float = 0.0
    restarts: int = 0
    history: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    _clock: float | None = _unsaved(None)
    _batches: int = _unsaved(0)
    _batch_seconds: float = _unsaved(0.0)

    def count_time(self) -> None:
        """Add the time since the last call to `seconds`; the first call starts the clock."""
        now = time.monotonic()
        if self._clock is not None:
            self.seconds += now - self._clock
        self._clock = now

    def count_batch(self, seconds: float) -> None:
        """Count a batch and the time that its step took."""
        self._batches += 1
        self._batch_seconds += seconds

    def take_pace(self) -> float:
        """Return the batches per second since the last call, evaluations and the like left out."""
        pace = self._batches / max(self._batch_seconds, 1e-9)
        self._batches, self._batch_seconds = 0, 0.0
        return pace

    def as_json(self) -> bytes:
        """Return the content of a JSON file with everything but the clocks."""
        values = dataclasses.asdict(self)
        return as_json({name: value for name, value in values.items() if name[0] != "_"})

    def write(self, path: Path) -> None:
        """Write everything but the clocks to a JSON file."""
        with whole_file(path) as file:
            file.write(self.as_json())

    def read(self, path: Path) -> None:
        """Load the values of a file; metrics that were not finite are NaN.

        Raises:
            ValueError: it is damaged or contradicts itself; nothing is loaded.
        """
        values = read_object(path)
        if "step" not in values:
            raise ValueError(f"{path} is damaged: it has no step")
        for name, value in values.items():
            if name not in _FORMS or not _FORMS[name](value):
                raise ValueError(f"{path} is damaged: {name} must not be {str(value)[:40]}")
        steps = [record["step"] for record in values.get("history", [])]
        best = values.get("best_step")
        if max([*steps, best or 0]) > values["step"] or (steps and best not in (None, *steps)):
            raise ValueError(
                f"{path} contradicts itself: step {values['step']}, best step {best}, evaluations "
                f"at {', '.join(map(str, steps)) or 'none'}"
            )
        if "history" in values:
            values["history"] = [with_nan(record) for record in values["history"]]
        for name, value in values.items():
            setattr(self, name, value)

    @property
    def evaluated(self) -> bool:
        """Whether the weights of the current step have been evaluated."""
        return bool(self.history) and self.history[-1]["step"] == self.step


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_history(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(record, dict) and _is_count(record.get("step")) for record in value
    )


_FORMS: dict[str, Callable[[Any], bool]] = {
    "step": _is_count,
    "best_score": lambda value: value is None or _is_number(value),
    "best_step": lambda value: value is None or _is_count(value),
    "evaluations_without_gain": _is_count,
    "seconds": _is_number,
    "restarts": _is_count,
    "history": _is_history,
}
"""Validators of the values in a file."""
