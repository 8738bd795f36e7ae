"""Global and local attention in NumPy (Luong, Pham, Manning 2015, arXiv 1508.04025).

One sentence pair at its own length: S source words, T target words, n hidden units, m embedding
units, L layers, D the half-width of a local window. Positions count from 0. Weights carry the names
of the paper's equations:

    E_src (V_src, m), E_tgt (V, m)
    enc<k>_W (4n, m or n), enc<k>_U (4n, n), enc<k>_b (4n,)     k = 0 .. L - 1, gates i, f, g, o
    dec<k>_*                  alike; dec0_W is (4n, m + n) with input feeding, [word; h~]
    W_a                       general (n, n), concat (n, 2n), concat_identity (n, n),
                              location (Lmax, n), dot: none
    v_a (n,)                  concat and concat_identity
    W_p (n, n), v_p (n,)      local_p
    W_c (n, 2n), W_s (V, n), b_s (V,)

There are no biases in the paper; those that are in the dict count, those that are not are zero.
"""

from typing import Any

import numpy as np

from tests.references.recurrent import masked_softmax, sigmoid
from tests.references.translation import (
    Weights,
    embeddings,
    encode_with_lstms,
    lstm_layers,
    lstm_stack_step,
    lstm_weights_by_layer,
    sequence_loss,
)

OPTIONS = {
    "score": ("dot", "general", "concat", "concat_identity", "location"),
    "mechanism": ("local_p", "local_m", "global"),
    "input_feeding": (True, False),
    "window": ("floor", "real"),
    "renormalise": (False, True),
    "reverse_source": (True, False),
    "use_bias": (False, True),
    "label_smoothing": (0.0, 0.1),
}
INTERACTING = (
    ("score", "mechanism", "reverse_source"),
    ("mechanism", "input_feeding", "use_bias"),
    ("mechanism", "window", "renormalise"),
    ("score", "window", "renormalise"),
    ("label_smoothing",),
)
"""Options of no common group cannot make a difference to each other: windows are those of local
attention, which does not know what fed or initialised the state that it attends with."""


def score(weights: Weights, name: str, query: np.ndarray, memory: np.ndarray) -> np.ndarray:
    """Scores every source position for one decoder state (section 3.1 and footnote 15).

    Args:
        weights: see the module.
        name: "dot", "general", "concat", "concat_identity" or "location".
        query: h_t, (n,).
        memory: (S, n).

    Returns:
        (S,); -inf at the positions that `location` has no row for.
    """
    if name == "location":
        known = (weights["W_a"] @ query)[: len(memory)]
        return np.concatenate([known, np.full(len(memory) - len(known), -np.inf)])
    if name == "dot":
        return np.array([query @ state for state in memory])
    W_a = weights["W_a"]
    if name == "general":
        return np.array([query @ W_a @ state for state in memory])
    if name == "concat":
        hidden = [np.tanh(W_a @ np.concatenate([query, state])) for state in memory]
    elif name == "concat_identity":
        hidden = [np.tanh(W_a @ query + state) for state in memory]
    else:
        raise ValueError(f"name must be a score of the paper, not {name!r}")
    return np.array([weights["v_a"] @ h for h in hidden])


def centre(weights: Weights, mechanism: str, query: np.ndarray, step: int, length: int) -> float:
    """The position p_t that a local window is laid around.

    Args:
        weights: see the module.
        mechanism: "local_m", which follows the target, or "local_p", which predicts.
        query: h_t, (n,).
        step: t, from 0.
        length: S.
    """
    if mechanism == "local_m":
        return float(min(step, length - 1))
    if mechanism == "local_p":
        return float(length * sigmoid(weights["v_p"] @ np.tanh(weights["W_p"] @ query)))
    raise ValueError(f"mechanism must be global, local_m or local_p, not {mechanism!r}")


def in_window(position: float, length: int, half_width: int, window: str) -> np.ndarray:
    """Marks the source positions in the window, bool (S,).

    Args:
        position: p_t.
        length: S.
        half_width: D.
        window: "floor", the 2D + 1 positions around floor(p_t), or "real", all within D of p_t.
    """
    middle = {"floor": np.floor(position), "real": position}[window]
    return np.abs(np.arange(length) - middle) <= half_width


def local_weights(
    scores: np.ndarray,
    position: float,
    *,
    predictive: bool,
    half_width: int = 10,
    window: str = "floor",
    renormalise: bool = False,
) -> np.ndarray:
    """Softmax within the window, under a Gaussian where the position is predicted (equation 10).

    Args:
        scores: (S,), -inf where a position may not be attended to.
        position: p_t.
        predictive: multiply with the Gaussian around p_t, whose sigma is D / 2.
        half_width: D.
        window: see `in_window`.
        renormalise: divide the product by its sum.

    Returns:
        a_t, (S,); zeros where nothing lies in the window.
    """
    length = len(scores)
    mask = in_window(position, length, half_width, window) & np.isfinite(scores)
    weights = masked_softmax(scores, mask)
    if predictive:
        sigma = half_width / 2.0
        weights = weights * np.exp(-((np.arange(length) - position) ** 2) / (2.0 * sigma**2))
        if renormalise and weights.any():
            weights = weights / weights.sum()
    return weights


def attend(
    weights: Weights,
    query: np.ndarray,
    memory: np.ndarray,
    step: int,
    *,
    score_name: str,
    mechanism: str,
    **local_options: Any,
) -> dict[str, np.ndarray | float]:
    """The attention of one decoder step.

    Args:
        weights: see the module.
        query: h_t, (n,).
        memory: (S, n).
        step: t, from 0.
        score_name: see `score`.
        mechanism: "global", "local_m" or "local_p".
        local_options: of `local_weights`.

    Returns:
        `alignment` (S,), `context` (n,), and `positions`, which is p_t, of a local mechanism.
    """
    scores = score(weights, score_name, query, memory)
    if mechanism == "global":
        alignment = masked_softmax(scores, np.isfinite(scores))
        return {"alignment": alignment, "context": alignment @ memory}
    position = centre(weights, mechanism, query, step, len(memory))
    predictive = mechanism == "local_p"
    alignment = local_weights(scores, position, predictive=predictive, **local_options)
    return {"alignment": alignment, "context": alignment @ memory, "positions": position}


def forward(
    weights: Weights,
    source: np.ndarray,
    target_in: np.ndarray,
    *,
    score_name: str = "general",
    mechanism: str = "global",
    input_feeding: bool = True,
    reverse_source: bool = True,
    **local_options: Any,
) -> dict[str, np.ndarray]:
    """The whole network on one sentence pair, dropout off.

    Args:
        weights: see the module; they say the number of layers.
        source: (S,) ids in the sentence's own order.
        target_in: (T,) ids, the start symbol first.
        score_name: see `score`.
        mechanism: "global", "local_m" or "local_p".
        input_feeding: the lowest layer also reads the last h~.
        reverse_source: the encoder reads from the last word to the first. Memory and positions
            are in the sentence's own order all the same.
        local_options: `half_width`, `window` and `renormalise`, see `local_weights`.

    Returns:
        `logits` (T, V), `alignment` (T, S), `context` (T, n), `attentional` (T, n), which is h~,
        `states` (T, n), the top layer's h_t, `memory` (S, n), and `positions` (T,) of the local
        mechanisms.
    """
    memory, lstm_states = encode_with_lstms(
        lstm_layers(weights, "enc"), weights["E_src"][source], reverse=reverse_source
    )
    decoder = lstm_layers(weights, "dec")
    attentional = np.zeros(len(weights["W_c"]))
    steps = []
    for t, word in enumerate(weights["E_tgt"][target_in]):
        inputs = np.concatenate([word, attentional]) if input_feeding else word
        state, lstm_states = lstm_stack_step(decoder, inputs, lstm_states)
        step = attend(
            weights, state, memory, t, score_name=score_name, mechanism=mechanism, **local_options
        )
        attentional = np.tanh(weights["W_c"] @ np.concatenate([step["context"], state]))
        steps.append(step | {"states": state, "attentional": attentional})
    result = {name: np.stack([step[name] for step in steps]) for name in steps[0]}
    result["logits"] = result["attentional"] @ weights["W_s"].T + weights.get("b_s", 0.0)
    return result | {"memory": memory}


def loss(result: dict[str, np.ndarray], target_out: np.ndarray) -> float:
    """Negative log-likelihood of y_1 .. y_T, (T,) ids, from what `forward` returned."""
    return sequence_loss(result["logits"], target_out)


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path below the model, by the names of this module."""
    weights = (
        embeddings(values)
        | lstm_weights_by_layer(values, "encoder", "enc")
        | lstm_weights_by_layer(values, "decoder", "dec")
        | {"W_c": values["combine/kernel"].T, "W_s": values["softmax/kernel"].T}
    )
    for path, value in values.items():
        name = path.split("/")[-1]
        if name == "position_kernel":
            weights["W_p"] = value.T
        elif name == "position_scale":
            weights["v_p"] = value
        elif path == "softmax/bias":
            weights["b_s"] = value
        elif "score/" in path and name == "scale":
            weights["v_a"] = value
        elif "score/" in path:
            weights["W_a"] = value.T
    return weights


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    names = ("mechanism", "input_feeding", "reverse_source", "half_width", "window", "renormalise")
    options = {name: config[name] for name in names}
    if config["mechanism"] == "global":
        options = {name: options[name] for name in names[:3]}
    result = forward(
        weights, inputs["source"], inputs["target"], score_name=config["score"], **options
    )
    outputs = {"logits": result["logits"], "attention/alignment": result["alignment"]}
    return outputs | {name: result[name] for name in ("positions",) if name in result}


def example_loss(
    weights: Weights, outputs: dict[str, np.ndarray], targets: np.ndarray, config: dict
) -> float:
    """Cross entropy of one example's target ids, with smoothed labels."""
    return sequence_loss(outputs["logits"], targets, config["label_smoothing"])
