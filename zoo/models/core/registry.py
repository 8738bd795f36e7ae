"""The models of the zoo by name. A registered model is tested, listed, exported and loaded."""

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

import keras

from zoo.models.core.base import BaseModel


class ModelEntry(NamedTuple):
    """A registered model."""

    name: str
    cls: type[BaseModel]
    task: str
    """Such as "reading"; models of a task share the names of inputs, targets and outputs."""


_entries: dict[str, ModelEntry] = {}
_Model = TypeVar("_Model", bound=type[BaseModel])


def register_model(task: str) -> Callable[[_Model], _Model]:
    """Class decorator: registers a model for ``task`` and for Keras' serialisation."""

    def register(cls: _Model) -> _Model:
        _entries[cls.__name__] = ModelEntry(cls.__name__, cls, task)
        return keras.saving.register_keras_serializable(package="zoo")(cls)

    return register


def models() -> dict[str, ModelEntry]:
    """Returns every model by its class name: those of all folders of ``zoo/models``, and your own.

    A folder's ``__init__`` imports its models, and they register themselves.
    """
    for family in families():
        importlib.import_module(f"zoo.models.{family}")
    return dict(_entries)


def families() -> list[str]:
    """Names the folders of ``zoo/models`` that hold a paper's models."""
    packages = pkgutil.iter_modules([str(Path(__file__).parents[1])])
    return [package.name for package in packages if package.ispkg and package.name != "core"]


def find_model(name: str) -> ModelEntry:
    """Returns the model of that class name.

    Raises:
        ValueError: if there is none.
    """
    entries = models()
    if name not in entries:
        raise ValueError(f"name must be one of {sorted(entries)}, got {name!r}")
    return entries[name]
