"""Beam search over the steps of a translator, for one sentence, in NumPy.

It finds what the SavedModel finds: the hypotheses with the highest log-probability, divided by
GNMT's length penalty. The search ends when as many hypotheses have ended as are open at most, and
no open one would be among the best of these at its present length.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

PADDING, UNKNOWN, START, END = range(4)

Arrays = dict[str, np.ndarray]
Step = Callable[[np.ndarray, Arrays], tuple[np.ndarray, Arrays, np.ndarray | None]]
"""From the last tokens (rows,) and the state to logits (rows, V), the next state and, where the
model has one, the alignment (rows, S)."""


class Hypothesis(NamedTuple):
    """A translation."""

    tokens: list[int]
    """With ``</s>``, unless it was cut at the maximum length."""
    log_probability: float
    score: float
    alignment: list[np.ndarray]
    """A row (S,) a token."""


def maximum_length(source_length: int) -> int:
    """Longest translation that is searched for, ``</s>`` counted."""
    return 2 * source_length + 10 if source_length else 0


def search(
    step: Step,
    state: Arrays,
    shared: set[str],
    limit: int,
    beam_width: int = 5,
    length_penalty: float = 1.0,
    n_best: int = 1,
    forbidden: Sequence[int] = (PADDING, START),
) -> list[Hypothesis]:
    """Searches for the best translations of one sentence.

    Args:
        step: the decoder.
        state: before the first token, (1, ...).
        shared: names of what all hypotheses have together in the state.
        limit: tokens at most, ``</s>`` counted.
        beam_width: open hypotheses of a step.
        length_penalty: GNMT's exponent; 0: none.
        n_best: hypotheses returned, at most.
        forbidden: ids that are never written.

    Returns:
        The best, best first; those that ended stand before those that did not.

    Raises:
        ValueError: `beam_width` or `n_best` is less than 1, or `length_penalty` less than 0.
    """
    _check_options(length_penalty, beam_width=beam_width, n_best=n_best)
    open_ones = [Hypothesis([START], 0.0, 0.0, [])]
    ended, pool = list[Hypothesis](), max(n_best, beam_width)
    for length in range(1, limit + 1):
        last = np.array([hypothesis.tokens[-1] for hypothesis in open_ones], np.int32)
        logits, state, alignment = step(last, state)
        before = np.array([[hypothesis.log_probability] for hypothesis in open_ones])
        scores = before + _log_softmax(logits)
        scores[:, list(forbidden)] = -np.inf
        values, parents, tokens = best_continuations(scores, beam_width)
        divisor = ((5.0 + length) / 6.0) ** length_penalty
        following, kept = [], []
        for value, parent, token in zip(values, parents, tokens, strict=True):
            old = open_ones[parent]
            row = [] if alignment is None else [alignment[parent]]
            new = Hypothesis([*old.tokens, token], value, value / divisor, old.alignment + row)
            if token == END:
                ended.append(new)
            else:
                following.append(new)
                kept.append(parent)
        ended = sorted(ended, key=lambda one: -one.score)[:pool]
        open_ones = following
        if not open_ones or (len(ended) == pool and open_ones[0].score <= ended[-1].score):
            break
        state = {k: v if k in shared else v[kept] for k, v in state.items()}
    divisor = ((5.0 + limit) / 6.0) ** length_penalty
    ended += [one._replace(score=one.log_probability / divisor) for one in open_ones]
    return [one._replace(tokens=one.tokens[1:]) for one in ended[:n_best] if limit]


def _check_options(length_penalty: float, **counts: int) -> None:
    """Raises ValueError for a search for nothing, or by scores that mean nothing."""
    for name, count in counts.items():
        if not isinstance(count, int | np.integer) or count < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {count!r}")
    number = isinstance(length_penalty, int | float | np.number)
    if not number or not 0 <= length_penalty < np.inf:
        raise ValueError(
            f"length_penalty must be a finite number of at least 0, got {length_penalty!r}"
        )


def best_continuations(scores: np.ndarray, count: int) -> tuple[list[float], list[int], list[int]]:
    """Chooses the likeliest continuations; the lowest index wins a tie, and NaN is none.

    Args:
        scores: (rows, V), of every token after every hypothesis.
        count: how many to choose; there are fewer if all other scores are infinite.

    Returns:
        Log-probabilities, rows and tokens, best first.
    """
    flat = np.where(np.isnan(scores), -np.inf, scores).ravel()
    count = min(count, int(np.isfinite(flat).sum()))
    least = np.partition(flat, flat.size - count)[flat.size - count] if count else np.inf
    places = np.flatnonzero(flat >= least)
    places = places[np.argsort(-flat[places], kind="stable")][:count]
    rows, tokens = np.divmod(places, scores.shape[1])
    return flat[places].tolist(), rows.tolist(), tokens.tolist()


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    logits = logits.astype(np.float64)
    logits -= logits.max(axis=1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
