"""FeatureAttention in NumPy: attention as feature importance, feature by feature.

One row; matrices are stored (output, input):

    a (N, d), b (N, d)          vectors of numbers
    t (sum of categories, d)    tables of categories, one below the other
    Wk (k, d), c (F, k)         keys
    Wc (k, d), q (k,)           context and query
    W1 (n, d), b1, W2 (C, n), b2
"""

from collections.abc import Mapping

import numpy as np

from tests.references.recurrent import log_softmax, sigmoid, softmax

Weights = Mapping[str, np.ndarray]

OPTIONS = {
    "normalise": ("softmax", "sparsemax", "sigmoid"),
    "contextual": (True, False),
    "entropy": (0.0, 0.3),
    "sparsity": (0.0, 0.2),
    "value_penalty": (0.0, 0.1),
}
OF_THE_LOSS = ("entropy", "sparsity", "value_penalty")
INTERACTING = (("normalise", "contextual"), ("normalise", "entropy"), OF_THE_LOSS)

PATHS = {
    "a": "vectors/scale",
    "b": "vectors/shift",
    "t": "vectors/tables",
    "c": "key_bias",
    "q": "query",
    "b1": "hidden/bias",
    "b2": "output/bias",
}
KERNELS = {
    "Wk": "key_kernel",
    "Wc": "context_kernel",
    "W1": "hidden/kernel",
    "W2": "output/kernel",
}


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path, by the names above."""
    found = {name: values[path] for name, path in PATHS.items() if path in values}
    return found | {name: values[path].T for name, path in KERNELS.items() if path in values}


def vector(weights: Weights, feature: int, value: float, config: dict) -> np.ndarray:
    """v_f of a number or of a category."""
    numeric = config["numeric"]
    if feature < numeric:
        return value * weights["a"][feature] + weights["b"][feature]
    before = sum(config["categorical"][: feature - numeric])
    return weights["t"][before + int(value)]


def project_on_simplex(scores: np.ndarray) -> np.ndarray:
    """Sparsemax: the threshold is found by halving an interval, not by sorting."""
    low, high = scores.max() - 1.0, scores.max()
    for _ in range(200):
        middle = (low + high) / 2
        if np.sum(np.maximum(scores - middle, 0.0)) > 1.0:
            low = middle
        else:
            high = middle
    return np.maximum(scores - (low + high) / 2, 0.0)


def normalised(scores: np.ndarray, normalise: str) -> np.ndarray:
    """Weights of the features that are present."""
    if normalise == "sigmoid":
        return sigmoid(scores)
    return softmax(scores) if normalise == "softmax" else project_on_simplex(scores)


def attend(weights: Weights, row: np.ndarray, config: dict) -> dict[str, np.ndarray]:
    """All quantities of a row, NaN being missing."""
    present = [feature for feature, value in enumerate(row) if not np.isnan(value)]
    vectors = {f: vector(weights, f, row[f], config) for f in present}
    mean = sum(vectors.values()) / max(len(present), 1)
    e, alpha = np.zeros(len(row)), np.zeros(len(row))
    for f in present:
        key = weights["Wk"] @ vectors[f] + weights["c"][f]
        if config["contextual"]:
            key = key + weights["Wc"] @ mean
        e[f] = weights["q"] @ np.tanh(key)
    if present:
        alpha[present] = normalised(e[present], config["normalise"])
    context = sum((alpha[f] * vectors[f] for f in present), np.zeros(weights["W1"].shape[1]))
    hidden = np.maximum(weights["W1"] @ context + weights["b1"], 0.0)
    y = weights["W2"] @ hidden + weights["b2"]
    return {"e": e, "alpha": alpha, "context": context, "y": y}


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One row's outputs by the model's names."""
    found = attend(weights, inputs["row"].astype("float64"), config)
    output = {"value": found["y"][0]} if config["classes"] is None else {"logits": found["y"]}
    return output | {"attention/features": found["alpha"][None]}


def entropy(weights: np.ndarray) -> float:
    """- sum of w log w over positive weights."""
    return float(-sum(w * np.log(w) for w in weights if w > 0))


def example_loss(
    weights: Weights, outputs: dict[str, np.ndarray], targets: np.ndarray, config: dict
) -> float:
    """Cross entropy or half a squared error of a row, and the terms of weights and vectors."""
    if config["classes"] is None:
        loss = 0.5 * float(outputs["value"] - targets) ** 2
    else:
        loss = float(-log_softmax(outputs["logits"])[targets])
    alpha = outputs["attention/features"][0]
    spread = entropy(alpha)
    if config["normalise"] == "sigmoid":
        spread += entropy(1.0 - alpha)
    squares = sum(np.sum(weights[name] ** 2) for name in ("a", "t") if name in weights)
    return (
        loss
        + config["entropy"] * spread
        + config["sparsity"] * float(np.sum(alpha))
        + config["value_penalty"] * float(squares)
    )
