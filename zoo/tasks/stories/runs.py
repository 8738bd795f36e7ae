"""Complete runs of one training, kept in a folder: their weights and what was measured."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from zoo.files import whole_file
from zoo.tasks.stories.training import Trained, score
from zoo.training.json_files import read_object, with_nan, write_json

BEST = 10
"""Runs whose mean is told beside that of all: those with the best scores on validation."""


@dataclass(frozen=True)
class Row:
    """Results of a run."""

    seed: int
    epoch: int
    """The best one."""
    epochs: int
    """How many were trained."""
    seconds: float
    validation: dict[str, float]
    test: dict[str, float] = field(default_factory=dict)

    def told(self) -> str:
        """Returns a line for the log."""
        parts = ("validation", self.validation), ("test", self.test)
        shown = ("accuracy", "facts")
        numbers = [f"{n} {k} {of[k]:.1f}" for n, of in parts for k in shown if k in of]
        return f"seed {self.seed}: epoch {self.epoch} of {self.epochs}, {', '.join(numbers)}"


class Runs:
    """The runs in a folder.

    Args:
        folder: where they are; made if missing.

    Raises:
        ValueError: a file is damaged; names it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        found = [read_object(path) for path in sorted(folder.glob("run_*.json"))]
        for row, part in itertools.product(found, ("validation", "test")):
            row[part] = with_nan(row[part])
        self.rows = {row["seed"]: Row(**row) for row in found}

    def add(self, seed: int, trained: Trained, test: dict[str, float], seconds: float) -> None:
        """Keeps a complete run: first its weights, then its results."""
        with whole_file(self._weights_file(seed)) as file:
            np.savez(file, *trained.weights)
        epochs = trained.epoch, trained.epochs
        row = Row(seed, *epochs, round(seconds, 2), trained.metrics, test)
        write_json(self.folder / f"run_{seed}.json", asdict(row))
        self.rows[seed] = row

    def weights(self, seed: int) -> list[np.ndarray]:
        """Reads the weights of a run, in the order of ``model.weights``."""
        with np.load(self._weights_file(seed)) as held:
            return [held[name] for name in held.files]

    def best(self, seeds: Iterable[int]) -> Row:
        """Returns the run with the best score on validation, the first of equals."""
        return by_validation([self.rows[seed] for seed in seeds])[0]

    def _weights_file(self, seed: int) -> Path:
        return self.folder / f"run_{seed}.npz"


def by_validation(rows: Sequence[Row]) -> list[Row]:
    """Sorts runs, those with the best scores on validation first."""
    return sorted(rows, key=lambda row: score(row.validation), reverse=True)


def means(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Mean scores on the test part of all runs, and of the best ones by validation."""
    groups = {f"mean of {len(rows)}": list(rows)}
    if len(rows) > BEST:
        groups[f"mean of the {BEST} best by validation"] = by_validation(rows)[:BEST]
    return {
        name: {key: float(np.mean([row.test[key] for row in group])) for key in group[0].test}
        for name, group in groups.items()
    }
