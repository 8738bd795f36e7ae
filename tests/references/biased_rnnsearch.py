"""RNNsearch with structural biases in NumPy (Cohn et al. 2016, arXiv 1601.01085, section 3).

One sentence pair at its own length: S source words, T target words, n hidden, m embedding, a
alignment units. Encoder, decoder and the readouts of RNNsearch have the weights of
`tests.references.rnnsearch`; more of them are:

    W_ap (a, 3), W_am (a, 2k + 1), W_af (a, 2k + 1)     position, Markov condition, local fertility
    Q_o (n, 2n), P_o (n, m), b_o (n,), W_o (V, n)        the readout "tanh"
    W_mu, W_var (a, 2n), w_mu, w_var (a,), b_mu, b_var   the global fertility

A bias whose matrix is absent is absent.
"""

import math

import numpy as np

from tests.references import rnnsearch
from tests.references.recurrent import softmax
from tests.references.translation import (
    Weights,
    embed_target,
    gated_unit_step,
    readout_weights,
    sequence_loss,
)

OPTIONS = {
    "readout": ("tanh", "appendix", "eq4", "groundhog"),
    "position": (True, False),
    "markov": (True, False),
    "fertility": (True, False),
    "half_width": (1, 0, 2),
    "global_fertility": (0.0, 0.5),
    "use_bias": (True, False),
    "label_smoothing": (0.0, 0.1),
}
INTERACTING = (
    ("position", "markov", "fertility"),
    ("half_width",),
    ("readout", "use_bias"),
    ("global_fertility", "label_smoothing"),
)
START, END = 2, 3


def window(values: np.ndarray, centre: int, half_width: int) -> np.ndarray:
    """The values around a position, zeros beyond the ends: (2k + 1,)."""
    positions = range(centre - half_width, centre + half_width + 1)
    return np.array([values[i] if 0 <= i < len(values) else 0.0 for i in positions])


def attend(
    weights: Weights, state: np.ndarray, annotations: np.ndarray, past: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The alignment model.

    Args:
        weights: see the module.
        state: the decoder's, (n,).
        annotations: (S, 2n).
        past: the alignments (S,) of all words before.

    Returns:
        alpha_j (S,) and c_j (2n,).
    """
    length, word = len(annotations), len(past) + 1
    before = past[-1] if past else np.zeros(length)
    total = sum(past, np.zeros(length))
    scores = []
    for i, annotation in enumerate(annotations):
        inner = weights["W_a"] @ state + weights["U_a"] @ annotation
        if "W_ap" in weights:
            psi = np.log([1.0 + word, 1.0 + (i + 1), 1.0 + length])
            inner = inner + weights["W_ap"] @ psi
        if "W_am" in weights:
            inner = inner + weights["W_am"] @ window(before, i, weights["W_am"].shape[1] // 2)
        if "W_af" in weights:
            inner = inner + weights["W_af"] @ window(total, i, weights["W_af"].shape[1] // 2)
        scores.append(weights["v_a"] @ np.tanh(inner))
    alignment = softmax(np.array(scores))
    return alignment, alignment @ annotations


def read_out(
    weights: Weights, state: np.ndarray, word: np.ndarray, context: np.ndarray
) -> np.ndarray:
    """The features of the softmax, of a state (n,), the last word (m,) and the context (2n,)."""
    if "Q_o" not in weights:
        return rnnsearch.read_out(weights, state, word, context)
    inner = state + weights["Q_o"] @ context + weights["P_o"] @ word
    return np.tanh(inner + weights.get("b_o", 0.0))


def decode(
    weights: Weights,
    annotations: np.ndarray,
    initial_state: np.ndarray,
    target_in: np.ndarray,
    readout: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Logits (T, V) and alignments (T, S) under teacher forcing; the arguments as in rnnsearch."""
    words = embed_target(weights["E_tgt"], target_in, zero_start=True)
    state, context = initial_state, None
    alignments: list[np.ndarray] = []
    features = []
    for j, word in enumerate(words):
        if readout == "groundhog" and j > 0:
            state = gated_unit_step(weights, word, state, context)
        alignment, context = attend(weights, state, annotations, alignments)
        before = state
        if readout != "groundhog":
            state = gated_unit_step(weights, word, state, context)
        shown = state if readout in ("tanh", "eq4") else before
        features.append(read_out(weights, shown, word, context))
        alignments.append(alignment)
    logits = np.stack(features) @ weights["W_o"].T + weights.get("b_y", 0.0)
    return logits, np.stack(alignments)


def fertilities(weights: Weights, annotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance (S,) of the fertility of each word."""
    hidden = [np.tanh(annotations @ weights[name].T) for name in ("W_mu", "W_var")]
    mean = hidden[0] @ weights["w_mu"] + weights["b_mu"]
    return mean, np.exp(hidden[1] @ weights["w_var"] + weights["b_var"])


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path below the model, by the names of this module."""
    weights = rnnsearch.weights_before_readout(values)
    if "readout/hidden_kernel" in values:
        weights |= readout_weights(values)
    else:
        weights |= {
            "Q_o": values["readout/context_kernel"].T,
            "P_o": values["readout/word_kernel"].T,
            "W_o": values["readout/kernel"].T,
        }
        if "readout/bias" in values:
            weights |= {"b_o": values["readout/hidden_bias"], "b_y": values["readout/bias"]}
    for name, kind in {"W_ap": "position", "W_am": "markov", "W_af": "fertility"}.items():
        if f"biases/{kind}_kernel" in values:
            weights[name] = values[f"biases/{kind}_kernel"].T
    if "fertilities/mean/kernel" in values:
        for name, hidden, output in (
            ("mu", "mean_hidden", "mean"),
            ("var", "variance_hidden", "log_variance"),
        ):
            weights[f"W_{name}"] = values[f"fertilities/{hidden}/kernel"].T
            weights[f"w_{name}"] = values[f"fertilities/{output}/kernel"][:, 0]
            weights[f"b_{name}"] = values[f"fertilities/{output}/bias"]
    return weights


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    annotations, initial_state = rnnsearch.encode(weights, inputs["source"])
    logits, alignment = decode(
        weights, annotations, initial_state, inputs["target"], config["readout"]
    )
    outputs = {"logits": logits, "attention/alignment": alignment}
    if config["global_fertility"]:
        counted = (inputs["source"] != START) & (inputs["source"] != END)
        mean, variance = fertilities(weights, annotations)
        outputs["fertility_mean"] = np.where(counted, mean, 0.0)
        outputs["fertility_variance"] = np.where(counted, variance, 0.0)
    return outputs


def example_loss(
    weights: Weights, outputs: dict[str, np.ndarray], targets: np.ndarray, config: dict
) -> float:
    """Cross entropy of one example's target ids, and the densities of its fertilities."""
    loss = sequence_loss(outputs["logits"], targets, config["label_smoothing"])
    if config["global_fertility"]:
        totals = outputs["attention/alignment"].sum(axis=0)
        for i, variance in enumerate(outputs["fertility_variance"]):
            if variance > 0:
                distance = totals[i] - outputs["fertility_mean"][i]
                density = math.exp(-(distance**2) / (2 * variance))
                density /= math.sqrt(2 * math.pi * variance)
                loss -= config["global_fertility"] * math.log(density)
    return loss
