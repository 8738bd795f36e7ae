"""What the references of the translation models share: recurrent steps, readouts, the loss.

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


def sequence_loss(logits: np.ndarray, target_out: np.ndarray) -> float:
    """Negative log-likelihood of one sentence, summed over its words: (T, V), (T,) ids."""
    return float(-log_softmax(logits)[np.arange(len(target_out)), target_out].sum())
