"""Search in NumPy, one sentence at a time and over whole prefixes: no states, no batches.

A model is a function from the tokens that are out to the log-probabilities (V,) of the next one and
the attention weights (S,) with which it is written; V counts the special ids 0-3, of which 3 ends.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

PADDING, UNKNOWN, START, END = range(4)

Step = Callable[[tuple[int, ...]], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Hypothesis:
    """The beginning of a translation, or a whole one."""

    tokens: tuple[int, ...] = ()
    log_probability: float = 0.0
    alignment: tuple[np.ndarray, ...] = field(default=(), compare=False)

    @property
    def finished(self) -> bool:
        return self.tokens[-1:] == (END,)

    def extended(self, step: Step, token: int) -> "Hypothesis":
        log_probabilities, weights = step(self.tokens)
        return Hypothesis(
            (*self.tokens, token),
            self.log_probability + float(log_probabilities[token]),
            (*self.alignment, weights),
        )


@dataclass(frozen=True)
class Rules:
    """Limits and ranking of a search, under the names of the search's arguments."""

    maximum_length: int
    minimum_length: int = 0
    forbid_unknown: bool = False
    normalisation: str = "none"
    length_penalty: float = 1.0
    coverage_penalty: float = 0.0

    def allowed(self, vocabulary_size: int, emitted: int) -> list[int]:
        """The ids that may follow when `emitted` tokens are out."""
        forbidden = {PADDING, START}
        if self.forbid_unknown:
            forbidden.add(UNKNOWN)
        if emitted < self.minimum_length:
            forbidden.add(END)
        return [token for token in range(vocabulary_size) if token not in forbidden]

    def score(self, hypothesis: Hypothesis) -> float:
        """Log P / lp + beta * sum_j log(min(sum_t a_tj, 1))."""
        length = len(hypothesis.tokens)
        divisor = {
            "none": 1.0,
            "length": float(length),
            "gnmt": ((5.0 + length) / 6.0) ** self.length_penalty,
        }[self.normalisation]
        score = hypothesis.log_probability / divisor
        if self.coverage_penalty:
            received = np.sum(hypothesis.alignment, axis=0)
            covered = sum(math.log(min(float(amount), 1.0)) for amount in received)
            score += self.coverage_penalty * covered
        return score

    def ranked(self, hypotheses: list[Hypothesis]) -> list[Hypothesis]:
        """Finished ones first, each kind by its score; of equals the one that came first."""
        return sorted(hypotheses, key=lambda h: (not h.finished, -self.score(h)))


def beam_search(
    step: Step, width: int, rules: Rules, n_best: int = 1, stop: str = "exact"
) -> list[Hypothesis]:
    """The search of `zoo.decoding.beam` for one sentence, its best first.

    `stop="exact"` never stops as long as there is anything to continue: what the search leaves out
    by stopping early must not matter.
    """
    wanted = max(n_best, width) if stop == "beam_finished" else n_best
    alive, finished = [Hypothesis()], []
    for _ in range(rules.maximum_length):
        candidates = [
            (slot, token, hypothesis.extended(step, token))
            for slot, hypothesis in enumerate(alive)
            for token in rules.allowed(len(step(hypothesis.tokens)[0]), len(hypothesis.tokens))
        ]
        candidates.sort(key=lambda c: (-c[2].log_probability, c[0], c[1]))
        chosen = [h for *_, h in candidates[:width] if h.log_probability > -math.inf]
        finished += [hypothesis for hypothesis in chosen if hypothesis.finished]
        alive = [hypothesis for hypothesis in chosen if not hypothesis.finished]
        if stop != "exact" and alive and len(finished) >= wanted:
            last = rules.score(rules.ranked(finished)[wanted - 1])
            if last >= max(rules.score(hypothesis) for hypothesis in alive):
                break
    return rules.ranked(finished + alive)[:n_best]


def greedy(step: Step, rules: Rules) -> Hypothesis:
    """The likeliest token in each step."""
    hypothesis = Hypothesis()
    while len(hypothesis.tokens) < rules.maximum_length and not hypothesis.finished:
        log_probabilities, _ = step(hypothesis.tokens)
        allowed = rules.allowed(len(log_probabilities), len(hypothesis.tokens))
        best = max(allowed, key=lambda token: (log_probabilities[token], -token))
        hypothesis = hypothesis.extended(step, best)
    return hypothesis


def enumerate_all(step: Step, rules: Rules) -> list[Hypothesis]:
    """Every finished and unfinished hypothesis there is, best first."""
    return rules.ranked([*_every(step, rules, Hypothesis())])


def _every(step: Step, rules: Rules, hypothesis: Hypothesis) -> Iterator[Hypothesis]:
    if hypothesis.finished or len(hypothesis.tokens) == rules.maximum_length:
        yield hypothesis
        return
    allowed = rules.allowed(len(step(hypothesis.tokens)[0]), len(hypothesis.tokens))
    yield from itertools.chain.from_iterable(
        _every(step, rules, hypothesis.extended(step, token)) for token in allowed
    )


def sampling_distribution(
    log_probabilities: np.ndarray,
    allowed: list[int],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> np.ndarray:
    """Probabilities (V,) that a token is drawn with."""
    tokens = sorted(allowed, key=lambda token: (-log_probabilities[token], token))[:top_k]
    weights = np.exp(log_probabilities[tokens] / temperature)
    weights /= weights.sum()
    if top_p is not None:
        kept = 1 + next(i for i, total in enumerate(np.cumsum(weights)) if total >= top_p - 1e-9)
        weights[kept:] = 0.0
    probabilities = np.zeros(len(log_probabilities))
    probabilities[tokens] = weights / weights.sum()
    return probabilities


def replace_unknown(
    pieces: list[str],
    ids: list[int],
    alignment: np.ndarray,
    source: list[str],
    dictionary: dict[str, str] | None = None,
    convention: str = "predicted",
) -> list[str]:
    """Every <unk> by the word aligned with it, or the dictionary's word for that."""
    replaced = []
    for position, (piece, token) in enumerate(zip(pieces, ids, strict=True)):
        row = min(position + (convention == "input"), len(pieces) - 1)
        weights = alignment[row][: len(source)]
        if token == UNKNOWN and len(source) and weights.max() > 0:
            word = source[int(np.argmax(weights))]
            piece = (dictionary or {}).get(word, word)
        replaced.append(piece)
    return replaced
