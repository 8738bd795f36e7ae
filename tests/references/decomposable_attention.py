"""DecomposableAttention in NumPy (Parikh et al. 2016, arXiv 1606.01933), word by word.

One pair at its own lengths, without padding; matrices are stored (output, input):

    E (V, d)                                    word vectors; row 2 is NULL's
    P (p, d)                                    projection
    F1 (n, q), F1b, F2 (n, n), F2b (n,)         attend; likewise G1 (n, 2 q) ... compare,
                                                H1 (n, 2 n) ... aggregate
    I1 (n, p), I1b, I2 (n, n), I2b, D (k,)      intra-sentence attention and its distance biases
    O (C, n), Ob (C,)                           classifier
"""

from collections.abc import Mapping

import numpy as np

from tests.references.lstmn_classifier import example_loss
from tests.references.recurrent import softmax

__all__ = ["INTERACTING", "OPTIONS", "example_loss", "named_weights", "predict"]

Weights = Mapping[str, np.ndarray]
NULL, SPECIAL = 2, 4

OPTIONS = {
    "intra": (True, False),
    "distances": (3, 1, 20),
    "normalise": ("all", "words", "none"),
    "hashed_words": (3, 0),
    "initializer": ("glorot_uniform", "gaussian"),
}
INTERACTING = (("intra", "distances"), ("normalise", "hashed_words"), ("initializer",))


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path, by the names above."""
    weights = {
        "E": values["embedding/table"],
        "P": values["projection/kernel"].T,
        "O": values["classifier/kernel"].T,
        "Ob": values["classifier/bias"],
    }
    networks = {"F": "attend", "G": "compare", "H": "aggregate"}
    if "intra_attention/distance_bias" in values:
        networks["I"] = "intra_attention/feed_forward"
        weights["D"] = values["intra_attention/distance_bias"]
    for letter, path in networks.items():
        for number, layer in enumerate(("first", "second"), start=1):
            weights[f"{letter}{number}"] = values[f"{path}/{layer}/kernel"].T
            weights[f"{letter}{number}b"] = values[f"{path}/{layer}/bias"]
    return weights


def network(weights: Weights, letter: str, x: np.ndarray) -> np.ndarray:
    """Two rectified layers: (d,) to (n,)."""
    for number in (1, 2):
        x = np.maximum(weights[f"{letter}{number}"] @ x + weights[f"{letter}{number}b"], 0.0)
    return x


def read(weights: Weights, ids: np.ndarray, config: dict) -> list[np.ndarray]:
    """Projected words, NULL first."""
    words = []
    for word in [NULL, *ids]:
        vector = weights["E"][word]
        ordinary = SPECIAL <= word < len(weights["E"]) - config["hashed_words"]
        if config["normalise"] == "all" or (config["normalise"] == "words" and ordinary):
            vector = vector / np.sqrt(np.sum(vector**2))
        words.append(weights["P"] @ vector)
    return words


def mean(weights: np.ndarray, vectors: list[np.ndarray]) -> np.ndarray:
    """Weighted sum of vectors."""
    return sum(weight * vector for weight, vector in zip(weights, vectors, strict=True))


def intra_attention(
    weights: Weights, words: list[np.ndarray]
) -> tuple[list[np.ndarray], np.ndarray]:
    """[a_i; a'_i] of all words, and the weights (T, T)."""
    last, rows, joined = len(weights["D"]) - 1, [], []
    for i, word in enumerate(words):
        scores = [
            network(weights, "I", word) @ network(weights, "I", other)
            + weights["D"][min(abs(i - j), last)]
            for j, other in enumerate(words)
        ]
        rows.append(softmax(np.array(scores)))
        joined.append(np.concatenate([word, mean(rows[-1], words)]))
    return joined, np.array(rows)


def attend_compare_aggregate(
    weights: Weights, a: list[np.ndarray], b: list[np.ndarray]
) -> dict[str, np.ndarray]:
    """Equations 1 to 6, from words to logits."""
    e = np.array([[network(weights, "F", x) @ network(weights, "F", y) for y in b] for x in a])
    to_b = np.array([softmax(row) for row in e])
    to_a = np.array([softmax(column) for column in e.T])
    beta = [mean(row, b) for row in to_b]
    alpha = [mean(row, a) for row in to_a]
    pairs = zip(a, beta, strict=True), zip(b, alpha, strict=True)
    v1, v2 = (
        sum(network(weights, "G", np.concatenate([x, aligned])) for x, aligned in side)
        for side in pairs
    )
    logits = weights["O"] @ network(weights, "H", np.concatenate([v1, v2])) + weights["Ob"]
    return {
        "e": e,
        "to_b": to_b,
        "to_a": to_a,
        "beta": np.array(beta),
        "alpha": np.array(alpha),
        "v1": v1,
        "v2": v2,
        "logits": logits,
    }


def null_last(weights: np.ndarray) -> np.ndarray:
    """Rows of words alone, and the column of NULL after those of words."""
    return np.concatenate([weights[1:, 1:], weights[1:, :1]], axis=1)


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    a, b = (read(weights, inputs[side], config) for side in ("premise", "hypothesis"))
    intra: dict[str, np.ndarray] = {}
    if config["intra"]:
        a, intra["premise_intra"] = intra_attention(weights, a)
        b, intra["hypothesis_intra"] = intra_attention(weights, b)
    found = attend_compare_aggregate(weights, a, b)
    maps = {
        "premise_to_hypothesis": found["to_b"],
        "hypothesis_to_premise": found["to_a"],
    } | intra
    return {"logits": found["logits"]} | {
        f"attention/{name}": null_last(value) for name, value in maps.items()
    }
