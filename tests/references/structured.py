"""Structured attention in NumPy, by enumeration: one query, one sentence, at its own length.

Kim, Denton, Hoang and Rush 2017 (arXiv 1702.00887), sections 3.1 and 3.2. Every sequence of states
and every projective tree is listed and weighed; nothing is computed recursively. Matrices are
(out, in), as the paper prints them.
"""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from tests.references.scores import score

Weights = Mapping[str, np.ndarray]


def distribution(scores: Sequence[float]) -> tuple[np.ndarray, float]:
    """Probabilities proportional to the exponentials of the scores, and log Z."""
    values = np.array(scores, "float64")
    log_partition = values.max() + np.log(np.exp(values - values.max()).sum())
    return np.exp(values - log_partition), log_partition


def enumerate_chain(
    unary: np.ndarray, pairwise: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Sums over all sequences of states.

    Args:
        unary: (n, K).
        pairwise: (K, K), or (n - 1, K, K).

    Returns:
        p(z_i = k) (n, K), p(z_i = k, z_{i+1} = l) (n - 1, K, K), and log Z.
    """
    length, states = unary.shape
    pairs = np.broadcast_to(pairwise, (length - 1, states, states)) if length > 1 else []
    sequences = list(itertools.product(range(states), repeat=length))
    scores = [
        sum(unary[i, z[i]] for i in range(length))
        + sum(pairs[i][z[i], z[i + 1]] for i in range(length - 1))
        for z in sequences
    ]
    probabilities, log_partition = distribution(scores)
    marginals = np.zeros((length, states))
    joint = np.zeros((max(length - 1, 0), states, states))
    for z, probability in zip(sequences, probabilities, strict=True):
        for i in range(length):
            marginals[i, z[i]] += probability
        for i in range(length - 1):
            joint[i, z[i], z[i + 1]] += probability
    return marginals, joint, log_partition


def projective_trees(words: int, multi_root: bool = True) -> list[tuple[int, ...]]:
    """Lists the heads of words 1 to n in every tree without crossing arcs; 0 is the root."""
    found = []
    for heads in itertools.product(range(words + 1), repeat=words):
        single = sum(head == 0 for head in heads) == 1
        if _is_tree(heads) and _is_projective(heads) and (multi_root or single):
            found.append(heads)
    return found


def _is_tree(heads: tuple[int, ...]) -> bool:
    """Tells whether every word's chain of heads ends at the root."""
    for word in range(1, len(heads) + 1):
        for _ in heads:
            word = 0 if word == 0 else heads[word - 1]
        if word != 0:
            return False
    return True


def _is_projective(heads: tuple[int, ...]) -> bool:
    """Tells whether no two arcs cross."""
    arcs = [sorted((head, word)) for word, head in enumerate(heads, 1)]
    return not any(a < c < b < d for (a, b), (c, d) in itertools.permutations(arcs, 2))


def enumerate_trees(scores: np.ndarray, multi_root: bool = True) -> tuple[np.ndarray, float]:
    """Sums over all projective trees.

    Args:
        scores: (N, N) of arcs from head (row) to dependent (column); position 0 is the root.
        multi_root: whether the root may have several dependents.

    Returns:
        The probability of each arc (N, N), and log Z.
    """
    trees = projective_trees(len(scores) - 1, multi_root)
    totals = [sum(scores[head, word] for word, head in enumerate(heads, 1)) for heads in trees]
    probabilities, log_partition = distribution(totals)
    marginals = np.zeros(scores.shape)
    for heads, probability in zip(trees, probabilities, strict=True):
        for word, head in enumerate(heads, 1):
            marginals[head, word] += probability
    return marginals, log_partition


def segmentation_attention(
    fit: np.ndarray,
    pairwise: np.ndarray,
    values: np.ndarray,
    total: float = 2.0,
    double_count: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Context (d,) and weights (n,) of one query.

    Args:
        fit: theta_i(1), (n,); theta_i(0) is 0.
        pairwise: b (2, 2).
        values: (n, d).
        total: lambda.
        double_count: whether the potential of a pair holds both unary ones, as printed.
    """
    unary = np.stack([np.zeros(len(fit)), fit], axis=1)
    if double_count:
        pairs = [unary[i][:, None] + unary[i + 1][None] + pairwise for i in range(len(fit) - 1)]
        marginals, _, _ = enumerate_chain(np.zeros(unary.shape), np.array(pairs))
    else:
        marginals, _, _ = enumerate_chain(unary, pairwise)
    selected = marginals[:, 1]
    gamma = selected.sum() / total
    weights = selected / gamma
    return weights @ values, weights


def syntactic_attention(
    weights: Weights,
    states: np.ndarray,
    values: np.ndarray,
    bound: bool = True,
    multi_root: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Soft parents (N, d), and the weights (N, N) of each word's heads, one row a word.

    Args:
        weights: of the additive score: U (a, d_h) for the head, W (a, d_h) for the dependent, v
            (a,), and perhaps b (a,).
        states: h (N, d_h), the root first.
        values: x (N, d).
        bound: whether there is an outer tanh.
        multi_root: whether the root may have several dependents.
    """
    arcs = np.stack([score("additive", weights, state, states) for state in states], axis=1)
    marginals, _ = enumerate_trees(np.tanh(arcs) if bound else arcs, multi_root)
    parents = np.zeros((len(states), values.shape[1]))
    for j in range(len(states)):
        for i in range(len(states)):
            parents[j] += marginals[i, j] * values[i]
    return parents, marginals.T
