"""Symmetric training of two directions in NumPy (Cohn et al. 2016, arXiv 1601.01085, section 3.4).

One sentence pair at its own length: S source tokens and T target tokens, both with ``</s>``. Each
direction is `tests.references.biased_rnnsearch` with weights of its own.
"""

import numpy as np

from tests.references import biased_rnnsearch
from tests.references.translation import Weights

START, END = 2, 3


def trace_bonus(forward: np.ndarray, backward: np.ndarray) -> float:
    """B = - tr(A_st A_ts) of the alignments (T, S) and (S, T)."""
    diagonal = 0.0
    for j in range(len(forward)):
        for i in range(len(backward)):
            diagonal += forward[j, i] * backward[i, j]
    return -diagonal


def pair_loss(
    directions: tuple[tuple[Weights, dict], tuple[Weights, dict]],
    source: np.ndarray,
    target: np.ndarray,
    trace_weight: float,
) -> float:
    """L = - log p(t | s) - log p(s | t) + gamma B of one pair.

    Args:
        directions: weights and configuration of each, from source to target first.
        source: words (n,), without start and end.
        target: words (m,), likewise.
        trace_weight: gamma.
    """
    losses, alignments = [], []
    for (weights, config), (read, written) in zip(
        directions, ((source, target), (target, source)), strict=True
    ):
        inputs = {"source": np.append(read, END), "target": np.insert(written, 0, START)}
        outputs = biased_rnnsearch.predict(weights, inputs, config)
        targets = np.append(written, END)
        losses.append(biased_rnnsearch.example_loss(weights, outputs, targets, config))
        alignments.append(outputs["attention/alignment"])
    return sum(losses) + trace_weight * trace_bonus(*alignments)
