"""The family of score functions in NumPy: one query, one sentence, at its own length.

Sources: Bahdanau et al. 2014 (arXiv 1409.0473), appendix A.1.2; Luong et al. 2015 (arXiv
1508.04025), section 3.1; Vaswani et al. 2017 (arXiv 1706.03762), section 3.2.1; Graves et al. 2014
(arXiv 1410.5401), section 3.3.1. Matrices are (out, in), as the papers print them:

    general           W (d_s, d_h)
    concat            W (a, d_s + d_h), v (a,)
    concat_identity   W (d_h, d_s), v (d_h,)
    additive          W (a, d_s), U (a, d_h), v (a,)
    concat_linear     W (1, d_s + d_h)
    linear_additive   w_q (d_s,), w_k (d_h,)
    location          W (Lmax, d_s)

The three perceptrons may have a bias b, added before the tanh.
"""

from collections.abc import Mapping

import numpy as np

from tests.references.recurrent import masked_softmax

Weights = Mapping[str, np.ndarray]


def score(name: str, weights: Weights, query: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Scores every key for one query.

    Args:
        name: one of the scores above, or "dot", "scaled_dot", "content", which have no weights.
        weights: see the module.
        query: s, (d_s,).
        keys: h, (T, d_h).

    Returns:
        e (T,); -inf at the positions that "location" has no row for.
    """
    return np.array([_score(name, weights, query, key, i) for i, key in enumerate(keys)])


def attend(scores: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Context (d,) and weights (T,) from the scores (T,) and the values (T, d) of real keys."""
    weights = masked_softmax(scores, np.isfinite(scores))
    return weights @ values, weights


def _score(name: str, weights: Weights, s: np.ndarray, h: np.ndarray, position: int) -> float:
    W = weights.get("W")
    if name == "dot":
        return s @ h
    if name == "scaled_dot":
        return s @ h / np.sqrt(len(h))
    if name == "general":
        return s @ W @ h
    if name == "concat_linear":
        return (W @ np.concatenate([s, h])).item()
    if name == "linear_additive":
        return weights["w_q"] @ s + weights["w_k"] @ h
    if name == "content":
        norms = np.linalg.norm(s) * np.linalg.norm(h)
        return s @ h / norms if norms else 0.0
    if name == "location":
        return W[position] @ s if position < len(W) else -np.inf
    hidden = _hidden(name, weights, s, h) + weights.get("b", 0.0)
    return weights["v"] @ np.tanh(hidden)


def _hidden(name: str, weights: Weights, s: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Computes the pre-activations of the perceptrons, without the bias."""
    if name == "concat":
        return weights["W"] @ np.concatenate([s, h])
    if name == "concat_identity":
        return weights["W"] @ s + h
    if name == "additive":
        return weights["W"] @ s + weights["U"] @ h
    raise ValueError(f"name must be a score function, not {name!r}")
