"""Kneser-Ney models against the equation, written out with dictionaries, and enumeration."""

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from zoo.text.kneser_ney import KneserNey

SIZE, START, END = 4, "<s>", "</s>"
TEXTS = [[0, 1, 2], [0, 1, 0, 1, 3], [2], [], [0, 1, 2], [1, 1, 1]]


class Plain:
    """The equation for one history at a time."""

    def __init__(self, texts, order, discounts):
        self.order, self.discounts = order, discounts
        self.counts = [defaultdict(Counter) for _ in range(order + 1)]
        kinds = set()
        for text in texts:
            words = [START, *text, END]
            for n in range(1, order + 1):
                for i in range(len(words) - n + 1):
                    gram = tuple(words[i : i + n])
                    if n == order or gram[0] == START:
                        self.counts[n][gram[:-1]][gram[-1]] += 1
                    if n > 1 and gram not in kinds:
                        kinds.add(gram)
                        if gram[1] != START:
                            self.counts[n - 1][gram[1:-1]][gram[-1]] += 1
        del self.counts[1][()][START]

    def chance(self, word, history):
        history = tuple(history)[max(0, len(history) - self.order + 1) :]
        followers = self.counts[len(history) + 1].get(history, Counter())
        lower = self.chance(word, history[1:]) if history else 1 / (SIZE + 1)
        total = sum(followers.values())
        if not total:
            return lower
        discount = self.discounts[len(history)]
        kept = max(followers[word] - discount, 0) / total
        return kept + discount * len([c for c in followers.values() if c]) / total * lower

    def score(self, text):
        words = [START, *text, END]
        return sum(math.log(self.chance(words[i], words[:i])) for i in range(1, len(words)))


@pytest.mark.parametrize("order", [1, 2, 3, 4, 8])
def test_scores_are_the_equation_s(order):
    model = KneserNey(TEXTS, SIZE, order)
    plain = Plain(TEXTS, order, model.discounts)
    asked = [*TEXTS, *itertools.product(range(SIZE), repeat=3), [3, 3, 3, 2, 1, 0, 0, 1, 2]]
    expected = [plain.score(text) for text in asked]
    np.testing.assert_allclose(model.score(asked), expected, rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_random_texts_too(order, seed):
    generator = np.random.default_rng(seed)
    texts = [generator.integers(0, SIZE, generator.integers(0, 9)).tolist() for _ in range(30)]
    model = KneserNey(texts[:20], SIZE, order)
    plain = Plain(texts[:20], order, model.discounts)
    np.testing.assert_allclose(model.score(texts), [plain.score(t) for t in texts], rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_what_may_follow_a_beginning_sums_to_one(order):
    """The texts of at most two words, and the beginnings of three, are all there is."""
    model = KneserNey(TEXTS, SIZE, order)
    whole = [t for n in range(3) for t in itertools.product(range(SIZE), repeat=n)]
    ended = np.exp(model.score(whole)).sum()
    plain = Plain(TEXTS, order, model.discounts)
    begun = 0.0
    for text in itertools.product(range(SIZE), repeat=3):
        words = [START, *text]
        begun += math.prod(plain.chance(words[i], words[:i]) for i in range(1, 4))
    assert ended + begun == pytest.approx(1.0, rel=1e-12)


def test_discounts_are_estimated_from_what_occurs_once_and_twice():
    model = KneserNey([[0, 1], [0, 1], [0, 2], [3]], SIZE, 2)
    # Bigrams: once <s> 3, 3 </s>, 0 2, 2 </s>; twice 0 1, 1 </s>; three times <s> 0.
    assert model.discounts[1] == pytest.approx(4 / (4 + 2 * 2))


def test_a_text_seen_often_is_more_probable_than_its_words_in_another_order():
    model = KneserNey([[0, 1, 2, 3]] * 5 + [[3], [2, 2]], SIZE, 4)
    seen, other = model.score([[0, 1, 2, 3], [3, 2, 1, 0]])
    assert seen > other + 5


def test_no_text_has_no_score():
    assert KneserNey(TEXTS, SIZE, 2).score([]).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((TEXTS, SIZE, 0), "order must be at least 1, got 0"),
        ((TEXTS, 0, 2), "vocabulary_size must be at least 1, got 0"),
        (([], SIZE, 2), "texts must hold one text"),
        (([[0, SIZE]], SIZE, 2), "ids from 0 to 3"),
        (([[SIZE + 1]], SIZE, 2), "ids from 0 to 3"),
        (([[-1]], SIZE, 2), "ids from 0 to 3"),
        (([[0, 1.7]], SIZE, 2), "whole numbers as ids, got float64"),
        ((["ab"], SIZE, 2), "whole numbers as ids, got <U"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        KneserNey(*arguments)
    if "ids" in message:
        with pytest.raises(ValueError, match=message):
            KneserNey(TEXTS, SIZE, 2).score(arguments[0])
