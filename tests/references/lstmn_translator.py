"""LSTMNTranslator by the names of its outputs; the equations are in `lstmn.py`."""

import numpy as np

from tests.references.lstmn import Weights, translator
from tests.references.lstmn_weights import pair_weights
from tests.references.translation import embeddings, sequence_loss

OPTIONS = {
    "fusion": ("deep", "shallow"),
    "include_initial": (True, False),
    "window": (None, 1, 3),
    "label_smoothing": (0.0, 0.1),
    "query": ("summary", "hidden"),
}
INTERACTING = (("fusion", "include_initial", "window"), ("label_smoothing",), ("fusion", "query"))


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path, by the names of `lstmn.py`."""
    softmax = {"W_o": values["softmax/kernel"].T, "b_o": values["softmax/bias"]}
    return embeddings(values) | pair_weights(values, "readers/") | softmax


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    options = {name: config[name] for name in ("fusion", "include_initial", "window", "query")}
    result = translator(weights, inputs["source"], inputs["target"], **options)
    return {"logits": result["logits"], "attention/alignment": result["alignment"]}


def example_loss(
    weights: Weights, outputs: dict[str, np.ndarray], targets: np.ndarray, config: dict
) -> float:
    """Cross entropy of one example's target ids, with smoothed labels."""
    return sequence_loss(outputs["logits"], targets, config["label_smoothing"])
