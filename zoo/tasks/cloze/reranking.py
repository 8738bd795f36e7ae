"""Re-ranking of a cloze reader's best candidates with language models (Cui et al. 2016, section 5).

Each of the N best candidates is filled into the blank. Its cost is a weighted sum of features, the
negative logarithms of: the reader's probability; a global n-gram model of the training documents; a
local one of the very document of the question; a class model, of classes in place of words. The
candidate of the lowest cost is the answer. The paper tunes the weights with K-best MIRA on the
validation part; here a coordinate search does, for the accuracy itself.

Shape letters: q questions, N candidates kept of each, f features.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from zoo.data.cloze_format import PLACEHOLDER
from zoo.text.kneser_ney import KneserNey
from zoo.text.word_classes import word_classes

FEATURES = ("reader", "global", "local", "class")

_GRID = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)
_IMPOSSIBLE = 1e-30  # in place of a reader's probability of 0


class Reranking(NamedTuple):
    """The best candidates of some questions."""

    costs: np.ndarray
    """float64 (q, N, f), in the order of `FEATURES`; infinite where there are fewer than N."""
    candidates: np.ndarray
    """int64 (q, N), which of a question's candidates each is, the reader's best first."""
    answer: np.ndarray
    """int64 (q,), place of the answer among the N; -1 if the reader has not kept it."""

    def accuracy(self, weights: np.ndarray) -> float:
        """Share of questions, in percent, whose cheapest candidate is the answer; first of ties."""
        return 100.0 * float(np.mean(self.choose(weights) == self.answer))

    def choose(self, weights: np.ndarray) -> np.ndarray:
        """Place (q,) of the cheapest candidate among the N, for weights (f,)."""
        used = np.flatnonzero(weights)  # nothing of what has no weight, even if it is infinite
        return np.argmin(self.costs[:, :, used] @ weights[used], axis=1)


@dataclass(frozen=True)
class Gain:
    """Accuracy with the first so many features."""

    features: tuple[str, ...]
    weights: tuple[float, ...]
    validation: float
    """Accuracy in percent, on what the weights were tuned on."""
    test: float


class CandidateModels:
    """The language models that score a query with a candidate in its blank.

    Args:
        documents: training documents, a sentence a line, tokens between spaces. They overlap, so
            that each different sentence counts once.
        order: of every n-gram model.
        classes: number of word classes.
        iterations: passes of the exchange that makes them.
        minimum_count: words that occur less often in these sentences are one unknown word.
        logger: gets a line a pass.
    """

    def __init__(
        self,
        documents: Iterable[str],
        *,
        order: int = 8,
        classes: int = 1000,
        iterations: int = 5,
        minimum_count: int = 1,
        logger: logging.Logger | None = None,
    ) -> None:
        lines = {line for document in set(documents) for line in document.split("\n")}
        sentences = [line.split() for line in sorted(lines)]
        words, counts = np.unique([word for s in sentences for word in s], return_counts=True)
        kept = words[counts >= minimum_count].tolist()
        self.order = order
        self._ids = {word: number for number, word in enumerate(kept, 1)}  # 0: unknown
        texts = [self._encode(sentence) for sentence in sentences]
        size = len(kept) + 1
        self._global = KneserNey(texts, size, order)
        self._class_of = word_classes(texts, size, classes, iterations=iterations, logger=logger)
        of_classes = [self._class_of[text].tolist() for text in texts]
        self._classes = KneserNey(of_classes, classes, order)

    def score(self, document: str, filled: Sequence[Sequence[str]]) -> np.ndarray:
        """Negative log-probabilities (N, 3) of filled queries: global, local and class model."""
        texts = [self._encode(query) for query in filled]
        of_classes = [self._class_of[text].tolist() for text in texts]
        scores = (
            self._global.score(texts),
            self._local(document, filled),
            self._classes.score(of_classes),
        )
        return -np.stack(scores, axis=1)

    def _local(self, document: str, filled: Sequence[Sequence[str]]) -> np.ndarray:
        """Log-probabilities (N,) after the sentences of one document alone."""
        sentences = [line.split() for line in document.split("\n")]
        known = {word: n for n, word in enumerate(dict.fromkeys(document.split()))}
        for query in filled:
            for word in query:
                known.setdefault(word, len(known))
        texts = [[known[word] for word in sentence] for sentence in sentences]
        model = KneserNey(texts or [[]], max(len(known), 1), self.order)
        return model.score([[known[word] for word in query] for query in filled])

    def _encode(self, words: Sequence[str]) -> list[int]:
        return [self._ids.get(word, 0) for word in words]


def candidate_costs(
    frame: pd.DataFrame, probabilities: np.ndarray, models: CandidateModels, n_best: int = 5
) -> Reranking:
    """Scores the best candidates of every question.

    Args:
        frame: questions, as `zoo.data.cloze_format.read_cbt` returns them.
        probabilities: (q, most candidates), of
            `zoo.tasks.cloze.examples.ClozeEvaluator.probabilities`.
        models: the language models.
        n_best: N.

    Raises:
        ValueError: `n_best` is not positive, or the probabilities are of other questions.
    """
    if n_best < 1:
        raise ValueError(f"n_best must be at least 1, got {n_best}")
    if len(probabilities) != len(frame):
        raise ValueError(f"probabilities must have {len(frame)} rows, got {len(probabilities)}")
    costs = np.full((len(frame), n_best, len(FEATURES)), np.inf)
    kept = np.full((len(frame), n_best), -1, np.int64)
    answers = np.full(len(frame), -1, np.int64)
    columns = (frame[name] for name in ("document", "query", "answer", "candidates"))
    for row, (document, query, answer, candidates) in enumerate(zip(*columns, strict=True)):
        chances = probabilities[row, : len(candidates)].astype(np.float64)
        best = np.argsort(-chances, kind="stable")[:n_best]
        tokens = query.split()
        filled = [
            [candidates[choice] if word == PLACEHOLDER else word for word in tokens]
            for choice in best
        ]
        kept[row, : len(best)] = best
        costs[row, : len(best), 0] = -np.log(np.maximum(chances[best], _IMPOSSIBLE))
        costs[row, : len(best), 1:] = models.score(document, filled)
        found = np.flatnonzero(best == candidates.index(answer))
        if len(found) and chances[best[found[0]]] > 0:
            answers[row] = found[0]
    return Reranking(costs, kept, answers)


def tune(validation: Reranking, features: int, start: np.ndarray | None = None) -> np.ndarray:
    """Chooses weights (f,) by a coordinate search for the accuracy; that of the reader is 1.

    One weight after the other takes the value of a grid that is best with the others as they are,
    until no single change is better. Of equals the smallest is taken.

    Args:
        validation: what the accuracy is measured on.
        features: how many of `FEATURES`, the first ones, may have a weight.
        start: weights (f,) that are to be bettered; None: those of the reader alone.

    Raises:
        ValueError: `features` is not among 1 to the number of features.
    """
    if not 1 <= features <= len(FEATURES):
        raise ValueError(f"features must be from 1 to {len(FEATURES)}, got {features}")
    weights = np.eye(len(FEATURES))[0] if start is None else start
    reached, improved = validation.accuracy(weights), True
    while improved:
        improved = False
        for feature in range(1, features):
            for value in _GRID:
                tried = weights.copy()
                tried[feature] = value
                accuracy = validation.accuracy(tried)
                if accuracy > reached:
                    weights, reached, improved = tried, accuracy, True
    return weights


def gains(validation: Reranking, test: Reranking) -> list[Gain]:
    """Measures each feature's gain in the paper's order, with weights tuned on one part."""
    table, weights = [], None
    for count in range(1, len(FEATURES) + 1):
        weights = tune(validation, count, weights)
        table.append(
            Gain(
                FEATURES[:count],
                tuple(weights[:count].tolist()),
                validation.accuracy(weights),
                test.accuracy(weights),
            )
        )
    return table
