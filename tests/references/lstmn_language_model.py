"""LSTMNLanguageModel by the names of its outputs; the equations are in `lstmn.py`."""

import numpy as np

from tests.references.lstmn import Weights, intra_map, language_model
from tests.references.lstmn_weights import stack_weights
from tests.references.translation import sequence_loss

OPTIONS = {
    "include_initial": (True, False),
    "window": (None, 1, 3),
    "depth": (2, 1),
    "skip_connections": (True, False),
    "tie_embeddings": (False, True),
    "hidden_dim": (5, 4),
    "query": ("summary", "hidden"),
}
INTERACTING = (
    ("include_initial", "window"),
    ("depth", "skip_connections"),
    ("tie_embeddings", "hidden_dim"),
    ("query", "window"),
)


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path, by the names of `lstmn.py`."""
    weights = stack_weights(values, "reader/")
    if "softmax/kernel" in values:
        return weights | {
            "E": values["embedding/table"],
            "W_o": values["softmax/kernel"].T,
            "b_o": values["softmax/bias"],
        }
    weights |= {"E": values["shared_embedding/table"], "b_o": values["softmax_bias"]}
    if "projection/kernel" in values:
        weights["W_p"] = values["projection/kernel"].T
    return weights


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    names = ("include_initial", "window", "skip_connections", "query")
    options = {name: config[name] for name in names}
    logits, results = language_model(weights, inputs["text"], **options)
    initial = config["include_initial"]
    maps = [intra_map(result["s"], include_initial=initial) for result in results]
    return {"logits": logits, "attention/intra": np.stack(maps)}


def example_loss(
    weights: Weights, outputs: dict[str, np.ndarray], targets: np.ndarray, config: dict
) -> float:
    """Cross entropy of one example's next ids, summed."""
    return sequence_loss(outputs["logits"], targets)
