"""Restricted self-attention in NumPy (Vaswani et al. 2017, arXiv 1706.03762, sections 3.2 and 4).

One sentence at its own length: T positions, d model, h heads, k size of a head's queries and keys,
v of its values, r window. Matrices are (out, in); the rows of W_Q, W_K and W_V, and the columns of
W_O, belong to the heads in turn:

    W_Q (h k, d), W_K (h k, d), W_V (h v, d), W_O (d, h v)
    b_Q (h k,), b_K (h k,), b_V (h v,), b_O (d,)            zero where they are not in the dict
"""

from collections.abc import Mapping

import numpy as np

from tests.references.recurrent import masked_softmax


def attend(
    queries: np.ndarray, keys: np.ndarray, values: np.ndarray, window: int
) -> tuple[np.ndarray, np.ndarray]:
    """One head: position i attends to the r positions centred on it, inside the sentence.

    Args:
        queries: (T, k).
        keys: (T, k).
        values: (T, v).
        window: r.

    Returns:
        (T, v), and the weights (T, T).
    """
    length, size = queries.shape
    weights = np.zeros((length, length))
    for i in range(length):
        seen = np.array([abs(i - j) <= (window - 1) / 2 for j in range(length)])
        scores = np.array([queries[i] @ keys[j] / np.sqrt(size) for j in range(length)])
        weights[i] = masked_softmax(scores, seen)
    mixed = [sum(weights[i, j] * values[j] for j in range(length)) for i in range(length)]
    return np.array(mixed), weights


def self_attention(
    weights: Mapping[str, np.ndarray], inputs: np.ndarray, num_heads: int, window: int
) -> tuple[np.ndarray, np.ndarray]:
    """All heads, with their projections.

    Args:
        weights: see the module.
        inputs: (T, d).
        num_heads: h.
        window: r.

    Returns:
        (T, d), and the weights (h, T, T).
    """
    projected = [inputs @ weights[f"W_{name}"].T + weights.get(f"b_{name}", 0.0) for name in "QKV"]
    heads = zip(*(np.split(side, num_heads, axis=1) for side in projected), strict=True)
    mixed, maps = zip(*(attend(*head, window) for head in heads), strict=True)
    outputs = np.concatenate(mixed, axis=1) @ weights["W_O"].T + weights.get("b_O", 0.0)
    return outputs, np.array(maps)
