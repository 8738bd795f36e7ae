"""Word classes: likelihood by its definition, and what exchange must find."""

import itertools
import logging
import math
from collections import Counter

import numpy as np
import pytest

from zoo.text.word_classes import word_classes

NOUNS, VERBS, ENDS = range(4), range(4, 8), range(8, 10)


def phrases(count=400):
    """A noun, a verb and an end: words of one kind stand after the same words."""
    generator = np.random.default_rng(0)
    return [[int(generator.choice(kind)) for kind in (ENDS, NOUNS, VERBS)] for _ in range(count)]


def likelihood(texts, class_of):
    pairs = Counter(p for text in texts for p in itertools.pairwise(text))
    after, total = Counter(), Counter()
    for (before, word), count in pairs.items():
        after[before, class_of[word]] += count
        total[class_of[word]] += count
    return sum(n * math.log(n) for n in after.values()) - sum(
        n * math.log(n) for n in total.values()
    )


def test_words_that_stand_after_the_same_words_are_of_one_class():
    found = word_classes(phrases(), 10, 2, iterations=20)
    assert len(set(found[list(NOUNS)])) == 1
    assert len(set(found[list(VERBS)])) == 1
    assert found[0] != found[4]


@pytest.mark.parametrize("seed", range(4))
def test_in_the_end_no_single_move_is_better(seed):
    generator = np.random.default_rng(seed)
    texts = [generator.integers(0, 7, 12).tolist() for _ in range(6)]
    found = word_classes(texts, 7, 3, iterations=100)
    reached = likelihood(texts, found)
    for word, other in itertools.product(range(7), range(3)):
        moved = found.copy()
        moved[word] = other
        assert likelihood(texts, moved) <= reached + 1e-6


def test_more_passes_are_never_worse():
    texts = phrases(60)
    reached = [likelihood(texts, word_classes(texts, 10, 3, iterations=n)) for n in (1, 2, 5)]
    assert reached == sorted(reached)


def test_every_word_has_a_class_also_those_that_do_not_occur():
    found = word_classes([[0, 1, 0], [], [2]], 5, 3)
    assert found.shape == (5,)
    assert set(found) <= {0, 1, 2}
    assert found[[3, 4]].tolist() == [2, 2]
    assert word_classes([], 2, 4).tolist() == [3, 3]


def test_one_class_is_for_all_words():
    assert set(word_classes(phrases(5), 10, 1)) == {0}


def test_it_says_how_far_it_is(caplog):
    with caplog.at_level(logging.INFO):
        word_classes(phrases(50), 10, 2, logger=logging.getLogger("classes"))
    assert "word classes, pass 1" in caplog.text


@pytest.mark.parametrize("name", ["vocabulary_size", "classes", "iterations"])
def test_bad_arguments_are_refused(name):
    arguments = {"vocabulary_size": 10, "classes": 2, "iterations": 1} | {name: 0}
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        word_classes(phrases(3), **arguments)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([[1], [5, 0]], "ids from 0 to 3, got 5"),
        ([[0, -1]], "ids from 0 to 3, got -1"),
        ([[4]], "ids from 0 to 3, got 4"),
        ([[0.0, 1.5]], "whole numbers, got float64"),
    ],
)
def test_what_is_not_an_id_is_refused(texts, message):
    with pytest.raises(ValueError, match=f"texts must hold {message}"):
        word_classes(texts, 4, 2)


def test_a_word_that_occurs_only_first_is_in_the_last_class():
    assert word_classes([[2, 0], [2, 1], [2, 0, 1, 0]], 4, 3)[[2, 3]].tolist() == [2, 2]
