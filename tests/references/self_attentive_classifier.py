"""SelfAttentiveClassifier by the names of its outputs; the equations are in `self_attentive.py`."""

import numpy as np

from tests.references.lstmn_weights import perceptron_weights
from tests.references.recurrent import log_softmax
from tests.references.self_attentive import (
    Weights,
    classifier,
    embed,
    encoder_weights,
    penalties,
    pruned_layer,
)

OPTIONS = {
    "pooling": ("attention", "max", "mean"),
    "attention_bias": (False, True),
    "first_layer": ("dense", "pruned"),
    "penalty": (1.0, 0.0, 0.3),
    "penalty_reduction": ("sum", "mean"),
}
OF_THE_LOSS = ("penalty", "penalty_reduction")
INTERACTING = (("pooling", "first_layer"), ("attention_bias",), OF_THE_LOSS)


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path, by the names of `self_attentive.py`."""
    weights = encoder_weights(values) | perceptron_weights(values, "classifier/")
    for name, path in (("V", "row_kernels"), ("G", "column_kernels"), ("v", "bias")):
        if f"pruned/{path}" in values:
            weights[name] = values[f"pruned/{path}"]
    return weights | {"E": values["embedding/table"]}


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    matrix, attention = embed(weights, weights["E"][inputs["text"]], config["pooling"])
    features = pruned_layer(weights, matrix) if "V" in weights else matrix.reshape(-1)
    return {"logits": classifier(weights, features), "attention/hops": attention}


def example_loss(
    weights: Weights, outputs: dict[str, np.ndarray], targets: np.ndarray, config: dict
) -> float:
    """Cross entropy of one example's class, and the penalty of its hops."""
    return float(-log_softmax(outputs["logits"])[targets]) + penalties(outputs, config)
