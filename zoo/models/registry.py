"""The models of the zoo by name. A registered model is tested, listed, exported and loaded."""

import importlib
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeVar

import keras

from zoo.models.base import BaseModel

Task = Literal["reading", "translation", "cloze", "language_model", "classification", "inference"]

MODULES = (
    "dcn",
    "dcn_plus",
    "aoa_reader",
    "rnnsearch",
    "luong",
    "seq2seq",
    "rnnencdec",
    "transformer",
    "lstmn_language_model",
    "lstmn_classifier",
    "lstmn_inference",
    "lstmn_translator",
)
"""Files of ``zoo/models`` that register models."""


class ModelEntry(NamedTuple):
    """A registered model."""

    name: str
    cls: type[BaseModel]
    task: Task


_entries: dict[str, ModelEntry] = {}
_Model = TypeVar("_Model", bound=type[BaseModel])


def register_model(task: Task) -> Callable[[_Model], _Model]:
    """Class decorator: registers a model for ``task`` and for Keras' serialisation."""

    def register(cls: _Model) -> _Model:
        _entries[cls.__name__] = ModelEntry(cls.__name__, cls, task)
        return keras.saving.register_keras_serializable(package="zoo")(cls)

    return register


def models() -> dict[str, ModelEntry]:
    """Returns every model of the zoo by its class name."""
    for module in MODULES:
        importlib.import_module(f"zoo.models.{module}")
    return dict(_entries)


def find_model(name: str) -> ModelEntry:
    """Returns the model of that class name.

    Raises:
        ValueError: if there is none.
    """
    entries = models()
    if name not in entries:
        raise ValueError(f"name is {name!r}, expected one of {sorted(entries)}")
    return entries[name]
