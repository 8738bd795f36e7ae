"""SelfAttentiveInference by the names of its outputs; the equations are in `self_attentive.py`."""

import numpy as np

from tests.references.lstmn_weights import perceptron_weights
from tests.references.self_attentive import (
    Weights,
    classifier,
    embed,
    encoder_weights,
    gated_encoder,
)
from tests.references.self_attentive_classifier import OF_THE_LOSS, example_loss

__all__ = ["INTERACTING", "OF_THE_LOSS", "OPTIONS", "example_loss", "named_weights", "predict"]

OPTIONS = {
    "pooling": ("attention", "max", "mean"),
    "attention_bias": (False, True),
    "penalty": (0.3, 0.0, 1.0),
    "penalty_reduction": ("sum", "mean"),
}
INTERACTING = (("pooling",), ("attention_bias",), OF_THE_LOSS)


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path, by the names of `self_attentive.py`."""
    weights = encoder_weights(values) | perceptron_weights(values, "classifier/")
    gates = {"W_fp": "premise", "W_fh": "hypothesis"}
    weights |= {name: values[f"gated/{side}_kernels"] for name, side in gates.items()}
    return weights | {"E": values["embedding/table"]}


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    read = {}
    for side in ("premise", "hypothesis"):
        read[side] = embed(weights, weights["E"][inputs[side]], config["pooling"])
    (premise, premise_hops), (hypothesis, hypothesis_hops) = read.values()
    factors = gated_encoder(weights, premise, hypothesis).reshape(-1)
    return {
        "logits": classifier(weights, factors),
        "attention/premise_hops": premise_hops,
        "attention/hypothesis_hops": hypothesis_hops,
    }
