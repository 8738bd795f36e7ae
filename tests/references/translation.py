"""Shared parts of the translation references: recurrent steps, readouts, the loss.

Weights are flat dicts, stored (output, input). A bias that is not in the dict is zero: that is how
models without biases are written down.
"""

from collections.abc import Mapping

import numpy as np

from tests.references.recurrent import log_softmax, lstm_step, sigmoid

Weights = Mapping[str, np.ndarray]
LstmState = tuple[np.ndarray, np.ndarray]


def prefixed(weights: Weights, prefix: str) -> dict[str, np.ndarray]:
    """The weights whose name starts with `prefix`, without that prefix."""
    return {k.removeprefix(prefix): v for k, v in weights.items() if k.startswith(prefix)}


def gated_unit_step(
    weights: Weights, inputs: np.ndarray, state: np.ndarray, context: np.ndarray | None = None
) -> np.ndarray:
    """One gated unit after Bahdanau: the update gate weighs the NEW state, the reset comes first.

    Args:
        weights: `W`, `Wz`, `Wr` (n, d) and `U`, `Uz`, `Ur` (n, n); `C`, `Cz`, `Cr` (n, k) where
            there is a context; `b`, `bz`, `br` (n,) or none.
        inputs: (d,).
        state: (n,).
        context: (k,), what else the gates and the candidate read.

    Returns:
        The new state, (n,).
    """

    def total(gate: str, recurrent: np.ndarray) -> np.ndarray:
        result = weights[f"W{gate}"] @ inputs + weights[f"U{gate}"] @ recurrent
        if context is not None:
            result = result + weights[f"C{gate}"] @ context
        return result + weights.get(f"b{gate}", 0.0)

    update, reset = sigmoid(total("z", state)), sigmoid(total("r", state))
    candidate = np.tanh(total("", reset * state))
    return (1.0 - update) * state + update * candidate


def lstm_layers(weights: Weights, name: str) -> list[dict[str, np.ndarray]]:
    """`W`, `U`, `b` of the layers `<name>0_*`, `<name>1_*` ..., the lowest first."""
    layers = []
    while layer := prefixed(weights, f"{name}{len(layers)}_"):
        layers.append({"b": np.zeros(len(layer["W"])), **layer})
    return layers


def lstm_stack_step(
    layers: list[dict[str, np.ndarray]], inputs: np.ndarray, states: list[LstmState]
) -> tuple[np.ndarray, list[LstmState]]:
    """One step of stacked LSTMs: the top layer's output (n,) and every layer's (hidden, cell)."""
    new_states = []
    for layer, (hidden, cell) in zip(layers, states, strict=True):
        inputs, cell = lstm_step(layer, inputs, hidden, cell)
        new_states.append((inputs, cell))
    return inputs, new_states


def encode_with_lstms(
    layers: list[dict[str, np.ndarray]], inputs: np.ndarray, *, reverse: bool
) -> tuple[np.ndarray, list[LstmState]]:
    """Reads a sentence with stacked LSTMs that start from zero.

    Args:
        layers: see `lstm_layers`.
        inputs: (S, d), in the sentence's own order.
        reverse: read from the last word to the first.

    Returns:
        The top layer's states (S, n), in the sentence's own order whichever way it was read, and
        every layer's (hidden, cell) after the last word READ.
    """
    states = [(np.zeros(layer["U"].shape[1]),) * 2 for layer in layers]
    outputs = np.zeros((len(inputs), layers[-1]["U"].shape[1]))
    positions = range(len(inputs))
    for s in reversed(positions) if reverse else positions:
        outputs[s], states = lstm_stack_step(layers, inputs[s], states)
    return outputs, states


def embed_target(table: np.ndarray, target_in: np.ndarray, *, zero_start: bool) -> np.ndarray:
    """Embeds y_0 .. y_{T-1}, (T, m).

    Args:
        table: (V, m).
        target_in: (T,) ids, the start symbol first.
        zero_start: y_0 is the zero vector, whatever stands in its row of the table.
    """
    embedded = table[target_in].copy()
    if zero_start:
        embedded[:1] = 0.0
    return embedded


def maxout_pairs(values: np.ndarray) -> np.ndarray:
    """The larger of each two neighbours: (2l,) -> (l,)."""
    return values.reshape(-1, 2).max(axis=1)


def sequence_loss(logits: np.ndarray, target_out: np.ndarray, smoothing: float = 0.0) -> float:
    """Cross entropy of one sentence, summed over its words: (T, V), (T,) ids.

    The right word has the probability 1 - smoothing, each of the others smoothing / (V - 1).
    """
    words, size = logits.shape
    wanted = np.full((words, size), smoothing / (size - 1))
    wanted[np.arange(words), target_out] = 1.0 - smoothing
    return float(-(wanted * log_softmax(logits)).sum())


def lstm_weights_by_layer(values: Weights, path: str, name: str) -> dict[str, np.ndarray]:
    """`<name><k>_W`, `_U` and `_b` of the stacked LSTM whose Keras paths begin with `path`."""
    weights: dict[str, np.ndarray] = {}
    while f"{path}/layer_{(k := len(weights_of(weights, name)))}_kernel" in values:
        kernel = values[f"{path}/layer_{k}_kernel"]
        if k == 0 and f"{path}/feed_kernel" in values:
            kernel = np.concatenate([kernel, values[f"{path}/feed_kernel"]])
        weights[f"{name}{k}_W"] = kernel.T
        weights[f"{name}{k}_U"] = values[f"{path}/layer_{k}_recurrent_kernel"].T
        if f"{path}/layer_{k}_bias" in values:
            weights[f"{name}{k}_b"] = values[f"{path}/layer_{k}_bias"]
    return weights


def weights_of(weights: Weights, name: str) -> list[str]:
    """The keys of the input matrices of the layers of `name`."""
    return [key for key in weights if key.startswith(name) and key.endswith("_W")]


def gated_weights(
    values: Weights, path: str, prefix: str = "", sign: float = 1.0
) -> dict[str, np.ndarray]:
    """`W`, `Wz`, `Wr`, `U` ... of the gated unit whose Keras paths begin with `path`.

    Args:
        values: arrays by Keras path.
        path: of the unit, and of its direction.
        prefix: put before every name.
        sign: -1 gives the update gate of Cho et al., which weighs the old state.
    """
    recurrent = [values[f"{path}recurrent_kernel_gates"], values[f"{path}recurrent_kernel"]]
    blocks = {"W": values[f"{path}kernel"], "U": np.concatenate(recurrent, axis=-1)}
    if f"{path}context_kernel" in values:
        blocks["C"] = values[f"{path}context_kernel"]
    if f"{path}bias" in values:
        blocks["b"] = values[f"{path}bias"]
    weights = {}
    for letter, block in blocks.items():
        z, r, candidate = np.split(block, 3, axis=-1)
        weights |= {f"{letter}z": sign * z.T, f"{letter}r": r.T, letter: candidate.T}
    return {prefix + name: weight for name, weight in weights.items()}


def readout_weights(values: Weights) -> dict[str, np.ndarray]:
    """The maxout readout's weights by the names of RNNsearch's appendix."""
    weights = {
        "U_o": values["readout/hidden_kernel"].T,
        "V_o": values["readout/word_kernel"].T,
        "C_o": values["readout/context_kernel"].T,
    }
    if "readout/inner_kernel" not in values:
        weights["W_o"] = values["readout/kernel"].T
    if "readout/bias" in values:
        weights |= {"b_o": values["readout/pieces_bias"], "b_y": values["readout/bias"]}
    return weights


def embeddings(values: Weights) -> dict[str, np.ndarray]:
    """`E_src` and `E_tgt`."""
    return {
        "E_src": values["source_embedding/table"],
        "E_tgt": values["target_embedding/table"],
    }
