"""Segmentation attention in translation, in NumPy (Kim et al. 2017, arXiv 1702.00887, section 4.2).

One sentence pair at its own length: S source words, T target words, n hidden units, m embedding
units. All segmentations of the source are listed and weighed for every target word. Weights:

    E_src (V_src, m), E_tgt (V, m)
    enc<k>_W (4n, m or n), enc<k>_U (4n, n), enc<k>_b (4n,)     gates i, f, g, o
    dec<k>_*                  alike
    W (n, n)                  the score h_i^T W h'_j
    b (2, 2)                  potentials of neighbours, state by next state; structured attention
    U (n, 2n), V (V, n), b_V (V,)

Biases that are not in the dict are zero.
"""

import numpy as np

from tests.references.recurrent import masked_softmax, sigmoid
from tests.references.structured import segmentation_attention
from tests.references.translation import (
    Weights,
    embeddings,
    encode_with_lstms,
    lstm_layers,
    lstm_stack_step,
    lstm_weights_by_layer,
    sequence_loss,
)

OPTIONS = {
    "attention": ("structured", "sigmoid", "simple"),
    "double_count": (False, True),
    "total": (2.0, 1.0),
    "pairwise_l2": (0.005, 0.0),
    "decoder_start": ("zeros", "encoder"),
    "depth": (1, 2),
    "use_bias": (True, False),
    "label_smoothing": (0.0, 0.1),
}
INTERACTING = (
    ("attention", "use_bias"),
    ("decoder_start", "depth"),
    ("double_count", "total"),
    ("pairwise_l2", "label_smoothing"),
)
"""The chain does not know where its queries come from; only it has ``double_count`` and ``total``,
and the first choice of ``attention`` is the chain."""
OF_THE_LOSS = ("pairwise_l2", "label_smoothing")


def attend(
    weights: Weights, query: np.ndarray, memory: np.ndarray, config: dict
) -> tuple[np.ndarray, np.ndarray]:
    """Context (n,) and weights (S,) of one decoder state (n,) over the memory (S, n)."""
    fit = np.array([state @ weights["W"] @ query for state in memory])
    if config["attention"] == "structured":
        return segmentation_attention(
            fit, weights["b"], memory, config["total"], config["double_count"]
        )
    if config["attention"] == "sigmoid":
        alignment = sigmoid(fit)
    else:
        alignment = masked_softmax(fit, np.ones(len(fit), bool))
    return alignment @ memory, alignment


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    memory, states = encode_with_lstms(
        lstm_layers(weights, "enc"), weights["E_src"][inputs["source"]], reverse=False
    )
    if config["decoder_start"] == "zeros":
        states = [(np.zeros_like(hidden), np.zeros_like(cell)) for hidden, cell in states]
    decoder, logits, alignments = lstm_layers(weights, "dec"), [], []
    for word in weights["E_tgt"][inputs["target"]]:
        hidden, states = lstm_stack_step(decoder, word, states)
        context, alignment = attend(weights, hidden, memory, config)
        feature = np.tanh(weights["U"] @ np.concatenate([context, hidden]))
        logits.append(weights["V"] @ feature + weights.get("b_V", 0.0))
        alignments.append(alignment)
    return {"logits": np.stack(logits), "attention/alignment": np.stack(alignments)}


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path below the model, by the names of this module."""
    weights = (
        embeddings(values)
        | lstm_weights_by_layer(values, "encoder", "enc")
        | lstm_weights_by_layer(values, "decoder", "dec")
        | {"U": values["combine/kernel"].T, "V": values["softmax/kernel"].T}
    )
    for path, value in values.items():
        if path.endswith("score/kernel"):
            weights["W"] = value  # (of the key, of the query)
        elif path == "attend/pairwise":
            weights["b"] = value
        elif path == "softmax/bias":
            weights["b_V"] = value
    return weights


def example_loss(
    weights: Weights, outputs: dict[str, np.ndarray], targets: np.ndarray, config: dict
) -> float:
    """Cross entropy of one example's target ids, with smoothed labels, and the penalty on b."""
    loss = sequence_loss(outputs["logits"], targets, config["label_smoothing"])
    return loss + config["pairwise_l2"] * float(np.sum(weights.get("b", np.zeros(1)) ** 2))
