"""The tree transducer in NumPy (Kim et al. 2017, arXiv 1702.00887, section 4.1, A.1 and A.2).

One pair at its own length: S source words, of which the first is the root, T target words, m
embedding units, p units of a direction of the parser, a units of the score, n hidden units, k = 2m
(m without parents). Marginals are sums over all projective trees, which are listed. Weights carry
the names of the paper's equations:

    E_src (V_src, m), E_tgt (V, m)
    f_W f_U f_b, b_W b_U b_b          the parser's two LSTMs, (4p, m), (4p, p), (4p,)
    W_1 (a, 2p), W_2 (a, 2p), b (a,), s (a,)
    dec0_W (4n, m), dec0_U (4n, n), dec0_b (4n,)
    W (k, n), U (n, k + n), V (V, n), b_V (V,)
"""

from functools import cache

import numpy as np

from tests.references.recurrent import bidirectional_lstm, lstm_weights, softmax
from tests.references.structured import distribution, projective_trees
from tests.references.translation import (
    Weights,
    embeddings,
    lstm_layers,
    lstm_stack_step,
    lstm_weights_by_layer,
    prefixed,
    sequence_loss,
)

OPTIONS = {
    "attention": ("structured", "simple", "none"),
    "multi_root": (True, False),
    "label_smoothing": (0.0, 0.1),
}
OF_THE_LOSS = ("label_smoothing",)

cached_trees = cache(projective_trees)


def arc_scores(weights: Weights, states: np.ndarray) -> np.ndarray:
    """Theta (S, S) of the states h (S, 2p): row i is the head, column j the dependent."""
    length = len(states)
    theta = np.zeros((length, length))
    for i in range(length):
        for j in range(length):
            sums = weights["W_1"] @ states[i] + weights["W_2"] @ states[j] + weights["b"]
            theta[i, j] = np.tanh(weights["s"] @ np.tanh(sums))
    return theta


def probabilities_of_arcs(theta: np.ndarray, attention: str, multi_root: bool) -> np.ndarray:
    """p(z_ij = 1), head i and dependent j: over all trees, or of each dependent by itself."""
    if attention == "simple":
        return softmax(theta, axis=0)
    if len(theta) == 1:  # the root alone
        return np.zeros((1, 1))
    trees = cached_trees(len(theta) - 1, multi_root)
    totals = [sum(theta[head, word] for word, head in enumerate(heads, 1)) for heads in trees]
    probabilities, _ = distribution(totals)
    arcs = np.zeros(theta.shape)
    for heads, probability in zip(trees, probabilities, strict=True):
        for word, head in enumerate(heads, 1):
            arcs[head, word] += probability
    return arcs


def read_source(
    weights: Weights, source: np.ndarray, attention: str, multi_root: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """x^ (S, k), and the probabilities of arcs (S, S), heads by dependents, if there are any."""
    words = weights["E_src"][source]
    if attention == "none":
        return words, None
    states = bidirectional_lstm(prefixed(weights, "f_"), prefixed(weights, "b_"), words)
    arcs = probabilities_of_arcs(arc_scores(weights, states), attention, multi_root)
    described = []
    for j, word in enumerate(words):
        parent = sum((arcs[i, j] * words[i] for i in range(len(words))), np.zeros(len(word)))
        described.append(np.concatenate([word, parent]))
    return np.array(described), arcs


def forward(
    weights: Weights,
    source: np.ndarray,
    target_in: np.ndarray,
    *,
    attention: str = "structured",
    multi_root: bool = True,
) -> dict[str, np.ndarray]:
    """Predicts each target word from those before it.

    Args:
        weights: see the module.
        source: (S,) ids, the root first.
        target_in: (T,) ids, the start symbol first.
        attention: "structured", "simple" or "none".
        multi_root: whether the root may have several children.

    Returns:
        `logits` (T, V), `alignment` (T, S), and `parents` (S, S), one row a word, if there are any.
    """
    described, arcs = read_source(weights, source, attention, multi_root)
    decoder = lstm_layers(weights, "dec")
    hidden_dim = weights["dec0_U"].shape[1]
    states = [(np.zeros(hidden_dim), np.zeros(hidden_dim))]
    logits, alignment = [], []
    for word in weights["E_tgt"][target_in]:
        hidden, states = lstm_stack_step(decoder, word, states)
        weights_of_source = softmax(np.array([x @ weights["W"] @ hidden for x in described]))
        read = weights_of_source @ described
        combined = np.tanh(weights["U"] @ np.concatenate([read, hidden]))
        logits.append(weights["V"] @ combined + weights["b_V"])
        alignment.append(weights_of_source)
    result = {"logits": np.array(logits), "alignment": np.array(alignment)}
    return result if arcs is None else result | {"parents": arcs.T}


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path below the model, by the names of this module."""
    weights = (
        embeddings(values)
        | lstm_weights_by_layer(values, "decoder", "dec")
        | {
            "W": values["score/kernel"],
            "U": values["combine/kernel"].T,
            "V": values["softmax/kernel"].T,
            "b_V": values["softmax/bias"],
        }
    )
    if "parents/score/scale" not in values:
        return weights
    for prefix, direction in (("f_", "forward_"), ("b_", "backward_")):
        of_direction = lstm_weights(values, f"parser/{direction}")
        weights |= {prefix + name: value for name, value in of_direction.items()}
    return weights | {
        "W_1": values["parents/score/key_kernel"].T,
        "W_2": values["parents/score/query_kernel"].T,
        "b": values["parents/score/bias"],
        "s": values["parents/score/scale"],
    }


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    options = {name: config[name] for name in ("attention", "multi_root")}
    result = forward(weights, inputs["source"], inputs["target"], **options)
    maps = {f"attention/{name}": result[name] for name in result if name != "logits"}
    return {"logits": result["logits"]} | maps


def example_loss(
    weights: Weights, outputs: dict[str, np.ndarray], targets: np.ndarray, config: dict
) -> float:
    """Cross entropy of one example's target ids, with smoothed labels."""
    return sequence_loss(outputs["logits"], targets, config["label_smoothing"])
