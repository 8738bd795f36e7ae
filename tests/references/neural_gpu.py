"""The Neural GPU in NumPy, one row of symbols at a time.

Written from sections 2 of Kaiser and Sutskever 2015 and of Kaiser and Bengio 2016. A memory s is (N
places, W rows, m maps). Names of the weights: `E` and `O`, `o` of words and answers; of unit l of
the stack `s`, `s<l>_U` with `s<l>_B` (candidate), `_Uu` with `_Bu` (update), `_Ur` with `_Br`
(reset), and where it reads a tape `_W`, `_Wu`, `_Wr`; kernels are (k places, k rows, in, out).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.references.recurrent import sigmoid
from tests.references.translation import prefixed, sequence_loss

OPTIONS = {"depth": (1, 2), "kernel_size": (3, 5), "rows": (3, 2), "cutoff": (1.2, 1.0, 3.0)}
INTERACTING = (("depth", "rows"), ("kernel_size", "rows"), ("cutoff",))

Weights = Mapping[str, np.ndarray]


def unit_weights(values: Weights, path: str, name: str) -> dict[str, np.ndarray]:
    """`<name><l>_U` ... of the stack of units whose Keras paths begin with `path`."""
    weights: dict[str, np.ndarray] = {}
    number = 0
    while f"{path}/unit_{number}/kernel" in values:
        own = prefixed(values, f"{path}/unit_{number}/")
        found = {"U": own["kernel"], "B": own["bias"]}
        found["Uu"], found["Ur"] = np.split(own["gate_kernel"], 2, axis=-1)
        found["Bu"], found["Br"] = np.split(own["gate_bias"], 2)
        if "tape_kernel" in own:
            found["Wu"], found["Wr"], found["W"] = np.split(own["tape_kernel"], 3, axis=-1)
        weights |= {f"{name}{number}_{key}": value for key, value in found.items()}
        number += 1
    return weights


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path below the model, by the names above."""
    return {
        "E": values["embedding/table"],
        "O": values["answer/kernel"].T,
        "o": values["answer/bias"],
    } | unit_weights(values, "memory", "s")


def convolved(kernel: np.ndarray, s: np.ndarray) -> np.ndarray:
    """(*): each place and row reads a window around it, zeros beyond the memory."""
    places, rows, maps = s.shape
    size, reach = len(kernel), len(kernel) // 2
    around = np.zeros((places + 2 * reach, rows + 2 * reach, maps))
    around[reach : reach + places, reach : reach + rows] = s
    found = np.zeros((places, rows, kernel.shape[-1]))
    for a in range(size):
        for b in range(size):
            found += around[a : a + places, b : b + rows] @ kernel[a, b]
    return found


def gate(x: np.ndarray, cutoff: float) -> np.ndarray:
    """A sigmoid that reaches 0 and 1."""
    return np.minimum(np.maximum(cutoff * sigmoid(x) - (cutoff - 1.0) / 2.0, 0.0), 1.0)


def cgru(unit: Weights, s: np.ndarray, cutoff: float, q: np.ndarray | None = None) -> np.ndarray:
    """CGRU(s), or CGRU^d(s, q)."""

    def term(letter: str, values: np.ndarray) -> np.ndarray:
        total = convolved(unit[f"U{letter}"], values) + unit[f"B{letter}"]
        return total if q is None else total + convolved(unit[f"W{letter}"], q)

    u, r = gate(term("u", s), cutoff), gate(term("r", s), cutoff)
    return u * s + (1.0 - u) * np.tanh(term("", r * s))


def stack(
    weights: Weights, name: str, s: np.ndarray, cutoff: float, q: np.ndarray | None = None
) -> np.ndarray:
    """One step of all units."""
    number = 0
    while unit := prefixed(weights, f"{name}{number}_"):
        s = cgru(unit, s, cutoff, q)
        number += 1
    assert number > 0
    return s


def shares(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """How much of a change is in each place, (N,)."""
    norms = np.array([np.linalg.norm(new - old) for new, old in zip(after, before, strict=True)])
    return norms / norms.sum()


def encoded(
    weights: Weights, name: str, words: np.ndarray, places: int, config: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """s_n of words (S, m), and the shares of each step's change (n, n)."""
    s = np.zeros((places, config["rows"], config["maps"]))
    for k, word in enumerate(words):
        s[k, 0] = word
    changes = np.zeros((places, places))
    for t in range(places):
        new = stack(weights, name, s, config["cutoff"])
        changes[t] = shares(s, new)
        s = new
    return s, changes


def predict(
    weights: Weights, inputs: Mapping[str, np.ndarray], config: Mapping[str, Any], _: Any = None
) -> dict[str, np.ndarray]:
    """One row's outputs by the model's names."""
    words = weights["E"][inputs["symbols"]]
    s, changes = encoded(weights, "s", words, len(words), config)
    logits = np.array([weights["O"] @ s[k, 0] + weights["o"] for k in range(len(words))])
    return {"logits": logits, "attention/change": changes}


def example_loss(
    weights: Weights, outputs: Mapping[str, Any], targets: np.ndarray, config: Mapping[str, Any]
) -> float:
    """Cross entropy of the answer's symbols, where one is asked for."""
    asked = targets != 0
    return sequence_loss(outputs["logits"][asked], targets[asked])
