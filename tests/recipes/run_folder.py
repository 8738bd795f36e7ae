"""Checks of every recipe as a user runs it, and of its run folder."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from zoo.serving.cards import read_card

ROOT = Path(__file__).parents[2]
PROCESSOR_SECONDS = 720.0
"""At most, of a default run on the sample: one to two minutes on two idle cores, of which slow ones
and those that other programs share count up to three times."""


def run_recipe(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a recipe from the command line.

    One operation is computed at a time: other tests run on the other processors.
    """
    return subprocess.run(
        [sys.executable, "-m", f"recipes.{name}", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TF_NUM_INTEROP_THREADS": "1"},
    )


def run_on_sample(name: str, folder: Path) -> None:
    """Runs a recipe on its sample, all else by default, and sees that it does not take long."""
    before = _processor_seconds()
    finished = run_recipe(name, "--data", "sample", "--run-dir", str(folder))
    assert finished.returncode == 0, finished.stderr[-2000:]
    assert _processor_seconds() - before < PROCESSOR_SECONDS


def _processor_seconds() -> float:
    """Returns the processor time of ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def check_run_folder(folder: Path, metric: str, attends: bool = True) -> dict[str, Any]:
    """Result, card and, of a model that attends, pictures in the folder and in TensorBoard.

    Args:
        folder: of a finished run.
        metric: a name of the result that the card has to have too.
        attends: whether there is an attention to draw.

    Returns:
        What ``result.json`` holds.
    """
    result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    assert read_card(folder / "saved_model").metrics[metric] == result[metric]
    picture = folder / "attention.png"
    assert picture.exists() == attends
    assert not attends or picture.stat().st_size > 5_000
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    assert ("attention" in events.Tags()["tensors"]) == attends
    return result
