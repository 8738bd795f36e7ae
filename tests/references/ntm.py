"""The Neural Turing Machine in NumPy, one sequence at a time, head by head and slot by slot.

Written from section 3 of Graves, Wayne, Danihelka 2014. Names of the weights: `Wx`, `Wr`, `Wh` and
`b` of the controller (`h0` and `c0`, its first state), `V` and `v` of the heads, `O` and `o` of the
answer, `r0`, `w0` and `M0` of the first reads, weightings and memory.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.references.recurrent import lstm_step, sigmoid, softmax

OPTIONS = {
    "controller": ("lstm", "feed_forward"),
    "first_memory": ("constant", "learnt", "random"),
    "read_heads": (2, 1),
    "write_heads": (1, 2),
    "shift_range": (1, 2),
    "key_activation": ("tanh", "linear"),
    "add_activation": ("tanh", "linear"),
    "limit": (20.0, 0.5, None),
}
INTERACTING = (
    ("controller", "first_memory"),
    ("read_heads", "write_heads", "shift_range"),
    ("key_activation", "add_activation", "limit"),
)

Weights = dict[str, np.ndarray]


def named_weights(values: Mapping[str, np.ndarray]) -> Weights:
    """Weights by the names above, matrices as (out, in)."""
    names = {
        "Wx": "network/kernel",
        "b": "network/bias",
        "V": "heads/kernel",
        "v": "heads/bias",
        "O": "answer/kernel",
        "o": "answer/bias",
        "r0": "first_reads",
        "w0": "first_weightings",
        "U": "network/recurrent_kernel",
        "h0": "network/first_hidden",
        "c0": "network/first_cell",
        "M0": "memory",
    }
    transposed = {"Wx", "V", "O", "U"}
    return {
        name: values[path].T if name in transposed else values[path]
        for name, path in names.items()
        if path in values
    }


def softplus(x: float) -> float:
    """log(1 + e^x)."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def cosine(k: np.ndarray, row: np.ndarray) -> float:
    """Equation 6."""
    return float(k @ row / (np.linalg.norm(k) * np.linalg.norm(row) + 1e-8))


def content(k: np.ndarray, beta: float, memory: np.ndarray) -> np.ndarray:
    """Equation 5: wc."""
    return softmax(np.array([beta * cosine(k, row) for row in memory]))


def shifted(wg: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Equation 8; the first of s is that of the largest shift down."""
    size, reach = len(wg), len(s) // 2
    ws = np.zeros(size)
    for i in range(size):
        for r in range(-reach, reach + 1):
            ws[i] += wg[(i - r) % size] * s[r + reach]
    return ws


def sharpened(ws: np.ndarray, gamma: float) -> np.ndarray:
    """Equation 9."""
    powers = ws**gamma
    return powers / powers.sum()


def weighting(
    k: np.ndarray,
    beta: float,
    g: float,
    s: np.ndarray,
    gamma: float,
    memory: np.ndarray,
    before: np.ndarray,
) -> np.ndarray:
    """All of section 3.3."""
    wg = g * content(k, beta, memory) + (1.0 - g) * before
    return sharpened(shifted(wg, s), gamma)


def written(
    memory: np.ndarray, weights: list[np.ndarray], erases: np.ndarray, adds: np.ndarray
) -> np.ndarray:
    """Equations 3 and 4: all erase, then all add."""
    memory = memory.copy()
    for w, e in zip(weights, erases, strict=True):
        for i in range(len(memory)):
            memory[i] = memory[i] * (1.0 - w[i] * e)
    for w, a in zip(weights, adds, strict=True):
        for i in range(len(memory)):
            memory[i] = memory[i] + w[i] * a
    return memory


def activated(name: str, x: np.ndarray) -> np.ndarray:
    """A key, or a vector to add."""
    return np.tanh(x) if name == "tanh" else x


def emitted(weights: Weights, h: np.ndarray, config: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Parameters of all heads, read heads first; only write heads erase and add.

    The rows of V are those of all keys, then of all beta, g, s, gamma, e and a.
    """
    z = weights["V"] @ h + weights["v"]
    if config["limit"] is not None:
        z = np.minimum(np.maximum(z, -config["limit"]), config["limit"])
    writers = config["write_heads"]
    heads, size = config["read_heads"] + writers, config["slot_dim"]
    shifts = 2 * config["shift_range"] + 1
    rows = iter(z)

    def take(count: int) -> np.ndarray:
        return np.array([next(rows) for _ in range(count)])

    found = {
        "k": [activated(config["key_activation"], take(size)) for _ in range(heads)],
        "beta": [softplus(x) for x in take(heads)],
        "g": [float(sigmoid(x)) for x in take(heads)],
        "s": [softmax(take(shifts)) for _ in range(heads)],
        "gamma": [1.0 + softplus(x) for x in take(heads)],
        "e": [sigmoid(take(size)) for _ in range(writers)],
        "a": [activated(config["add_activation"], take(size)) for _ in range(writers)],
    }
    assert not list(rows)
    return found


def first_memory(weights: Weights, config: Mapping[str, Any]) -> np.ndarray:
    """M before the first step, (N, m)."""
    shape = (config["slots"], config["slot_dim"])
    if config["first_memory"] == "constant":
        return np.full(shape, 1e-6)
    if config["first_memory"] == "random":
        return np.tanh(0.5 * np.random.default_rng(0).standard_normal(shape))
    return np.tanh(weights["M0"])


def advance(
    weights: Weights, x: np.ndarray, state: dict[str, Any], config: Mapping[str, Any]
) -> dict[str, Any]:
    """One step: outputs by name. The state (`M`, `w`, `r`, `h`, `c`) becomes that after it."""
    readers = config["read_heads"]
    r = state["r"].reshape(-1)
    if config["controller"] == "lstm":
        lstm = {"W": weights["Wx"], "U": weights["U"], "b": weights["b"]}
        recurrent = np.concatenate([r, state["h"]])
        h, state["c"] = lstm_step(lstm, x, recurrent, state["c"])
    else:
        h = np.tanh(weights["Wx"] @ x + weights["U"] @ r + weights["b"])
    state["h"] = h
    of = emitted(weights, h, config)
    names, memory = ("k", "beta", "g", "s", "gamma"), state["M"]
    w = [
        weighting(*(of[name][n] for name in names), memory, before)
        for n, before in enumerate(state["w"])
    ]
    reads = [sum(w[n][i] * row for i, row in enumerate(memory)) for n in range(readers)]
    state["M"] = written(memory, w[readers:], of["e"], of["a"])
    state["w"], state["r"] = w, np.array(reads)
    seen = np.concatenate([h, state["r"].reshape(-1)])
    return {
        "logits": weights["O"] @ seen + weights["o"],
        "reads": state["r"],
        "adds": np.array(of["a"]),
        "erases": np.array(of["e"]),
        "attention/read": np.array(w[:readers]),
        "attention/write": np.array(w[readers:]),
    }


def predict(
    weights: Weights,
    inputs: dict[str, np.ndarray],
    config: Mapping[str, Any],
    constants: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One sequence's outputs by the model's names."""
    state: dict[str, Any] = {
        "M": first_memory(weights, config),
        "w": [softmax(row) for row in weights["w0"]],
        "r": np.tanh(weights["r0"]),
        "h": weights.get("h0"),
        "c": weights.get("c0"),
    }
    vectors = inputs["vectors"][: int(inputs["length"])].astype("float64")
    steps = [advance(weights, x, state, config) for x in vectors]
    outputs = {name: np.array([one[name] for one in steps]) for name in steps[0]}
    for name in ("attention/read", "attention/write"):
        outputs[name] = np.moveaxis(outputs[name], 1, 0)
    return outputs | {"first_memory": first_memory(weights, config)}


def example_loss(
    weights: Weights, outputs: Mapping[str, Any], targets: np.ndarray, config: Mapping[str, Any]
) -> float:
    """Cross entropy of all bits that are asked for, in bits."""
    loss = 0.0
    for logits, bits in zip(outputs["logits"], targets, strict=True):
        for z, bit in zip(logits, bits, strict=True):
            if bit >= 0:
                loss += softplus(-z if bit else z) / math.log(2.0)
    return loss
