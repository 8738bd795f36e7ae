"""`.keras` files of tiny models, as earlier versions of the project wrote them.

`python -m tests.compatibility.keras_files` writes those that are missing. A file that is there
stays as it is: it stands for the files that users have.
"""

from pathlib import Path

import keras
import numpy as np

from tests.contracts.subjects import build, run
from tests.contracts.tasks import TASKS, Batch
from tests.published import published
from zoo.models.core.registry import ModelEntry

FOLDER = Path(__file__).parent / "keras_files"


def batch_of(entry: ModelEntry) -> Batch:
    """The examples whose outputs are kept beside the file."""
    return Batch(TASKS[entry.task].examples(3))


def paths_of(name: str) -> tuple[Path, Path]:
    """The model's file, and the file of its outputs."""
    return FOLDER / f"{name}.keras", FOLDER / f"{name}.npz"


def write_missing() -> None:
    """Writes the files of models that have none yet."""
    FOLDER.mkdir(exist_ok=True)
    for name, entry in published().items():
        file, outputs = paths_of(name)
        if file.exists():
            continue
        model = build(entry)
        model.compile(keras.optimizers.Adam(0.125, global_clipnorm=3.0))
        model.optimizer.build(model.trainable_variables)
        model.save(file)
        np.savez_compressed(outputs, **run(model, batch_of(entry)))


if __name__ == "__main__":
    write_missing()
