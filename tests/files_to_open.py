"""Counts the files that a reader opens to follow a model's ``call`` from input to output.

    python -m tests.files_to_open

One folder holds a paper. This lists, for each model, the files outside of its folder that run code
when a tiny model is called. Not counted are pure functions (``zoo/ops``), what computes nothing
(the checks of arguments and inputs, with the declarations that they compare with, and the wrapper
with which ``prepare`` takes symbols of functional models), and fast forms whose plain form is
already open: the loops over time run the steps of ``zoo/layers/recurrence/steps.py``, which
``zoo/layers/lstm.py`` and ``zoo/layers/gated_unit.py`` print too.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import zoo
from tests.contracts.batches import Batch
from tests.contracts.subjects import build
from tests.contracts.tasks import TASKS
from tests.published import published
from zoo.models.core.registry import ModelEntry

ROOT = Path(zoo.__file__).parent
FAST_FORMS = {f"layers/recurrence/{name}.py" for name in ("gated", "loops", "lstm", "scan")}
COMPUTES_NOTHING = {"attention/sharing.py"} | {
    f"models/core/{name}.py" for name in ("arguments", "declared", "input_checks", "inputs")
}
STEPS = "layers/recurrence/steps.py"
PRINT_STEPS = {"layers/gated_unit.py", "layers/lstm.py"}


def files_to_open(entry: ModelEntry, **overrides: Any) -> list[str]:
    """Names the files below ``zoo``, outside of the model's folder, that its ``call`` runs.

    Args:
        entry: of the registry.
        **overrides: constructor arguments beside those of the preset ``tiny``.
    """
    model = build(entry, **overrides)
    inputs = Batch(TASKS[entry.task].examples(2)).inputs  # the tests make them, not the model
    with recorded_files() as files:
        model(inputs)
    folder = "/".join(entry.cls.__module__.split(".")[1:-1]) + "/"
    outside = {name for name in files if not name.startswith((folder, "ops/"))}
    printed = {STEPS} if outside & PRINT_STEPS else set()
    return sorted(outside - FAST_FORMS - COMPUTES_NOTHING - printed)


@contextmanager
def recorded_files() -> Iterator[set[str]]:
    """Collects the files below ``zoo`` whose functions are called meanwhile."""
    found: set[str] = set()
    folder = f"{ROOT}{os.sep}"

    def record(frame: FrameType, event: str, _: Any) -> None:
        # Text alone: a path for each of a million calls takes ten times as long as the calls.
        if event == "call" and (file := frame.f_code.co_filename).startswith(folder):
            found.add(file.removeprefix(folder))

    sys.setprofile(record)
    try:
        yield found
    finally:
        sys.setprofile(None)


def main() -> None:
    """Prints the list of each model."""
    for name, entry in published().items():
        files = files_to_open(entry)
        sys.stdout.write(f"{len(files)}  {name}: {', '.join(files)}\n")


if __name__ == "__main__":
    main()
