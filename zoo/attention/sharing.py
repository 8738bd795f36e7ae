"""Layers that are used by several others, or in several places of a functional model."""

import functools
from collections.abc import Callable
from typing import Any, Self

import keras

from zoo.ops.masking import Tensor


def serialize_part(part: keras.layers.Layer, built: bool = False) -> dict[str, Any]:
    """Serialises a layer, such as a score, for the configuration of another one that holds it.

    Layers that hold the same one share it again when they are read from a file.

    Args:
        part: the layer.
        built: whether its build shapes are kept. A score that is rebuilt before its layer would
            have weights whose paths lack the layer's name.
    """
    config: dict[str, Any] = keras.saving.serialize_keras_object(part)
    # While it writes a file, Keras marks an object as shared when it sees it for the second time,
    # but only in a configuration that the layer's own is no longer: it was copied by then.
    keras.saving.serialize_keras_object(part)
    if not built:
        config.pop("build_config", None)
    return config


@keras.saving.register_keras_serializable(package="zoo")
class Preparation(keras.layers.Layer):
    """Node of a functional model that calls ``prepare`` of a layer, whose weights it shares.

    A file of Keras gives the shared weights back. `clone_model` and `to_json` copy each layer by
    itself, so that this one would have weights of its own there.

    Args:
        owner: a built layer with a method ``prepare``.
    """

    def __init__(self, owner: keras.layers.Layer, **kwargs: Any) -> None:
        super().__init__(**{"autocast": False, "dtype": owner.variable_dtype} | kwargs)
        self.owner = owner
        self.supports_masking = True

    def compute_mask(self, inputs: Any, previous_mask: Any) -> None:
        """Attaches no mask: layers take that of prepared values as an argument."""

    def build(self, *_: Any) -> None:
        """Creates nothing: the owner is built already."""

    def call(self, values: Tensor) -> Any:
        """Prepares values as the owner does."""
        return self.owner.prepare(values)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"owner": serialize_part(self.owner, built=True)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Makes the layer, with an owner that it shares, from the result of ``get_config``."""
        return cls(**{**config, "owner": keras.saving.deserialize_keras_object(config["owner"])})


def prepares_symbols(prepare: Callable[[Any, Tensor], Any]) -> Callable[[Any, Tensor], Any]:
    """Makes a layer's ``prepare`` take symbols too, while a functional model is built.

    Functions of weights would be computed then and there, and be constants of the model.
    """

    @functools.wraps(prepare)
    def prepare_any(layer: Any, values: Tensor) -> Any:
        if not isinstance(values, keras.KerasTensor):
            return prepare(layer, values)
        if not layer.built:
            raise ValueError(f"{layer.name} has no weights yet: call build first")
        return Preparation(layer)(values)

    return prepare_any
