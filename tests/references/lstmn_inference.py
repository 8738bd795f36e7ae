"""LSTMNInference by the names of its outputs; the equations are in `lstmn.py`."""

import numpy as np

from tests.references.lstmn import Weights, inference
from tests.references.lstmn_classifier import example_loss
from tests.references.lstmn_weights import pair_weights, perceptron_weights

__all__ = ["INTERACTING", "OPTIONS", "example_loss", "named_weights", "predict"]

OPTIONS = {
    "fusion": ("deep", "shallow", "none"),
    "share_cells": (True, False),
    "include_initial": (True, False),
    "window": (None, 1, 3),
    "query": ("summary", "hidden"),
}
INTERACTING = (
    ("fusion", "share_cells", "include_initial"),
    ("fusion", "window"),
    ("fusion", "query"),
)


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path, by the names of `lstmn.py`."""
    weights = pair_weights(values, "readers/") | perceptron_weights(values, "classifier/")
    return weights | {"E": values["embedding/table"]}


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    options = {name: config[name] for name in ("fusion", "include_initial", "window", "query")}
    logits, maps = inference(weights, inputs["premise"], inputs["hypothesis"], **options)
    return {"logits": logits} | {f"attention/{name}": value for name, value in maps.items()}
