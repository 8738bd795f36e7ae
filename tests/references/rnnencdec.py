"""RNNencdec and Cho et al.'s network in NumPy, by way of the references that they are cases of."""

import numpy as np

from tests.references import rnnsearch, seq2seq
from tests.references.translation import (
    Weights,
    embeddings,
    gated_unit_step,
    gated_weights,
    prefixed,
    readout_weights,
    sequence_loss,
)

OPTIONS = {"label_smoothing": (0.0, 0.1)}


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path below the model, by the names of the two references.

    The update gate of Cho et al. weighs the old state: in the encoder, which has Bahdanau et al.'s
    unit, that is the opposite sign.
    """
    cho = "summary/kernel" in values
    weights = embeddings(values) | gated_weights(values, "decoder/")
    weights |= gated_weights(values, "encoder/", "f_", sign=-1.0 if cho else 1.0)
    readout = readout_weights(values)
    if cho:
        readout["O_h"], readout["O_y"], readout["O_c"] = (
            readout.pop(name) for name in ("U_o", "V_o", "C_o")
        )
        readout |= {"G_l": values["readout/kernel"].T, "G_r": values["readout/inner_kernel"].T}
        matrices = {"V": values["summary/kernel"].T, "V_prime": values["first_state/kernel"].T}
        return weights | readout | matrices
    biases = {"b_s": values["first_state/bias"]} if "first_state/bias" in values else {}
    return weights | readout | biases | {"W_s": values["first_state/kernel"].T}


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the models' names."""
    if "V_prime" in weights:
        return {"logits": seq2seq.cho(weights, inputs["source"], inputs["target"])["logits"]}
    encoder, state = prefixed(weights, "f_"), np.zeros(len(weights["W_s"]))
    for word in weights["E_src"][inputs["source"]]:
        state = gated_unit_step(encoder, word, state)
    first = np.tanh(weights["W_s"] @ state + weights.get("b_s", 0.0))
    # With a single annotation the alignment is 1 whatever its weights.
    alignment = {"v_a": np.zeros(1), "W_a": np.zeros((1, len(state)))}
    alignment["U_a"] = alignment["W_a"]
    decoded = rnnsearch.decode(weights | alignment, state[None], first, inputs["target"])
    return {"logits": decoded["logits"]}


def example_loss(
    weights: Weights, outputs: dict[str, np.ndarray], targets: np.ndarray, config: dict
) -> float:
    """Cross entropy of one example's target ids, with smoothed labels."""
    return sequence_loss(outputs["logits"], targets, config["label_smoothing"])
