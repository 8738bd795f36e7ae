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
        label = labels[index] if labels else Path(model).absolute().name
        if label in found:
            raise ValueError(f"labels must differ, got {label!r} twice")
        found[label] = find_model(model)
    return found


def find_model(model: str) -> Path:
    """Returns the folder of a SavedModel: a run folder's, that folder itself, or a shipped model's.

    Raises:
        ValueError: if there is no such model.
    """
    inside = Path(model) / "saved_model"
    return inside if (inside / SAVED_MODEL_FILE).is_file() else resolve(model)


def find_translators(models: Sequence[str], labels: Sequence[str]) -> dict[str, Path]:
    """As ``find_models``; raises a ValueError too if one is no translator."""
    found = find_models(models, labels)
    check_translators(found.values())
    return found


def check_translators(folders: Iterable[Path]) -> None:
    """Raises a ValueError for a SavedModel of another task, before the first one is measured."""
    for folder in folders:
        if (task := read_card(folder).task) != "translation":
            raise ValueError(f"{folder} must hold a translator, got a model whose task is {task!r}")
