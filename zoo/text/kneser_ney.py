"""Interpolated Kneser-Ney language models over ids, in sorted arrays.

Kneser and Ney, "Improved backing-off for m-gram language modeling", ICASSP 1995, interpolated as in
Chen and Goodman, "An Empirical Study of Smoothing Techniques for Language Modeling", 1999,
equation 22, with one discount per order. It needs only NumPy; millions of words take seconds.

``P_n(w | h) = max(c(h w) - D_n, 0) / c(h .) + D_n N1+(h .) / c(h .) P_{n-1}(w | h')``, h' being h
without its first word; ``P_n = P_{n-1}`` where h was not seen; ``P_0`` is uniform. In the highest
order c is a count. In lower orders it is the number of different words seen before ``h w``, except
where h begins with the start of a text: no word precedes that, so c is a count again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_DISCOUNTS = (0.1, 0.95)  # with few texts the estimate may be a useless 0 or 1


@dataclass(frozen=True)
class _Order:
    """N-grams of one order, sorted by key.

    Attributes:
        keys: (grams,) int64, increasing: the index, in the order below, of the gram without its
            last word, times the number of words, plus the last word.
        counts: (grams,) c of each gram.
        discount: D_n.
        totals: c(h .) of each gram h of the order below.
        kinds: N1+(h .), number of different words that follow h.
    """

    keys: np.ndarray
    counts: np.ndarray
    discount: float
    totals: np.ndarray
    kinds: np.ndarray


_Grams = tuple[np.ndarray, np.ndarray, np.ndarray, int]
"""Keys, counts, flags of grams that begin a text, and number of grams of the order below."""


class KneserNey:
    """Language model of texts given as sequences of ids.

    Args:
        texts: training texts; ids in [0, vocabulary_size).
        vocabulary_size: V. The model also predicts the end of a text: V + 1 events.
        order: length of the longest n-gram, at least 1.

    Raises:
        ValueError: an argument is out of range, or there is no text.
    """

    def __init__(self, texts: Sequence[Sequence[int]], vocabulary_size: int, order: int) -> None:
        if order < 1:
            raise ValueError(f"order must be at least 1, got {order}")
        if vocabulary_size < 1:
            raise ValueError(f"vocabulary_size must be at least 1, got {vocabulary_size}")
        if not len(texts):
            raise ValueError("texts must hold one text at least")
        self.vocabulary_size = vocabulary_size
        self._events = vocabulary_size + 1
        self._words = vocabulary_size + 2  # including the start, which is never predicted
        flat, left = self._flatten(texts)
        self._orders = self._count(flat, left, order)

    @property
    def discounts(self) -> list[float]:
        """Returns D_n of each order, from 1 on."""
        return [order.discount for order in self._orders]

    def score(self, texts: Sequence[Sequence[int]]) -> np.ndarray:
        """Computes the log-probability of each text, end included: float64 (texts,).

        Raises:
            ValueError: an id is not in [0, vocabulary_size).
        """
        if not len(texts):
            return np.zeros(0)
        flat, left = self._flatten(texts)
        logarithms = np.log(self._probabilities(flat, left))
        logarithms[left == 0] = 0.0  # starts are not predicted
        return np.add.reduceat(logarithms, np.flatnonzero(left == 0))

    def _flatten(self, texts: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
        """Joins all texts with starts and ends, and returns each word's distance from its start."""
        end, start = self.vocabulary_size, self.vocabulary_size + 1
        flat = np.concatenate([[start, *text, end] for text in texts])
        if flat.dtype.kind not in "iu":
            raise ValueError(f"texts must hold whole numbers as ids, got {flat.dtype}")
        flat = flat.astype(np.int64)
        lengths = np.array([len(text) + 2 for text in texts])
        first = np.repeat(np.cumsum(lengths) - lengths, lengths)
        left = np.arange(len(flat)) - first
        inside = flat[(left > 0) & (flat != end)]
        if (
            len(inside) != lengths.sum() - 2 * len(texts)
            or (inside < 0).any()
            or (inside >= self.vocabulary_size).any()
        ):
            raise ValueError(f"texts must hold ids from 0 to {self.vocabulary_size - 1}")
        return flat, left

    def _count(self, flat: np.ndarray, left: np.ndarray, order: int) -> list[_Order]:
        """Counts the n-grams of every order."""
        grams = np.zeros(len(flat), np.int64)  # index of the gram that ENDS at each word
        parents, found = 1, list[_Grams]()
        for n in range(1, order + 1):
            whole = np.flatnonzero(left >= n - 1)
            prefix = grams[whole - 1] if n > 1 else grams[whole]
            keys, first, numbers, counts = np.unique(
                prefix * self._words + flat[whole],
                return_index=True,
                return_inverse=True,
                return_counts=True,
            )
            suffix = grams[whole[first]]  # the gram without its first word
            if n > 1:  # number of words before each gram of the order below
                before = np.bincount(suffix, minlength=parents)
                found[-1] = _continued(found[-1], before)
            grams = np.full(len(flat), -1, np.int64)
            grams[whole] = numbers
            at_start = left[whole[first]] == n - 1
            found.append((keys, counts, at_start, parents))
            parents = len(keys)
        return [self._order(n, *one[:2], one[3]) for n, one in enumerate(found, 1)]

    def _order(self, n: int, keys: np.ndarray, counts: np.ndarray, parents: int) -> _Order:
        """Sums the counts of one order."""
        if n == 1:  # the start is not predicted
            counts = np.where(keys == self._words - 1, 0, counts)
        of = keys // self._words
        once, twice = ((counts == times).sum() for times in (1, 2))
        discount = once / (once + 2 * twice) if once else 0.0
        return _Order(
            keys=keys,
            counts=counts.astype(np.float64),
            discount=float(np.clip(discount, *_DISCOUNTS)),
            totals=np.bincount(of, counts, minlength=parents),
            kinds=np.bincount(of, counts > 0, minlength=parents),
        )

    def _probabilities(self, flat: np.ndarray, left: np.ndarray) -> np.ndarray:
        """Computes P of each word given the words before it, as far as the order reaches."""
        chances = np.full(len(flat), 1.0 / self._events)
        grams = np.zeros(len(flat), np.int64)
        for n, order in enumerate(self._orders, 1):
            if not len(order.keys):  # all texts are shorter
                break
            context = grams if n == 1 else np.concatenate([[-1], grams[:-1]])
            context = np.where(left >= n - 1, context, -1)
            keys = context * self._words + flat
            place = np.minimum(np.searchsorted(order.keys, keys), len(order.keys) - 1)
            seen = (context >= 0) & (order.keys[place] == keys)
            grams = np.where(seen, place, -1)
            total = np.where(context >= 0, order.totals[context], 0.0)
            count = np.where(seen, order.counts[place], 0.0)
            safe = np.maximum(total, 1.0)
            direct = np.maximum(count - order.discount, 0.0) / safe
            rest = order.discount * order.kinds[context] / safe
            chances = np.where(total > 0, direct + rest * chances, chances)
        return chances


def _continued(grams: _Grams, before: np.ndarray) -> _Grams:
    """Converts counts to those of a lower order: distinct preceding words, not occurrences."""
    keys, counts, at_start, parents = grams
    return keys, np.where(at_start, counts, before), at_start, parents
