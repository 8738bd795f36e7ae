"""Exported models, as recipes that measure several of them are given them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from zoo.serving.cards import SAVED_MODEL_FILE, read_card
from zoo.serving.load import resolve


def find_models(models: Sequence[str], labels: Sequence[str]) -> dict[str, Path]:
    """Returns the folders of the SavedModels by label, in the order given.

    Args:
        models: run folders, folders of SavedModels, or names of shipped models.
        labels: one for each; none: the folders' names.

    Raises:
        ValueError: if there is no such model, or two have the same label.
    """
    if not models:
        raise ValueError("models must name at least one, got none")
    if labels and len(labels) != len(models):
        raise ValueError(f"labels must be one for each of {len(models)} models, got {len(labels)}")
    found: dict[str, Path] = {}
    for index, model in enumerate(models):
        inside = Path(model) / "saved_model"
        is_run = (inside / SAVED_MODEL_FILE).is_file()
        folder = inside if is_run else resolve(model)
        label = labels[index] if labels else Path(model).absolute().name
        if label in found:
            raise ValueError(f"labels must differ, got {label!r} twice")
        found[label] = folder
    return found


def check_task(folders: Iterable[Path], task: str, called: str) -> None:
    """Refuses SavedModels of another task, before the first of them is measured.

    Args:
        folders: of the SavedModels.
        task: that they must have.
        called: what a model of it is called, for the error.

    Raises:
        ValueError: if one has another task, or no card.
    """
    for folder in folders:
        if (found := read_card(folder).task) != task:
            raise ValueError(f"{folder} must hold a {called}, got a model whose task is {found!r}")
