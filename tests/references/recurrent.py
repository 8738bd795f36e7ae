"""Masked softmax and LSTM in NumPy, batch first, with every masking rule spelled out.

The step functions take any leading axes. The masked variants are for tests of layers that receive
padding; the references of whole models run on examples without padding.
"""

from collections.abc import Mapping

import numpy as np


def lstm_weights(values: Mapping[str, np.ndarray], path: str) -> dict[str, np.ndarray]:
    """`W`, `U`, `b` of the LSTM whose Keras weights have paths that begin with `path`."""
    return {
        "W": values[f"{path}kernel"].T,
        "U": values[f"{path}recurrent_kernel"].T,
        "b": values[f"{path}bias"],
    }


def sigmoid(values: np.ndarray) -> np.ndarray:
    """Logistic function that never overflows."""
    return 0.5 * (1.0 + np.tanh(0.5 * values))


def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """Softmax along `axis`; an axis of length 0 gives an empty array and not an error."""
    if scores.shape[axis] == 0:
        return scores.copy()
    exponentials = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """Logarithm of the softmax along the last axis, without forming the softmax."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def masked_softmax(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Softmax along the last axis over the positions where `mask` is True.

    Masked positions get exactly 0; a row without a real position is all zeros. Each row is
    computed from its real entries alone, so what stands at the masked ones cannot matter.
    """
    mask = np.broadcast_to(mask, scores.shape)
    weights = np.zeros(scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        kept = mask[row]
        if kept.any():
            weights[row][kept] = softmax(scores[row][kept])
    return weights


def lstm_step(
    weights: dict[str, np.ndarray], inputs: np.ndarray, hidden: np.ndarray, cell: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One LSTM step, blocks in the order input gate, forget gate, candidate, output gate.

    Args:
        weights: `W` (4h, d), `U` (4h, h), `b` (4h).
        inputs: (..., d).
        hidden: (..., h).
        cell: (..., h).

    Returns:
        The new hidden state and the new cell, (..., h) each.
    """
    total = inputs @ weights["W"].T + hidden @ weights["U"].T + weights["b"]
    gate_in, gate_forget, candidate, gate_out = np.split(total, 4, axis=-1)
    cell = sigmoid(gate_forget) * cell + sigmoid(gate_in) * np.tanh(candidate)
    return sigmoid(gate_out) * np.tanh(cell), cell


def lstm(weights: dict[str, np.ndarray], inputs: np.ndarray) -> np.ndarray:
    """Runs an LSTM from the zero state over (..., time, d); returns (..., time, h)."""
    hidden_dim = weights["U"].shape[1]
    hidden = np.zeros((*inputs.shape[:-2], hidden_dim))
    cell = hidden
    outputs = np.zeros((*inputs.shape[:-1], hidden_dim))
    for t in range(inputs.shape[-2]):
        hidden, cell = lstm_step(weights, inputs[..., t, :], hidden, cell)
        outputs[..., t, :] = hidden
    return outputs


def bidirectional_lstm(
    forward: dict[str, np.ndarray], backward: dict[str, np.ndarray], inputs: np.ndarray
) -> np.ndarray:
    """Concatenates a forward and a backward LSTM over (..., time, d); returns (..., time, 2h)."""
    reverse = lstm(backward, inputs[..., ::-1, :])[..., ::-1, :]
    return np.concatenate([lstm(forward, inputs), reverse], axis=-1)


def masked_lstm(
    weights: dict[str, np.ndarray],
    inputs: np.ndarray,
    mask: np.ndarray,
    *,
    backward: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An LSTM that carries its state through masked steps.

    Args:
        weights: `W` (4h, d), `U` (4h, h), `b` (4h).
        inputs: (batch, time, d).
        mask: (batch, time), True = real.
        backward: run from the last step to the first: with right padding the state is still
            zero when the last real step is reached.

    Returns:
        Outputs (batch, time, h), zero at masked steps; the last hidden state and the last cell,
        (batch, h) each.
    """
    batch, time, _ = inputs.shape
    hidden = np.zeros((batch, weights["U"].shape[1]))
    cell = hidden
    outputs = np.zeros((batch, time, hidden.shape[1]))
    for t in reversed(range(time)) if backward else range(time):
        real = mask[:, t, None]
        new_hidden, new_cell = lstm_step(weights, inputs[:, t], hidden, cell)
        hidden, cell = np.where(real, new_hidden, hidden), np.where(real, new_cell, cell)
        outputs[:, t] = np.where(real, new_hidden, 0.0)
    return outputs, hidden, cell


def masked_bidirectional_lstm(
    forward: dict[str, np.ndarray],
    backward: dict[str, np.ndarray],
    inputs: np.ndarray,
    mask: np.ndarray,
) -> np.ndarray:
    """Both directions of `masked_lstm`, concatenated: (batch, time, 2h), zero at masked steps."""
    return np.concatenate(
        [
            masked_lstm(forward, inputs, mask)[0],
            masked_lstm(backward, inputs, mask, backward=True)[0],
        ],
        axis=-1,
    )
