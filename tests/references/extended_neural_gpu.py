"""The Extended Neural GPU in NumPy, one pair of sentences at a time.

Written from section 3 of Kaiser and Bengio 2016; units as in `tests/references/neural_gpu.py`, of
the stack `s` that reads the source and `d` that reads the tape. Words: `E_src` and `E_tgt`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.references.neural_gpu import Weights, encoded, shares, stack, unit_weights
from tests.references.translation import embeddings, sequence_loss

OPTIONS = {
    "decoder": ("extended", "markovian"),
    "extra_places": (2, 1),
    "depth": (1, 2),
    "rows": (3, 1),
    "kernel_size": (3, 5),
    "cutoff": (1.2, 1.0),
    "label_smoothing": (0.0, 0.1),
}
INTERACTING = (
    ("decoder", "extra_places"),
    ("depth", "rows"),
    ("kernel_size", "rows"),
    ("cutoff",),
    ("label_smoothing",),
)
OF_THE_LOSS = ("label_smoothing",)


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path below the model, by the names above."""
    if "target_embedding/table" not in values:
        words = {"E_src": values["source_embedding/table"]}
    else:
        words = embeddings(values)
    weights = words | {"O": values["word/kernel"].T, "o": values["word/bias"]}
    units = unit_weights(values, "encoder", "s") | unit_weights(values, "decoder", "d")
    return weights | units


def predict(
    weights: Weights, inputs: Mapping[str, np.ndarray], config: Mapping[str, Any], _: Any = None
) -> dict[str, np.ndarray]:
    """One pair's outputs by the model's names."""
    source, target = inputs["source"], inputs["target"]
    n = len(source) + config["extra_places"]
    d, _ = encoded(weights, "s", weights["E_src"][source], n, config)
    p = np.zeros_like(d)
    logits, alignment = [], []
    for k in range(len(target)):
        if config["decoder"] == "none":
            alignment.append(np.zeros(len(source)))
        else:
            if k > 0:  # o_{k-1} was written at place k - 1, or at the last one
                if config["decoder"] == "markovian":
                    p = np.zeros_like(p)
                p[min(k - 1, n - 1), 0] = weights["E_tgt"][target[k]]
            new = stack(weights, "d", d, config["cutoff"], p.copy())
            alignment.append(shares(d, new)[: len(source)])
            d = new
        logits.append(weights["O"] @ d[min(k, n - 1), 0] + weights["o"])
    return {"logits": np.array(logits), "attention/alignment": np.array(alignment)}


def example_loss(
    weights: Weights, outputs: Mapping[str, Any], targets: np.ndarray, config: Mapping[str, Any]
) -> float:
    """Cross entropy of one example's target ids, with smoothed labels."""
    return sequence_loss(outputs["logits"], targets, config["label_smoothing"])
