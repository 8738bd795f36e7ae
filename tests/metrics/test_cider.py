"""CIDEr-D against an implementation of its own, figures by hand, and properties of the paper."""

import math
import random

import pytest

from tests.metrics import cider as reference
from zoo.metrics.captions import cider_d

PICTURES = [
    ["a brown dog runs over green grass", "the dog is running over the grass", "a dog"],
    ["a man rides a horse", "a rider on a horse", "the man is on a horse", "a man rides a horse"],
    ["two girls play in the sand"],
    ["a dog sleeps on the sand", "the brown dog is asleep"],
]
CANDIDATES = [
    ["a brown dog runs over green grass", "a man rides a horse", "two girls play", "a dog sleeps"],
    ["a dog a dog a dog a dog", "horse", "", "the brown dog is asleep on the sand of the beach"],
    ["two girls play in the sand", "a dog sleeps on the sand", "a man", "words of no reference"],
    ["the the the the the", "a a a a a a a a a a a a a a a", "sand sand in in", "dog brown the"],
]


@pytest.mark.parametrize("candidates", CANDIDATES)
def test_captions_with_several_references(candidates):
    expected = reference.cider_d(candidates, PICTURES)
    assert cider_d(candidates, PICTURES) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_captions_of_random_words(seed):
    generator = random.Random(seed)

    def sentence(least):
        return " ".join(generator.choices("abcdef", k=generator.randint(least, 14)))

    corpus = [[sentence(1) for _ in range(generator.randint(1, 5))] for _ in range(9)]
    candidates = [sentence(0) for _ in corpus]
    expected = reference.cider_d(candidates, corpus)
    assert expected > 0.01
    assert cider_d(candidates, corpus) == pytest.approx(expected, rel=1e-12)


BY_HAND = [
    # 1-grams share two of two and three words, 2-grams one of one and two; one word is missing.
    ("a b", ["a b c"], 2.5 * (math.sqrt(2 / 3) + math.sqrt(1 / 2)) * math.exp(-1 / 72)),
    # Of five equal words one counts; without clipping, this would be five times as much.
    ("a a a a a", ["a b"], 2.5 * math.exp(-9 / 72) / (5 * math.sqrt(2))),
    # The mean over references: the first one fits, the second one not at all.
    ("a b c d", ["a b c d", "e f g h"], 5.0),
    # The words are in another order, which 1-grams do not see.
    ("b a", ["a b"], 2.5),
]


@pytest.mark.parametrize(("candidate", "references", "expected"), BY_HAND)
def test_figures_by_hand(candidate, references, expected):
    """The other picture has no word in common, so each n-gram weighs log 2, which cancels."""
    corpus = [references, ["x y"]]
    both = cider_d([candidate, "x y"], corpus)
    assert both == pytest.approx((expected + 5.0) / 2)  # "x y" has two of four orders
    assert reference.cider_d([candidate, "x y"], corpus) == pytest.approx(both)


def test_equal_captions_have_the_highest_score():
    corpus = [[f"{a}1 {a}2 {a}3 {a}4 {a}5"] for a in "abc"]
    equal = [several[0] for several in corpus]
    assert cider_d(equal, corpus) == pytest.approx(10.0)
    assert cider_d(equal, [several * 3 for several in corpus]) == pytest.approx(10.0)


def test_a_caption_gains_nothing_by_more_of_the_rarest_words():
    """Why CIDEr-D is clipped and knows the lengths: else repeated words would pay."""
    corpus = [["a red dog runs fast"], ["a cat sleeps there now"]]
    right = cider_d(["a red dog runs fast", "a"], corpus)
    scores = [cider_d([f"a red dog runs fast{' fast' * n}", "a"], corpus) for n in range(1, 9)]
    assert right > scores[0]
    assert scores == sorted(scores, reverse=True)


def test_the_order_of_references_and_pictures_says_nothing():
    candidates = CANDIDATES[0]
    expected = cider_d(candidates, PICTURES)
    turned = [several[::-1] for several in PICTURES]
    assert cider_d(candidates, turned) == pytest.approx(expected)
    assert cider_d(candidates[::-1], PICTURES[::-1]) == pytest.approx(expected)
    doubled = [several * 2 for several in PICTURES]
    assert cider_d(candidates, doubled) == pytest.approx(expected)


@pytest.mark.parametrize("more", range(13))
def test_another_length_costs_a_gaussian_of_six_words(more):
    """The word "of" is in all pictures: it weighs nothing, but it is counted."""
    corpus = [["a of"], ["of b"]]
    one = 2.5  # of 1-grams: "a" is in both
    two = 2.5 / math.sqrt(1 + more**2)  # "a of" is in both, "of of" in the caption, `more` times
    expected = (one + two) * math.exp(-(more**2) / 72) / 2
    assert cider_d(["a of" + " of" * more, ""], corpus) == pytest.approx(expected)
