"""The baseline of the Neural Turing Machine in NumPy, one sequence at a time.

Names of the weights: `W<k>`, `U<k>`, `b<k>`, `h<k>` and `c<k>` of layer k, its gates and its first
state; `O` and `o` of the answer.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.references.ntm import example_loss
from tests.references.recurrent import lstm_step

OPTIONS = {"depth": (2, 1, 3)}

Weights = dict[str, np.ndarray]

__all__ = ["OPTIONS", "example_loss", "named_weights", "predict"]


def named_weights(values: Mapping[str, np.ndarray]) -> Weights:
    """Weights by the names above, matrices as (out, in)."""
    named = {"O": values["answer/kernel"].T, "o": values["answer/bias"]}
    depth = sum(path.endswith("/recurrent_kernel") for path in values)
    for k in range(depth):
        named |= {
            f"W{k}": values[f"layer_{k}/kernel"].T,
            f"U{k}": values[f"layer_{k}/recurrent_kernel"].T,
            f"b{k}": values[f"layer_{k}/bias"],
            f"h{k}": values[f"layer_{k}/first_hidden"],
            f"c{k}": values[f"layer_{k}/first_cell"],
        }
    return named


def predict(
    weights: Weights,
    inputs: dict[str, np.ndarray],
    config: Mapping[str, Any],
    constants: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One sequence's outputs by the model's names."""
    depth = config["depth"]
    h = [weights[f"h{k}"] for k in range(depth)]
    c = [weights[f"c{k}"] for k in range(depth)]
    logits = []
    for x in inputs["vectors"][: int(inputs["length"])].astype("float64"):
        for k in range(depth):
            seen = np.concatenate([x, h[k - 1]]) if k else x
            of_layer = {name: weights[f"{name}{k}"] for name in "WUb"}
            h[k], c[k] = lstm_step(of_layer, seen, h[k], c[k])
        logits.append(weights["O"] @ np.concatenate(h) + weights["o"])
    return {"logits": np.array(logits)}
