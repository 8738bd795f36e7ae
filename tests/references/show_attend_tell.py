"""ShowAttendTell in NumPy (Xu et al. 2015, arXiv 1502.03044), word by word.

One image of L locations and one caption of T words; D annotation, m word vector, n hidden, a
attention units, V vocabulary. Matrices are stored (output, input):

    E (V, m)                                  word vectors
    I (D, D), I_b                             rectified layer before the first state, or absent
    I_h (n, D), I_h_b;  I_c (n, D), I_c_b     first state and cell
    W_a (a, D), W_h (a, n), b (a,), v (a,)    f_att; v_b () is added to all scores, if it is there
    F (1, n), F_b                             f_beta, if there is a gate
    lstm_W (4n, m + D), lstm_U, lstm_b        gates in the order i, f, g, o
    L_h (m, n), L_z (m, D), L_o (V, m)        deep output; L_h_b, L_z_b, L_o_b, if they are there
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.references.recurrent import log_softmax, lstm_step, sigmoid, softmax
from tests.references.translation import Weights, lstm_weights_by_layer, prefixed

OPTIONS = {
    "attention": ("soft", "hard"),
    "gate": (True, False),
    "init_layers": (1, 2),
    "output_activation": ("linear", "tanh"),
    "biases": ("printed", "released"),
    "doubly_stochastic": (1.0, 0.3),
}
INTERACTING = (
    ("attention", "gate", "doubly_stochastic"),
    ("init_layers",),
    ("output_activation",),
    ("biases",),
)
OF_THE_LOSS = ("doubly_stochastic",)
SOFT = -1

_MATRICES = {
    "I": "init",
    "I_h": "init_hidden",
    "I_c": "init_cell",
    "F": "f_beta",
    "L_h": "deep_output/of_hidden",
    "L_z": "deep_output/of_context",
    "L_o": "deep_output/of_sum",
}


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path below the model, by the names of this module."""
    weights = {
        "E": values["embedding/table"],
        "W_a": values["f_att/key_kernel"].T,
        "W_h": values["f_att/query_kernel"].T,
        "b": values["f_att/bias"],
        "v": values["f_att/scale"],
    }
    if "score_bias" in values:
        weights["v_b"] = values["score_bias"]
    for name, path in _MATRICES.items():
        if f"{path}/kernel" in values:
            weights[name] = values[f"{path}/kernel"].T
        if f"{path}/bias" in values:
            weights[f"{name}_b"] = values[f"{path}/bias"]
    layers = lstm_weights_by_layer(values, "lstm", "lstm")
    return weights | {name.replace("lstm0", "lstm"): value for name, value in layers.items()}


def first_state(weights: Weights, annotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """h_0 and c_0 (n,), from the mean of the annotations (L, D)."""
    mean = np.zeros(annotations.shape[1])
    for annotation in annotations:
        mean += annotation / len(annotations)
    if "I" in weights:
        mean = np.maximum(weights["I"] @ mean + weights["I_b"], 0.0)
    hidden = np.tanh(weights["I_h"] @ mean + weights["I_h_b"])
    return hidden, np.tanh(weights["I_c"] @ mean + weights["I_c_b"])


def look(weights: Weights, annotations: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """alpha_t (L,) from h_{t-1} (n,)."""
    scores = np.zeros(len(annotations))
    for i, annotation in enumerate(annotations):
        inner = weights["W_a"] @ annotation + weights["W_h"] @ hidden + weights["b"]
        scores[i] = weights["v"] @ np.tanh(inner) + weights.get("v_b", 0.0)
    return softmax(scores)


def read_context(
    annotations: np.ndarray, alpha: np.ndarray, location: int | None, kind: str
) -> np.ndarray:
    """z_t (D,) before the gate.

    Args:
        annotations: (L, D).
        alpha: (L,).
        location: that was drawn; `SOFT`: the soft context was; None: nothing was drawn.
        kind: "soft" or "hard".
    """
    if location is None and kind == "hard":
        location = int(np.argmax(alpha))
    if location is not None and location != SOFT:
        return annotations[location]
    context = np.zeros(annotations.shape[1])
    for weight, annotation in zip(alpha, annotations, strict=True):
        context += weight * annotation
    return context


def deep_output(
    weights: Weights, word: np.ndarray, hidden: np.ndarray, context: np.ndarray, activation: str
) -> np.ndarray:
    """Logits (V,)."""
    total = word + weights["L_h"] @ hidden + weights.get("L_h_b", 0.0)
    total = total + weights["L_z"] @ context + weights.get("L_z_b", 0.0)
    shown = np.tanh(total) if activation == "tanh" else total
    return weights["L_o"] @ shown + weights.get("L_o_b", 0.0)


def forward(
    weights: Weights,
    annotations: np.ndarray,
    words: np.ndarray,
    config: Mapping[str, Any],
    locations: Sequence[int] | None = None,
) -> dict[str, np.ndarray]:
    """The decoder under teacher forcing.

    Args:
        weights: see the module.
        annotations: (L, D).
        words: (T,) ids y_0 .. y_{T-1}.
        config: of the model.
        locations: (T,) as in `read_context`, or None.

    Returns:
        `logits` (T, V), `alpha` (T, L) and `beta` (T,), ones without a gate.
    """
    hidden, cell = first_state(weights, annotations)
    logits, alphas, betas = [], [], []
    for t, word in enumerate(weights["E"][words]):
        alpha = look(weights, annotations, hidden)
        location = None if locations is None else int(locations[t])
        context = read_context(annotations, alpha, location, config["attention"])
        beta = 1.0
        if "F" in weights:
            beta = float(sigmoid(weights["F"] @ hidden + weights["F_b"])[0])
        context = beta * context
        inputs = np.concatenate([word, context])
        hidden, cell = lstm_step(prefixed(weights, "lstm_"), inputs, hidden, cell)
        activation = config["output_activation"]
        logits.append(deep_output(weights, word, hidden, context, activation))
        alphas.append(alpha)
        betas.append(beta)
    return {"logits": np.stack(logits), "alpha": np.stack(alphas), "beta": np.array(betas)}


def log_likelihood(logits: np.ndarray, targets: np.ndarray) -> float:
    """Log p(y | a), or log p(y | s, a), of ids (T,) from logits (T, V)."""
    return sum(float(log_softmax(row)[word]) for row, word in zip(logits, targets, strict=True))


def log_prior(alpha: np.ndarray, locations: Sequence[int]) -> float:
    """Log p(s | a) of the locations (T,) that were drawn, from alpha (T, L)."""
    drawn = zip(alpha, locations, strict=True)
    return sum(float(np.log(row[int(s)])) for row, s in drawn if s != SOFT)


def unevenness(alpha: np.ndarray) -> float:
    """sum_i (1 - sum_t alpha_ti)^2."""
    total = 0.0
    for i in range(alpha.shape[1]):
        total += (1.0 - sum(row[i] for row in alpha)) ** 2
    return total


def entropy(alpha: np.ndarray) -> float:
    """sum_t H[s_t]."""
    return -float(sum(weight * np.log(weight) for row in alpha for weight in row))


def outputs_of(
    weights: Weights,
    annotations: np.ndarray,
    inputs: dict[str, np.ndarray],
    config: Mapping[str, Any],
    constants: Mapping[str, Any] | None,
    base_annotations: np.ndarray,
) -> dict[str, Any]:
    """One example's outputs, as in `predict`, from annotations (L, D)."""
    words, locations = inputs["target"], None
    if constants is not None and "sampled_locations" in constants:
        locations = constants["sampled_locations"][: len(words)]
    found = forward(weights, annotations, words, config, locations)
    height, width = config["grid"]
    outputs: dict[str, Any] = {
        "logits": found["logits"],
        "attention/alignment": found["alpha"].reshape(len(words), height, width),
    }
    if config["gate"]:
        outputs["gates"] = found["beta"]
    if locations is not None:
        base = forward(constants["weights"], base_annotations, words, config, locations)
        outputs["base"] = base
        outputs["sampled_locations"] = locations
    return outputs


def predict(
    weights: Weights,
    inputs: dict[str, np.ndarray],
    config: Mapping[str, Any],
    constants: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One example's outputs by the model's names.

    With constants, among them `sampled_locations`, what was found there with the weights as they
    are is added, for the loss: `base`.
    """
    annotations = inputs["annotations"].astype("float64")
    return outputs_of(weights, annotations, inputs, config, constants, annotations)


def example_loss(
    weights: Weights, outputs: Mapping[str, Any], targets: np.ndarray, config: Mapping[str, Any]
) -> float:
    """Cross entropy of the caption and the terms on alpha.

    That of the drawn locations is written as (r - b) (log p(s | a) - constant): its value is 0,
    and its gradient that of (r - b) log p(s | a).
    """
    maps = outputs["attention/alignment"]
    alpha = maps.reshape(len(maps), -1)
    loss = -log_likelihood(outputs["logits"], targets)
    loss += config["doubly_stochastic"] * unevenness(alpha)
    if config["attention"] == "hard":
        loss -= config["entropy_weight"] * entropy(alpha)
    if "base" in outputs:
        base, locations = outputs["base"], outputs["sampled_locations"]
        reward = log_likelihood(base["logits"], targets)
        if config["reward"] == "mean":
            reward /= len(targets)
        advantage = reward - float(outputs["baselines"])
        difference = log_prior(alpha, locations) - log_prior(base["alpha"], locations)
        loss -= config["reward_scale"] * advantage * difference
    return float(loss)
