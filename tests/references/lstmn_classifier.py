"""LSTMNClassifier by the names of its outputs; the equations are in `lstmn.py`."""

import numpy as np

from tests.references.lstmn import Weights, classifier, intra_map
from tests.references.lstmn_weights import perceptron_weights, stack_weights
from tests.references.recurrent import log_softmax

OPTIONS = {
    "include_initial": (True, False),
    "window": (None, 1, 3),
    "depth": (2, 1),
    "skip_connections": (False, True),
    "query": ("summary", "hidden"),
}
INTERACTING = (("include_initial", "window"), ("depth", "skip_connections"), ("query",))


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path, by the names of `lstmn.py`."""
    weights = stack_weights(values, "reader/") | perceptron_weights(values, "classifier/")
    return weights | {"E": values["embedding/table"]}


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    names = ("include_initial", "window", "skip_connections", "query")
    options = {name: config[name] for name in names}
    logits, results = classifier(weights, inputs["text"], **options)
    initial = config["include_initial"]
    maps = [intra_map(result["s"], include_initial=initial) for result in results]
    return {"logits": logits, "attention/intra": np.stack(maps)}


def example_loss(
    weights: Weights, outputs: dict[str, np.ndarray], targets: np.ndarray, config: dict
) -> float:
    """Cross entropy of one example's class."""
    return float(-log_softmax(outputs["logits"])[targets])
