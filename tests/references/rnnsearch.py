"""RNNsearch in NumPy (Bahdanau, Cho, Bengio 2014, arXiv 1409.0473, appendix A.2).

One sentence pair at its own length: S source words, T target words, n hidden units, m embedding
units, a alignment units (the paper's n'), l maxout units. Weights carry the names of the paper's
equations; f and g stand for the encoder's forward and backward direction:

    E_src (V_src, m), E_tgt (V, m)
    f_W f_Wz f_Wr (n, m), f_U f_Uz f_Ur (n, n), f_b f_bz f_br (n,);  g_* alike
    W_s (n, n), b_s (n,)                            the first decoder state
    W_a (a, n), U_a (a, 2n), v_a (a,)               the alignment
    W Wz Wr (n, m), U Uz Ur (n, n), C Cz Cr (n, 2n), b bz br (n,)     the decoder's gated unit
    U_o (2l, n), V_o (2l, m), C_o (2l, 2n), b_o (2l,), W_o (V, l), b_y (V,)     the readout

Without biases the keys that begin with b, after f_ or g_ too, are absent.

Three readouts:

*   `appendix`, as printed there: the word y_i is read out of s_{i-1}, y_{i-1} and c_i.
*   `eq4`, after section 3.1: it is read out of s_i, y_{i-1} and c_i.
*   `groundhog`, the released code: as in the appendix, but the word just produced enters the
    state, s_i = f(s_{i-1}, y_i, c_i). So s_i is known when y_i is, at the next step.
"""

import numpy as np

from tests.references.recurrent import softmax
from tests.references.translation import (
    Weights,
    embed_target,
    embeddings,
    gated_unit_step,
    gated_weights,
    maxout_pairs,
    prefixed,
    readout_weights,
    sequence_loss,
)

OPTIONS = {
    "readout": ("appendix", "eq4", "groundhog"),
    "use_bias": (True, False),
    "label_smoothing": (0.0, 0.1),
}


def encode(weights: Weights, source: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bidirectional encoder.

    Args:
        weights: see the module.
        source: (S,) ids.

    Returns:
        The annotations h_j = [forward; backward], (S, 2n), and s_0 (n,).
    """
    embedded = weights["E_src"][source]
    forward, backward = prefixed(weights, "f_"), prefixed(weights, "g_")
    hidden_dim = len(weights["W_s"])
    annotations = np.zeros((len(source), 2 * hidden_dim))
    state = np.zeros(hidden_dim)
    for j in range(len(source)):
        state = gated_unit_step(forward, embedded[j], state)
        annotations[j, :hidden_dim] = state
    state = np.zeros(hidden_dim)
    for j in reversed(range(len(source))):
        state = gated_unit_step(backward, embedded[j], state)
        annotations[j, hidden_dim:] = state
    # The state is now the backward one at the first word.
    return annotations, np.tanh(weights["W_s"] @ state + weights.get("b_s", 0.0))


def attend(
    weights: Weights, state: np.ndarray, annotations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The alignment model.

    Args:
        weights: see the module.
        state: s_{i-1}, (n,).
        annotations: (S, 2n).

    Returns:
        alpha_i (S,) and c_i (2n,).
    """
    scores = np.array(
        [
            weights["v_a"] @ np.tanh(weights["W_a"] @ state + weights["U_a"] @ annotation)
            for annotation in annotations
        ]
    )
    alignment = softmax(scores)
    return alignment, alignment @ annotations


def read_out(
    weights: Weights, state: np.ndarray, word: np.ndarray, context: np.ndarray
) -> np.ndarray:
    """The maxout features t_i, (l,), of a state (n,), the last word (m,) and the context (2n,)."""
    pieces = weights["U_o"] @ state + weights["V_o"] @ word + weights["C_o"] @ context
    return maxout_pairs(pieces + weights.get("b_o", 0.0))


def decode(
    weights: Weights,
    annotations: np.ndarray,
    initial_state: np.ndarray,
    target_in: np.ndarray,
    *,
    readout: str = "appendix",
    zero_start: bool = True,
) -> dict[str, np.ndarray]:
    """The decoder under teacher forcing.

    With a single annotation the context is that annotation at every step, and this is RNNencdec.

    Args:
        weights: see the module.
        annotations: (S, k); k = 2n but where the weights that read the context say otherwise.
        initial_state: s_0, (n,).
        target_in: (T,) ids y_0 .. y_{T-1}.
        readout: "appendix", "eq4" or "groundhog".
        zero_start: y_0 is the zero vector instead of its row of E_tgt.

    Returns:
        `logits` (T, V), `alignment` (T, S), `context` (T, k), `features` (T, l) and `states`,
        which begin with s_0: (T + 1, n), and (T, n) for `groundhog`, whose s_T waits for y_T.
    """
    words = embed_target(weights["E_tgt"], target_in, zero_start=zero_start)
    states, alignments, contexts, features = [initial_state], [], [], []
    for i, word in enumerate(words):
        if readout == "groundhog" and i > 0:
            states.append(gated_unit_step(weights, word, states[-1], contexts[-1]))
        alignment, context = attend(weights, states[-1], annotations)
        if readout != "groundhog":
            states.append(gated_unit_step(weights, word, states[-1], context))
        shown = {"appendix": i, "eq4": i + 1, "groundhog": i}[readout]
        features.append(read_out(weights, states[shown], word, context))
        alignments.append(alignment)
        contexts.append(context)
    return {
        "logits": np.stack(features) @ weights["W_o"].T + weights.get("b_y", 0.0),
        "alignment": np.stack(alignments),
        "context": np.stack(contexts),
        "features": np.stack(features),
        "states": np.stack(states),
    }


def forward(
    weights: Weights,
    source: np.ndarray,
    target_in: np.ndarray,
    *,
    readout: str = "appendix",
    zero_start: bool = True,
) -> dict[str, np.ndarray]:
    """The whole network on one sentence pair.

    Args:
        weights: see the module.
        source: (S,) ids.
        target_in: (T,) ids, the start symbol first.
        readout: see the module.
        zero_start: as in `decode`.

    Returns:
        What `decode` returns, and `annotations` (S, 2n).
    """
    annotations, initial_state = encode(weights, source)
    decoded = decode(
        weights, annotations, initial_state, target_in, readout=readout, zero_start=zero_start
    )
    return decoded | {"annotations": annotations}


def loss(result: dict[str, np.ndarray], target_out: np.ndarray) -> float:
    """Negative log-likelihood of y_1 .. y_T, (T,) ids, from what `forward` returned."""
    return sequence_loss(result["logits"], target_out)


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path below the model, by the names of this module."""
    return weights_before_readout(values) | readout_weights(values)


def weights_before_readout(values: Weights) -> dict[str, np.ndarray]:
    """The same, without those of the readout."""
    biases = {"b_s": values["first_state/bias"]} if "first_state/bias" in values else {}
    return (
        embeddings(values)
        | gated_weights(values, "encoder/forward_", "f_")
        | gated_weights(values, "encoder/backward_", "g_")
        | gated_weights(values, "decoder/")
        | biases
        | {
            "W_s": values["first_state/kernel"].T,
            "W_a": values["alignment/query_kernel"].T,
            "U_a": values["alignment/key_kernel"].T,
            "v_a": values["alignment/scale"],
        }
    )


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    result = forward(weights, inputs["source"], inputs["target"], readout=config["readout"])
    return {"logits": result["logits"], "attention/alignment": result["alignment"]}


def example_loss(
    weights: Weights, outputs: dict[str, np.ndarray], targets: np.ndarray, config: dict
) -> float:
    """Cross entropy of one example's target ids, with smoothed labels."""
    return sequence_loss(outputs["logits"], targets, config["label_smoothing"])
