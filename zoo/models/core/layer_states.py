"""Decisions about layers after a model was made, which constructors cannot tell.

Whether a layer or a weight is trained, and low-rank adapters (``enable_lora``). A file in the
format of Keras holds weights with their adapters added, as in Keras; a model that is read from it
has new adapters, which add nothing yet.
"""

from typing import Any

import keras


def layer_states(model: keras.Model) -> dict[str, Any]:
    """Collects which layers and weights are trained, and which layers have adapters.

    Args:
        model: built.

    Returns:
        Dicts by the paths of layers and of weights, as JSON can hold them.
    """
    layers = [layer for layer in model._flatten_layers() if layer.path]
    return {
        "adapters": {
            layer.path: {"rank": layer.lora_rank, "lora_alpha": layer.lora_alpha}
            for layer in layers
            if getattr(layer, "lora_enabled", False)
        },
        "trained_layers": {layer.path: bool(layer.trainable) for layer in layers},
        "trained_weights": {weight.path: bool(weight.trainable) for weight in model.weights},
    }


def restore_layers(model: keras.Model, states: dict[str, Any]) -> None:
    """Brings the layers of a built model into the states of another one.

    Args:
        model: made by the same constructor.
        states: as ``layer_states`` returned them.
    """
    layers = [layer for layer in model._flatten_layers() if layer.path]
    for layer in layers:
        adapter = states["adapters"].get(layer.path)
        if adapter is not None and not layer.lora_enabled:
            layer.enable_lora(**adapter)
    for layer in layers:
        # Not by its property, which would decide on the layers within it too.
        layer._trainable = states["trained_layers"].get(layer.path, layer.trainable)
    for weight in model.weights:
        weight.trainable = states["trained_weights"].get(weight.path, weight.trainable)
