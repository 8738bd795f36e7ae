"""Structured self-attentive embedding in NumPy (Lin et al. 2017, arXiv 1703.03130).

One example at its own length: T words, d embedding, u units of one direction, r hops. Weights,
stored (output, input):

    f and b: W (4u, d), U (4u, u), b (4u,)          the LSTM of each direction
    W_s1 (d_a, 2u), W_s2 (r, d_a)                   the attention; b_s1, b_s2 where it has biases
    V (r, 2u, p), G (2u, r, q), v                   the pruned first layer
    W_fp, W_fh (r, 2u, k)                           the gated encoder of pairs
    P0, p0, W_o, b_o                                the classifier: rectified layer, softmax
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.references.recurrent import bidirectional_lstm, lstm_weights, softmax

Weights = Mapping[str, np.ndarray]


def encoder_weights(values: Weights, path: str = "encoder/") -> dict[str, np.ndarray]:
    """The encoder's weights by Keras path, by the names above; LSTMs with a prefix."""
    weights = {}
    for prefix, direction in (("f_", "forward_"), ("b_", "backward_")):
        of_direction = lstm_weights(values, f"{path}reader/{direction}")
        weights |= {prefix + name: value for name, value in of_direction.items()}
    for number, name in ((1, "hidden"), (2, "hop")):
        if f"{path}attention/{name}_kernel" in values:
            weights[f"W_s{number}"] = values[f"{path}attention/{name}_kernel"].T
        if f"{path}attention/{name}_bias" in values:
            weights[f"b_s{number}"] = values[f"{path}attention/{name}_bias"]
    return weights


def states_of(weights: Weights, words: np.ndarray) -> np.ndarray:
    """H (T, 2u) of word vectors (T, d)."""
    forward, backward = (
        {name: weights[prefix + name] for name in ("W", "U", "b")} for prefix in ("f_", "b_")
    )
    return bidirectional_lstm(forward, backward, words)


def embed(weights: Weights, words: np.ndarray, pooling: str) -> tuple[np.ndarray, np.ndarray]:
    """The matrix M (r, 2u) and the weights A (r, T) of word vectors (T, d)."""
    states = states_of(weights, words)
    if pooling == "attention":
        return self_attention(weights, states)
    if pooling == "mean":
        length = len(states)
        if not length:
            return np.zeros((1, states.shape[1])), np.zeros((1, 0))
        return states.sum(axis=0)[None] / length, np.full((1, length), 1 / length)
    return max_pooling(states)


def self_attention(weights: Weights, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Section 2.1: A = softmax(W_s2 tanh(W_s1 H^T)) along the words, M = A H."""
    hidden = weights["W_s1"] @ states.T  # (d_a, T)
    if "b_s1" in weights:
        hidden = hidden + weights["b_s1"][:, None]
    scores = weights["W_s2"] @ np.tanh(hidden)  # (r, T)
    if "b_s2" in weights:
        scores = scores + weights["b_s2"][:, None]
    attention = softmax(scores, axis=1)
    return attention @ states, attention


def max_pooling(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The maximum of each unit, and how many of the units each word has it of."""
    length, units = states.shape
    pooled, shares = np.zeros((1, units)), np.zeros((1, length))
    for unit in range(units if length else 0):
        best = int(np.argmax(states[:, unit]))
        pooled[0, unit] = states[best, unit]
        shares[0, best] += 1 / units
    return pooled, shares


def penalty(attention: np.ndarray, reduction: str) -> float:
    """Section 2.2: the squared Frobenius norm of A A^T - I, or the mean of its entries' squares."""
    hops = len(attention)
    total = 0.0
    for i in range(hops):
        for j in range(hops):
            total += (attention[i] @ attention[j] - float(i == j)) ** 2
    return total if reduction == "sum" else total / hops**2


def pruned_layer(weights: Weights, matrix: np.ndarray) -> np.ndarray:
    """Appendix A: units that see one row of M, and units that see one column of it."""
    rows, columns = matrix.shape
    of_rows = [matrix[i] @ weights["V"][i] for i in range(rows)]  # p units each
    of_columns = [matrix[:, j] @ weights["G"][j] for j in range(columns)]  # q units each
    return np.maximum(np.concatenate([*of_rows, *of_columns]) + weights["v"], 0.0)


def gated_encoder(weights: Weights, premise: np.ndarray, hypothesis: np.ndarray) -> np.ndarray:
    """Appendix B: F_r = F_h * F_p, each row by matrices of its own."""
    rows = range(len(premise))
    of_hypothesis = np.stack([hypothesis[i] @ weights["W_fh"][i] for i in rows])
    of_premise = np.stack([premise[i] @ weights["W_fp"][i] for i in rows])
    return of_hypothesis * of_premise


def classifier(weights: Weights, features: np.ndarray) -> np.ndarray:
    """A rectified layer, unless it was pruned, and the logits."""
    if "P0" in weights:
        features = np.maximum(weights["P0"] @ features + weights["p0"], 0.0)
    return weights["W_o"] @ features + weights["b_o"]


def penalties(outputs: Weights, config: Mapping[str, Any]) -> float:
    """The penalties of all texts of an example, as they are added to the loss."""
    if config["pooling"] != "attention":
        return 0.0
    maps = [value for name, value in outputs.items() if name.startswith("attention/")]
    reduction = config["penalty_reduction"]
    return float(config["penalty"] * sum(penalty(one, reduction) for one in maps))
