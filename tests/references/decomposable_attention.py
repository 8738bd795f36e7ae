"""DecomposableAttention in NumPy (Parikh et al. 2016, arXiv 1606.01933), word by word.

One pair at its own lengths, without padding; matrices are stored (output, input):

    E (V, d)                                    word vectors; row 2 is NULL's
    P (p, d)                                    projection
    F1 (n, q), F1b, F2 (n, n), F2b (n,)         attend; likewise G1 (n, 2 q) ... compare,
                                                H1 (n, 2 n) ... aggregate
    I1 (n, p), I1b, I2 (n, n), I2b, D (k,)      intra-sentence attention and its distance biases
    L_W (4r, d), L_U (4r, r), L_b, R_*          LSTMs of both directions that read for parents
    U, W (2r, 2r), b, v (2r,)                   score of a head and its dependent
    O (C, n), Ob (C,)                           classifier

With ``parents``, a word has a soft parent (Kim et al. 2017, arXiv 1702.00887, section 4.4) in place
of a summary. Every projective tree is listed and weighed.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np

from tests.references.lstmn_classifier import example_loss
from tests.references.recurrent import bidirectional_lstm, softmax
from tests.references.scores import score
from tests.references.structured import distribution, projective_trees

__all__ = ["INTERACTING", "OPTIONS", "example_loss", "named_weights", "predict"]

Weights = Mapping[str, np.ndarray]
NULL, SPECIAL = 2, 4

OPTIONS = {
    "intra": (True, False),
    "distances": (3, 1, 20),
    "parents": ("none", "simple", "structured"),
    "normalise": ("all", "words", "none"),
    "hashed_words": (3, 0),
    "vector_norm": (1.0, 2.5),
    "initializer": ("glorot_uniform", "gaussian"),
}
INTERACTING = (
    ("intra", "distances"),
    ("parents",),
    ("normalise", "hashed_words", "vector_norm"),
    ("initializer",),
)


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
    if "intra_attention/reader/forward_kernel" in values:
        for letter, side in (("L", "forward"), ("R", "backward")):
            weights[f"{letter}_W"] = values[f"intra_attention/reader/{side}_kernel"].T
            weights[f"{letter}_U"] = values[f"intra_attention/reader/{side}_recurrent_kernel"].T
            weights[f"{letter}_b"] = values[f"intra_attention/reader/{side}_bias"]
        path = "intra_attention/heads/score"
        weights |= {"U": values[f"{path}/key_kernel"].T, "W": values[f"{path}/query_kernel"].T}
        weights |= {"b": values[f"{path}/bias"], "v": values[f"{path}/scale"]}
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


@cache
def trees(words: int) -> np.ndarray:
    """Heads of the words of every projective tree, (trees, words); the root is 0."""
    found = projective_trees(words)
    return np.array(found, "int64").reshape(len(found), words)


def soft_parents(
    weights: Weights, vectors: list[np.ndarray], words: list[np.ndarray], structured: bool
) -> tuple[list[np.ndarray], np.ndarray]:
    """[a_j; a'_j] of all words, and the weights (T, T) of each word's heads."""
    one, other = (
        {name: weights[f"{side}_{name}"] for name in ("W", "U", "b")} for side in ("L", "R")
    )
    states = bidirectional_lstm(one, other, np.array(vectors))
    parts = {name: weights[name] for name in ("W", "U", "b", "v")}
    fit = np.tanh([score("additive", parts, state, states) for state in states])  # word, head
    rows = np.zeros(fit.shape)
    if structured:
        heads = trees(len(words) - 1)
        places = np.arange(1, len(words))
        probabilities, _ = distribution(fit[places, heads].sum(axis=1))
        for tree, probability in zip(heads, probabilities, strict=True):
            rows[places, tree] += probability
    else:
        for j in range(1, len(words)):
            rows[j] = softmax(fit[j])
    return [np.concatenate([a, mean(row, words)]) for a, row in zip(words, rows, strict=True)], rows


def read(weights: Weights, ids: np.ndarray, config: dict) -> list[np.ndarray]:
    """Word vectors, scaled, NULL first."""
    vectors = []
    for word in [NULL, *ids]:
        vector = weights["E"][word]
        ordinary = SPECIAL <= word < len(weights["E"]) - config["hashed_words"]
        if config["normalise"] == "all" or (config["normalise"] == "words" and ordinary):
            vector = config["vector_norm"] * vector / np.sqrt(np.sum(vector**2))
        vectors.append(vector)
    return vectors


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
    intra: dict[str, np.ndarray] = {}
    sides = {}
    for side in ("premise", "hypothesis"):
        vectors = read(weights, inputs[side], config)
        words = [weights["P"] @ vector for vector in vectors]
        if config["intra"] and config["parents"] == "none":
            words, intra[f"{side}_intra"] = intra_attention(weights, words)
        elif config["intra"]:
            structured = config["parents"] == "structured"
            words, intra[f"{side}_intra"] = soft_parents(weights, vectors, words, structured)
        sides[side] = words
    found = attend_compare_aggregate(weights, sides["premise"], sides["hypothesis"])
    maps = {
        "premise_to_hypothesis": found["to_b"],
        "hypothesis_to_premise": found["to_a"],
    } | intra
    return {"logits": found["logits"]} | {
        f"attention/{name}": null_last(value) for name, value in maps.items()
    }
