"""A servable with maps of every kind, whose names the page does not know."""

import numpy as np

from tests.serving.toy_servable import STRING, words_of
from zoo.models.core.axes import Features, Grid, Listed, Slots, Steps, Tokens
from zoo.serving.servable import Signature, TensorInfo

AXES = {
    "text_tokens": (Tokens("text"),),
    "attention_words": (Tokens("text", sentinel=True),),
    "attention_notes": (Slots(2), Tokens("text")),
    "attention_heads": (Tokens("text"), Steps("steps")),
    "attention_cells": (Steps("steps"), Grid("photo", cell=2)),
    "attention_list": (Listed("names"),),
    "attention_parts": (Features("weather"),),
    "attention_hops": (Steps("hops"), Tokens("text")),
    "scores": (Tokens("text"),),  # no map
}
STEPS, FEATURES = 3, 4


class AnyMaps:
    """Reads a text, a file and vectors; its weights are those of a ramp."""

    axes = AXES
    signatures = {  # noqa: RUF012
        "serving_default": Signature(
            {
                "text": STRING,
                "photo_bytes": STRING,
                "weather": TensorInfo("float32", (None, FEATURES)),
                "path": TensorInfo("int32", (None, None, 2)),
            },
            {},
        )
    }

    def __init__(self) -> None:
        self.asked: list[dict] = []

    def ask(self, inputs, signature="serving_default"):
        self.asked.append(inputs)
        answer = words_of(inputs["text"])
        words = answer["text_tokens"].shape[1]
        shapes = {
            "words": (words + 1,),
            "notes": (2, words),
            "heads": (2, 2, words, STEPS),  # layers and heads before it
            "cells": (STEPS, 2, 3),
            "list": (2,),
            "parts": (FEATURES,),
            "hops": (STEPS, words),
        }
        ramps = {f"attention_{name}": ramp(*shape) for name, shape in shapes.items()}
        names = np.array([[b"left", b"right"]], object)
        return answer | ramps | {"names": names, "scores": -ramp(words)}


def ramp(*shape: int) -> np.ndarray:
    """Weights (1, ...), rows of which sum to one and rise to the right."""
    weights = np.broadcast_to(np.arange(1.0, shape[-1] + 1), shape)
    return (weights / weights.sum(axis=-1, keepdims=True))[None].astype("float32")
