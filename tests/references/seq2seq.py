"""Translation without attention in NumPy: Sutskever et al. 2014 (arXiv 1409.3215), Cho et al. 2014.

One sentence pair at its own length: S source words, T target words, n hidden units, m embedding
units. Weights of `sutskever` (L layers, no biases in the paper; a bias in the dict counts):

    E_src (V_src, m), E_tgt (V, m)
    enc<k>_W (4n, m or n), enc<k>_U (4n, n), enc<k>_b (4n,)     k = 0 .. L - 1, gates i, f, g, o
    dec<k>_*                                                    alike
    W_s (V, n), b_s (V,)

Weights of `cho` (arXiv 1406.1078v3, the appendix; no biases; l maxout units, rank r), V' being
spelled V_prime and the decoder's primes left out:

    E_src (V_src, m), E_tgt (V, m)
    f_W f_Wz f_Wr (n, m), f_U f_Uz f_Ur (n, n)      the encoder
    V (n, n), V_prime (n, n)                        the summary c and the first decoder state
    W Wz Wr (n, m), U Uz Ur (n, n), C Cz Cr (n, n)  the decoder
    O_h (2l, n), O_y (2l, m), O_c (2l, n), G_l (V, r), G_r (r, l)
"""

import numpy as np

from tests.references.recurrent import sigmoid
from tests.references.translation import (
    Weights,
    embed_target,
    embeddings,
    encode_with_lstms,
    lstm_layers,
    lstm_stack_step,
    lstm_weights_by_layer,
    maxout_pairs,
    sequence_loss,
)

OPTIONS = {
    "reverse_source": (True, False),
    "use_bias": (False, True),
    "label_smoothing": (0.0, 0.1),
}


def sutskever(
    weights: Weights, source: np.ndarray, target_in: np.ndarray, *, reverse_source: bool = True
) -> dict[str, np.ndarray]:
    """Stacked LSTMs, the decoder's starting where the encoder's end, layer by layer.

    Args:
        weights: see the module; they say the number of layers.
        source: (S,) ids in the sentence's own order.
        target_in: (T,) ids, the start symbol first.
        reverse_source: the encoder reads from the last word to the first.

    Returns:
        `logits` (T, V), `states` (T, n), those of the top layer, and `encoder_states` (L, 2, n),
        the hidden state and the cell of every layer after the last word read.
    """
    _, lstm_states = encode_with_lstms(
        lstm_layers(weights, "enc"), weights["E_src"][source], reverse=reverse_source
    )
    encoder_states = np.array(lstm_states)
    decoder = lstm_layers(weights, "dec")
    states = []
    for word in weights["E_tgt"][target_in]:
        state, lstm_states = lstm_stack_step(decoder, word, lstm_states)
        states.append(state)
    return {
        "logits": np.stack(states) @ weights["W_s"].T + weights.get("b_s", 0.0),
        "states": np.stack(states),
        "encoder_states": encoder_states,
    }


def cho_encoder_step(weights: Weights, word: np.ndarray, state: np.ndarray) -> np.ndarray:
    """The encoder's gated unit: the update gate weighs the OLD state, the reset comes first."""
    z = sigmoid(weights["f_Wz"] @ word + weights["f_Uz"] @ state)
    r = sigmoid(weights["f_Wr"] @ word + weights["f_Ur"] @ state)
    candidate = np.tanh(weights["f_W"] @ word + weights["f_U"] @ (r * state))
    return z * state + (1.0 - z) * candidate


def cho_decoder_step(
    weights: Weights, word: np.ndarray, state: np.ndarray, summary: np.ndarray
) -> np.ndarray:
    """The decoder's gated unit, whose reset gate comes after the matrices of state and summary."""
    z = sigmoid(weights["Wz"] @ word + weights["Uz"] @ state + weights["Cz"] @ summary)
    r = sigmoid(weights["Wr"] @ word + weights["Ur"] @ state + weights["Cr"] @ summary)
    candidate = np.tanh(weights["W"] @ word + r * (weights["U"] @ state + weights["C"] @ summary))
    return z * state + (1.0 - z) * candidate


def cho(
    weights: Weights, source: np.ndarray, target_in: np.ndarray, *, zero_start: bool = True
) -> dict[str, np.ndarray]:
    """The RNN encoder-decoder, as printed.

    Args:
        weights: see the module.
        source: (S,) ids.
        target_in: (T,) ids, the start symbol first.
        zero_start: y_0 is the zero vector instead of its row of E_tgt.

    Returns:
        `logits` (T, V), `summary` (n,), which is c, `features` (T, l) after the maxout, and
        `states` (T + 1, n), beginning with the one before the first word.
    """
    state = np.zeros(len(weights["V"]))
    for word in weights["E_src"][source]:
        state = cho_encoder_step(weights, word, state)
    summary = np.tanh(weights["V"] @ state)
    states, features = [np.tanh(weights["V_prime"] @ summary)], []
    for word in embed_target(weights["E_tgt"], target_in, zero_start=zero_start):
        states.append(cho_decoder_step(weights, word, states[-1], summary))
        pieces = weights["O_h"] @ states[-1] + weights["O_y"] @ word + weights["O_c"] @ summary
        features.append(maxout_pairs(pieces))
    return {
        "logits": np.stack(features) @ (weights["G_l"] @ weights["G_r"]).T,
        "summary": summary,
        "features": np.stack(features),
        "states": np.stack(states),
    }


def loss(result: dict[str, np.ndarray], target_out: np.ndarray) -> float:
    """Negative log-likelihood of y_1 .. y_T, (T,) ids, from what either network returned."""
    return sequence_loss(result["logits"], target_out)


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays of SutskeverTranslator by Keras path, by the names of this module."""
    weights = (
        embeddings(values)
        | lstm_weights_by_layer(values, "encoder", "enc")
        | lstm_weights_by_layer(values, "decoder", "dec")
        | {"W_s": values["softmax/kernel"].T}
    )
    return weights | ({"b_s": values["softmax/bias"]} if "softmax/bias" in values else {})


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    result = sutskever(
        weights, inputs["source"], inputs["target"], reverse_source=config["reverse_source"]
    )
    return {"logits": result["logits"]}


def example_loss(
    weights: Weights, outputs: dict[str, np.ndarray], targets: np.ndarray, config: dict
) -> float:
    """Cross entropy of one example's target ids, with smoothed labels."""
    return sequence_loss(outputs["logits"], targets, config["label_smoothing"])
