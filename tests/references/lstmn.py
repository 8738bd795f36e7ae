"""LSTMN in NumPy: a recurrent reader whose memory is a tape (Cheng et al. 2016, arXiv 1601.06733).

One example at its own length: T words, S source words, d inputs, n hidden units, a score units.
Weights of one cell, stored (output, input):

    W_h (a, n), W_x (a, d), W_ht (a, n), v (a,)     the score of a slot; W_ht reads the summary
    W (4n, n + d), b (4n,)                          gates i, f, g, o of [summary; input]

Deep fusion adds, j running over source words:

    W_g (a, n), W_x2 (a, d), W_gt (a, n), u (a,)    the score of a source word
    W_r (n, n + d), b_r (n,)                        the gate of [source summary; input]

Shallow fusion adds U_q (a, n), U_k (a, n), v_i (a,) and W_j (n, 2n). A stack has the weights of
layer k prefixed with `<k>_`, a model of two cells those of the second with `second_`.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tests.references.recurrent import sigmoid, softmax

Weights = Mapping[str, np.ndarray]
Result = dict[str, np.ndarray]
CELL = ("W_h", "W_x", "W_ht", "v", "W", "b")


class Start(NamedTuple):
    """Memory of a cell before its first step."""

    hidden: np.ndarray
    """(K, n), the oldest slot first."""
    cell: np.ndarray
    """(K, n)."""
    summary: np.ndarray
    """h~_0 (n,), or h_0 where the hidden state asks."""


def start_from(
    hidden: np.ndarray,
    cell: np.ndarray,
    *,
    include_initial: bool,
    summary: np.ndarray | None = None,
    query: str = "summary",
) -> Start:
    """A tape with one slot, (n,) each, or with none if the initial state is not included."""
    kept = slice(None) if include_initial else slice(0)
    if summary is None:
        summary = hidden if query == "hidden" else np.zeros_like(hidden)
    return Start(hidden[None][kept], cell[None][kept], summary)


def zero_start(weights: Weights, *, include_initial: bool) -> Start:
    """The start of a text: slot 0 is zero, or there is none."""
    zeros = np.zeros(len(weights["b"]) // 4)
    return start_from(zeros, zeros, include_initial=include_initial)


def read_tape(
    weights: Weights, word: np.ndarray, hidden: np.ndarray, summary: np.ndarray
) -> np.ndarray:
    """Weights s_i (K,) of the slots `hidden` (K, n)."""
    scores = [
        weights["v"]
        @ np.tanh(weights["W_h"] @ slot + weights["W_x"] @ word + weights["W_ht"] @ summary)
        for slot in hidden
    ]
    return softmax(np.array(scores))


def read_source(
    weights: Weights, word: np.ndarray, source: np.ndarray, summary: np.ndarray
) -> np.ndarray:
    """Weights p_j (S,) of the source's hidden tape (S, n), in deep fusion."""
    scores = [
        weights["u"]
        @ np.tanh(weights["W_g"] @ slot + weights["W_x2"] @ word + weights["W_gt"] @ summary)
        for slot in source
    ]
    return softmax(np.array(scores))


def lstmn(
    weights: Weights,
    words: np.ndarray,
    start: Start,
    *,
    window: int | None = None,
    source: tuple[np.ndarray, np.ndarray] | None = None,
    query: str = "summary",
) -> Result:
    """One layer over one text.

    Args:
        weights: see the module.
        words: (T, d).
        start: the tape before the first word, K slots.
        window: how many of the most recent slots are read; None: all.
        source: hidden and memory tape (S, n) of the source, for deep fusion.
        query: whether the summary or the hidden state of the step before asks.

    Returns:
        `h`, `c`, `h_tilde`, `c_tilde` (T, n) and `s` (T, K + T), whose columns are the slots, those
        of `start` first; with a source `r`, `gamma_tilde`, `alpha_tilde` (T, n), `p` (T, S).
    """
    hidden, cell = list(start.hidden), list(start.cell)
    carried, size = len(hidden), len(start.summary)
    asks, gamma_tilde = start.summary, np.zeros(size)
    steps: dict[str, list[np.ndarray]] = {}
    for word in words:
        first = 0 if window is None else max(len(hidden) - window, 0)
        near = np.reshape(hidden[first:], (-1, size)), np.reshape(cell[first:], (-1, size))
        s = read_tape(weights, word, near[0], asks)
        h_tilde, c_tilde = s @ near[0], s @ near[1]
        gates = weights["W"] @ np.concatenate([h_tilde, word]) + weights["b"]
        i, f, g, o = np.split(gates, 4)
        c = sigmoid(f) * c_tilde + sigmoid(i) * np.tanh(g)
        step = {"h_tilde": h_tilde, "c_tilde": c_tilde, "s": np.zeros(carried + len(words))}
        step["s"][first : first + len(s)] = s
        if source is not None:
            p = read_source(weights, word, source[0], gamma_tilde)
            gamma_tilde, alpha_tilde = p @ source[0], p @ source[1]
            r = sigmoid(weights["W_r"] @ np.concatenate([gamma_tilde, word]) + weights["b_r"])
            c = c + r * alpha_tilde
            step |= {"p": p, "r": r, "gamma_tilde": gamma_tilde, "alpha_tilde": alpha_tilde}
        h = sigmoid(o) * np.tanh(c)
        asks = h if query == "hidden" else h_tilde
        hidden.append(h)
        cell.append(c)
        for name, value in (step | {"h": h, "c": c}).items():
            steps.setdefault(name, []).append(value)
    if not steps:
        return empty_result(size, carried, source)
    return {name: np.stack(values) for name, values in steps.items()}


def empty_result(size: int, carried: int, source: object) -> Result:
    """Returns the outputs for an empty text."""
    names = ("h", "c", "h_tilde", "c_tilde")
    result = {name: np.zeros((0, size)) for name in names} | {"s": np.zeros((0, carried))}
    if source is not None:
        result |= {name: np.zeros((0, size)) for name in ("r", "gamma_tilde", "alpha_tilde")}
        result["p"] = np.zeros((0, len(source[0])))
    return result


def continued(start: Start, result: Result, bound: int, query: str = "summary") -> Start:
    """The tape after a segment: its `bound` most recent slots, and what asks next."""
    hidden = np.concatenate([start.hidden, result["h"]])
    cell = np.concatenate([start.cell, result["c"]])
    first = max(len(hidden) - bound, 0)
    asking = result["h" if query == "hidden" else "h_tilde"]
    summary = asking[-1] if len(asking) else start.summary
    return Start(hidden[first:], cell[first:], summary)


def layer(weights: Weights, prefix: str) -> dict[str, np.ndarray]:
    """The weights whose names begin with `prefix`, without it."""
    return {k.removeprefix(prefix): v for k, v in weights.items() if k.startswith(prefix)}


def depth_of(weights: Weights) -> int:
    """The number of layers of a stack."""
    return sum(name.endswith("_v") and name[:-2].isdigit() for name in weights)


def stack(
    weights: Weights,
    words: np.ndarray,
    *,
    include_initial: bool = True,
    window: int | None = None,
    skip_connections: bool = False,
    query: str = "summary",
    starts: list[Start] | None = None,
) -> list[Result]:
    """Layers one above the other (equation 10), the lowest first, each with a tape of its own.

    With skip connections a layer above the first reads [h_t of the layer below; x_t].
    """
    results: list[Result] = []
    inputs = words
    for k in range(depth_of(weights)):
        cell = layer(weights, f"{k}_")
        start = zero_start(cell, include_initial=include_initial) if starts is None else starts[k]
        results.append(lstmn(cell, inputs, start, window=window, query=query))
        inputs = results[-1]["h"]
        if skip_connections:
            inputs = np.concatenate([inputs, words], axis=1)
    return results


def intra_map(s: np.ndarray, *, include_initial: bool) -> np.ndarray:
    """Weights of the words (T, T), and in a last column that of slot 0, if there is one."""
    first = s[:, :1] if include_initial else np.zeros((len(s), 1))
    return np.concatenate([s[:, 1:] if include_initial else s, first], axis=1)


def mean_of(tape: np.ndarray) -> np.ndarray:
    """The mean of a tape (T, n); zeros if it is empty."""
    return tape.mean(axis=0) if len(tape) else np.zeros(tape.shape[1])


def perceptron(weights: Weights, values: np.ndarray, hidden_layers: int) -> np.ndarray:
    """Logits: rectified layers `P<k>`, `p<k>`, and one more without."""
    for k in range(hidden_layers):
        values = np.maximum(weights[f"P{k}"] @ values + weights[f"p{k}"], 0.0)
    return weights["W_o"] @ values + weights["b_o"]


def language_model(
    weights: Weights,
    ids: np.ndarray,
    starts: list[Start] | None = None,
    **options: object,
) -> tuple[np.ndarray, list[Result]]:
    """Logits (T, V) of the next ids, and what every layer did.

    Besides the stack's, the weights are `E` (V, d) and `W_o` (V, n), `b_o` (V,). Without `W_o` the
    table of words is the softmax's too, of W_p h_t (`W_p` (d, n); without it, of h_t).
    """
    results = stack(weights, weights["E"][ids], starts=starts, **options)
    features = results[-1]["h"]
    if "W_o" in weights:
        return features @ weights["W_o"].T + weights["b_o"], results
    if "W_p" in weights:
        features = features @ weights["W_p"].T
    return features @ weights["E"].T + weights["b_o"], results


def classifier(
    weights: Weights, ids: np.ndarray, **options: object
) -> tuple[np.ndarray, list[Result]]:
    """Logits of the classes, of the mean of the top hidden tape, and what every layer did."""
    results = stack(weights, weights["E"][ids], **options)
    return perceptron(weights, mean_of(results[-1]["h"]), 1), results


def shallow_fusion(
    weights: Weights, hidden: np.ndarray, source: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """tanh(W_j [context; h_t]) (T, n), and p (T, S), of additive attention over the source."""
    features, maps = np.zeros_like(hidden), np.zeros((len(hidden), len(source)))
    for t, state in enumerate(hidden):
        scores = [
            weights["v_i"] @ np.tanh(weights["U_q"] @ state + weights["U_k"] @ slot)
            for slot in source
        ]
        maps[t] = softmax(np.array(scores))
        features[t] = np.tanh(weights["W_j"] @ np.concatenate([maps[t] @ source, state]))
    return features, maps


def fuse(
    weights: Weights,
    second: Weights,
    words: np.ndarray,
    encoded: Result,
    *,
    fusion: str,
    include_initial: bool = True,
    window: int | None = None,
    query: str = "summary",
) -> tuple[np.ndarray, np.ndarray, Result]:
    """Reads a second text (T, d) beside an encoded one.

    Returns:
        Features (T, n); the weights of the source p (T, S), zeros without fusion; what the cell
        did.
    """
    start = zero_start(second, include_initial=include_initial)
    if fusion != "deep":
        result = lstmn(second, words, start, window=window, query=query)
        if fusion == "none":
            return result["h"], np.zeros((len(words), len(encoded["h"]))), result
        return *shallow_fusion(weights, result["h"], encoded["h"]), result
    if len(encoded["h"]):  # the last state of the source is slot 0
        last = encoded["h"][-1], encoded["c"][-1]
        start = start_from(*last, include_initial=include_initial, query=query)
    source = (encoded["h"], encoded["c"])
    merged = {**weights, **second}
    result = lstmn(merged, words, start, window=window, source=source, query=query)
    return result["h"], result["p"], result


def cells(weights: Weights) -> tuple[Weights, Weights]:
    """The first cell and the second, which may be the same."""
    return weights, layer(weights, "second_") or {name: weights[name] for name in CELL}


def inference(
    weights: Weights,
    premise: np.ndarray,
    hypothesis: np.ndarray,
    *,
    fusion: str,
    include_initial: bool = True,
    window: int | None = None,
    query: str = "summary",
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Logits of three classes; `premise_intra`, `hypothesis_intra` and, with fusion, `inter`."""
    first, second = cells(weights)
    start = zero_start(first, include_initial=include_initial)
    encoded = lstmn(first, weights["E"][premise], start, window=window, query=query)
    options = {"include_initial": include_initial, "window": window, "query": query}
    features, inter, result = fuse(
        weights, second, weights["E"][hypothesis], encoded, fusion=fusion, **options
    )
    pair = np.concatenate([mean_of(encoded["h"]), mean_of(features)])
    maps = {
        "premise_intra": intra_map(encoded["s"], include_initial=include_initial),
        "hypothesis_intra": intra_map(result["s"], include_initial=include_initial),
    }
    return perceptron(weights, pair, 2), maps if fusion == "none" else maps | {"inter": inter}


def translator(
    weights: Weights,
    source: np.ndarray,
    target_in: np.ndarray,
    *,
    fusion: str,
    include_initial: bool = True,
    window: int | None = None,
    query: str = "summary",
) -> Result:
    """`logits` (T, V) and `alignment` (T, S) of an encoder and a decoder, each a cell."""
    first, second = cells(weights)
    start = zero_start(first, include_initial=include_initial)
    encoded = lstmn(first, weights["E_src"][source], start, window=window, query=query)
    options = {"include_initial": include_initial, "window": window, "query": query}
    features, alignment, _ = fuse(
        weights, second, weights["E_tgt"][target_in], encoded, fusion=fusion, **options
    )
    return {"logits": features @ weights["W_o"].T + weights["b_o"], "alignment": alignment}
