"""Word classes by the exchange algorithm, which maximises the text's likelihood.

Uszkoreit and Brants, "Distributed Word Clustering for Large Scale Class-Based Language Modeling in
Machine Translation", ACL 2008, section 3: the predictive model ``P(c(w_i) | w_{i-1}) P(w_i | c)``,
whose likelihood up to a constant is ``sum_vc N(v, c) log N(v, c) - sum_c N(c) log N(c)``. The
exchange algorithm is Kneser and Ney's (1993): words change class one at a time as long as the
likelihood grows.
"""

import logging
from collections.abc import Sequence

import numpy as np


def word_classes(
    texts: Sequence[Sequence[int]],
    vocabulary_size: int,
    classes: int,
    *,
    iterations: int = 5,
    logger: logging.Logger | None = None,
) -> np.ndarray:
    """Clusters words into classes.

    Args:
        texts: ids in [0, vocabulary_size).
        vocabulary_size: V.
        classes: maximum number of classes.
        iterations: maximum number of passes over all words; the search ends early if no word moves.
            A pass costs (distinct pairs of neighbours) x classes.
        logger: gets one line per pass.

    Returns:
        int64 (V,), the class of each word; words that occur nowhere, or only as the first word of
        texts, are in the last one.

    Raises:
        ValueError: a size or the number of iterations is not positive, or an id is out of range.
    """
    for name, value in (
        ("vocabulary_size", vocabulary_size),
        ("classes", classes),
        ("iterations", iterations),
    ):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    state = _Exchange(_checked(texts, vocabulary_size), vocabulary_size, classes)
    for iteration in range(iterations):
        moved = sum(state.move(word) for word in state.by_frequency)
        if logger is not None:
            logger.info("word classes, pass %d: %d words moved", iteration + 1, moved)
        if not moved:
            break
    return state.class_of


def _checked(texts: Sequence[Sequence[int]], words: int) -> list[np.ndarray]:
    """Makes arrays of the texts that are not empty; refuses what is not an id."""
    arrays = [np.asarray(text) for text in texts if len(text)]
    for ids in arrays:
        if ids.dtype.kind not in "iu":
            raise ValueError(f"texts must hold whole numbers, got {ids.dtype}")
        for one in (ids.min(), ids.max()):
            if not 0 <= one < words:
                raise ValueError(f"texts must hold ids from 0 to {words - 1}, got {one}")
    return arrays


class _Exchange:
    """Counts of word pairs and of classes after words, updated as words move."""

    def __init__(self, texts: Sequence[np.ndarray], words: int, classes: int) -> None:
        pairs = [np.stack([text[:-1], text[1:]]) for text in texts]
        before, after = np.concatenate([*pairs, np.zeros((2, 0))], axis=1).astype(np.int64)
        keys, counts = np.unique(after * words + before, return_counts=True)
        followed, self._before = np.divmod(keys, words)
        self._counts = counts.astype(np.float64)
        self._bounds = np.searchsorted(followed, np.arange(words + 1))
        frequency = np.bincount(after, minlength=words)
        self.by_frequency = [w for w in np.argsort(-frequency, kind="stable") if frequency[w]]
        self._frequency = frequency.astype(np.float64)
        # The most frequent words start in different classes; the others join them in turn.
        self.class_of = np.full(words, classes - 1, np.int64)
        self.class_of[self.by_frequency] = np.arange(len(self.by_frequency)) % classes
        self._after = np.zeros((words, classes), np.float32)  # N(v, c)
        np.add.at(self._after, (self._before, self.class_of[followed]), counts)
        self._total = np.bincount(self.class_of, self._frequency, minlength=classes)  # N(c)

    def move(self, word: int) -> bool:
        """Moves a word to its best class; returns whether the class changed."""
        own = slice(self._bounds[word], self._bounds[word + 1])
        before, counts, many = self._before[own], self._counts[own], self._frequency[word]
        old = self.class_of[word]
        self._after[before, old] -= counts
        self._total[old] -= many
        rows = self._after[before].astype(np.float64)  # (words before, classes)
        gains = (_x_log_x(rows + counts[:, None]) - _x_log_x(rows)).sum(axis=0)
        gains -= _x_log_x(self._total + many) - _x_log_x(self._total)
        best = int(np.argmax(gains))
        if gains[best] <= gains[old] + 1e-9:  # a tie changes nothing
            best = old
        self._after[before, best] += counts
        self._total[best] += many
        self.class_of[word] = best
        return best != old


def _x_log_x(values: np.ndarray) -> np.ndarray:
    return values * np.log(np.maximum(values, 1.0))
