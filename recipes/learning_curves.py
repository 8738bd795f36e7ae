"""Learning curves of several runs in one picture: a score against the examples seen.

    python -m recipes.learning_curves runs/ntm runs/lstm --score bits
    python -m recipes.learning_curves runs/0 runs/1 runs/lstm --labels NTM NTM LSTM --score bits

The score is one that was measured on validation while the runs trained, or ``training_loss``. Runs
of earlier versions call that ``loss``, unless a ``loss`` was measured on validation too: then it is
that one. Runs with the same label look alike.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from zoo.training.command import start


@dataclass(frozen=True)
class Settings:
    """Choice of the runs and of the score."""

    runs: tyro.conf.Positional[tuple[Path, ...]]
    """Folders of finished runs."""
    labels: tuple[str, ...] = ()
    """One for each run; by default the folders' names."""
    score: str = "training_loss"
    """Score to draw."""
    output: Path = Path("learning_curves.png")
    """Picture to write."""


def main(settings: Settings) -> dict[str, Any]:
    """Draws the curves; returns them by label, as pairs of examples seen and score.

    Raises:
        ValueError: if there is no run, not one label for each, or a run that is not finished or
            was not measured with the score.
    """
    from zoo.plots import learning_curves, save_figure

    if not settings.runs:
        raise ValueError("runs must name at least one, got none")
    if settings.labels and len(settings.labels) != len(settings.runs):
        raise ValueError(
            f"labels must be one for each of {len(settings.runs)} runs, got {len(settings.labels)}"
        )
    names = settings.labels or [run.absolute().name for run in settings.runs]
    curves: dict[str, list[list[tuple[float, float]]]] = {}
    for name, run in zip(names, settings.runs, strict=True):
        curves.setdefault(name, []).append(read_curve(run, settings.score))
    score_name = "bits a sequence" if settings.score == "bits" else settings.score
    seen_name = "examples seen (thousands)"
    figure = learning_curves(curves, score_name=score_name, seen_name=seen_name)
    print(save_figure(figure, settings.output))
    return curves


def read_curve(run: Path, score: str) -> list[tuple[float, float]]:
    """Reads the examples seen, and the score after them; a short last batch counts as a whole one.

    Raises:
        ValueError: if the run is not finished, was not measured with the score, or had batches of
            various numbers of examples.
    """
    from zoo.training.json_files import read_object, with_nan

    if not (run / "result.json").is_file():
        raise ValueError(f"runs must be folders of finished runs, got {run}")
    history = read_object(run / "result.json").get("history")
    if not history:
        raise ValueError(f"runs must have been measured while they trained, got {run}")
    settings = read_object(run / "settings.json")
    batch_size = settings.get("batch_size")
    if not batch_size or settings.get("batch_tokens"):
        raise ValueError(f"runs must have batches of a fixed number of examples, got {run}")
    if unmeasured := [one for one in history if score not in one]:
        measured = sorted(unmeasured[0].keys() - {"step", "seconds"})
        raise ValueError(f"score must be one of {measured} of {run}, got {score!r}")
    return [(one["step"] * batch_size, with_nan(one)[score]) for one in history]


if __name__ == "__main__":
    start(main, Settings, __doc__)
