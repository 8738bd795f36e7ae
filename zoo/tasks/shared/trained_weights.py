"""Weights of a finished run, as the first weights of another one."""

from pathlib import Path
from typing import Any

from zoo.serving.load import load


def copy_weights(saved_model: Path, model: Any) -> None:
    """Gives a model the trained weights of a SavedModel; those that it lacks stay as they are.

    Raises:
        ValueError: if there is no such SavedModel, it holds another architecture, or a weight has
            another shape.
    """
    finished = load(saved_model)
    if type(finished) is not type(model):
        raise ValueError(
            f"start_from must hold a {type(model).__name__}, got a {type(finished).__name__}"
        )
    trained = {weight.path.partition("/")[2]: weight for weight in finished.weights}
    model.build()
    for weight in model.weights:
        path = weight.path.partition("/")[2]
        found = trained.get(path)
        if found is not None and found.shape != weight.shape:
            raise ValueError(
                f"start_from must have a {path} of shape {tuple(weight.shape)}, "
                f"got {tuple(found.shape)}"
            )
        if found is not None:
            weight.assign(found)
