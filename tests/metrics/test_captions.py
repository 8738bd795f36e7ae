"""Metrics of captions against loops over their definitions, and values worked out by hand."""

import math
from collections import Counter

import numpy as np
import pytest

from zoo.metrics.captions import cider_d, normalise_caption, pointing, score_captions

CAPTIONS = ["a dog runs over the grass", "a man rides a horse", "two children play"]
REFERENCES = [
    ["a brown dog runs over green grass", "the dog is running over the grass"],
    ["a man rides a horse", "a rider on a horse", "the man is on a horse"],
    ["two girls play in the sand"],
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A Dog runs .", "a dog runs"),
        ('two  tri-colored dogs, "one\'s" wet!', "two tricolored dogs ones wet"),
        ("5 men & 1 boy", "5 men 1 boy"),
        ("ÉTÉ à la plage…", "été à la plage"),
        (" . ", ""),
        ("un cafe\u0301", "un caf\u00e9"),
        ("A dog ❤\ufe0f, 👩\u200d👧 1\ufe0f do\u200dg", "a dog 1 dog"),
    ],
)
def test_captions_are_compared_in_lower_case_without_punctuation(text, expected):
    assert normalise_caption(text) == expected
    assert normalise_caption(expected) == expected


def ngrams(words, order):
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))


def bleu_by_loops(captions, references, largest):
    """Cumulative BLEU with the closest reference length; a tie takes the shorter."""
    matches, totals = np.zeros(largest), np.zeros(largest)
    written = read = 0
    for caption, several in zip(captions, references, strict=True):
        words = caption.split()
        written += len(words)
        lengths = [len(one.split()) for one in several]
        read += min(lengths, key=lambda length: (abs(length - len(words)), length))
        for order in range(1, largest + 1):
            own = ngrams(words, order)
            known = Counter()
            for one in several:
                known |= ngrams(one.split(), order)
            matches[order - 1] += sum(min(own[gram], known[gram]) for gram in own)
            totals[order - 1] += sum(own.values())
    penalty = min(1.0, math.exp(1 - read / written))
    return 100 * penalty * math.exp(np.mean(np.log(matches / totals)))


def cider_by_loops(captions, references):
    """Equations 1 to 4 of the paper, as the official script computes them."""
    pictures = len(captions)

    def weighted(words, order):
        vector = {}
        for gram, count in ngrams(words, order).items():
            having = sum(
                any(gram in ngrams(one.split(), order) for one in several) for several in references
            )
            vector[gram] = count * (math.log(pictures) - math.log(max(1, having)))
        return vector

    scores = []
    for caption, several in zip(captions, references, strict=True):
        of_references = []
        for one in several:
            own_words, words = caption.split(), one.split()
            total = 0.0
            for order in (1, 2, 3, 4):
                own, other = weighted(own_words, order), weighted(words, order)
                norm = math.hypot(*own.values()) * math.hypot(*other.values())
                shared = sum(
                    min(own[gram], other.get(gram, 0)) * other.get(gram, 0) for gram in own
                )
                total += shared / norm if norm else 0.0
            total *= math.exp(-((len(own_words) - len(words)) ** 2) / (2 * 6.0**2))
            of_references.append(10 * total / 4)
        scores.append(np.mean(of_references))
    return float(np.mean(scores))


def test_all_scores_equal_loops_over_their_definitions():
    scores = score_captions(["A dog runs, over the grass!", *CAPTIONS[1:]], REFERENCES)
    for order in (1, 2, 3, 4):
        expected = bleu_by_loops(CAPTIONS, REFERENCES, order)
        assert scores.values[f"bleu_{order}"] == pytest.approx(expected)
    assert scores.values["cider_d"] == pytest.approx(100 * cider_by_loops(CAPTIONS, REFERENCES))
    assert "tok:none" in scores.signature
    assert "nrefs:var" in scores.signature


def test_cider_of_a_random_corpus_equals_loops():
    generator = np.random.default_rng(4)

    def sentence():
        return " ".join(generator.choice(list("abcdefg"), generator.integers(1, 9)))

    captions = [sentence() for _ in range(12)]
    references = [[sentence() for _ in range(generator.integers(1, 4))] for _ in captions]
    assert cider_d(captions, references) == pytest.approx(cider_by_loops(captions, references))


def test_cider_by_hand():
    """Two pictures without a common word: each 1-gram weighs log 2, and the score is the largest.

    Of three words, orders 1 to 3 have a cosine of 1, and the fourth has no 4-gram.
    """
    assert cider_d(["a b c", "d e f"], [["a b c"], ["d e f"]]) == pytest.approx(7.5)
    assert cider_d(["a b c d", "e f g h"], [["a b c d"], ["e f g h"]]) == pytest.approx(10.0)
    assert cider_d(["x", "y"], [["a"], ["b"]]) == 0.0


def test_words_of_all_pictures_weigh_nothing_and_repeated_ones_do_not_pay():
    assert cider_d(["a", "a"], [["a"], ["a"]]) == 0.0
    once = cider_d(["b a", "c"], [["b a"], ["c"]])
    assert cider_d(["b b b a", "c"], [["b a"], ["c"]]) < once


def test_missing_captions_and_references_are_refused():
    with pytest.raises(ValueError, match=r"references must be a list for each .* got 0 captions"):
        score_captions([], [])
    with pytest.raises(ValueError, match=r"got 1 captions and 2 lists"):
        cider_d(["a"], [["a"], ["b"]])
    with pytest.raises(ValueError, match=r"references\[1\] must be a list of at least one"):
        cider_d(["a", "b"], [["a"], []])


@pytest.mark.parametrize(
    ("cell", "hit"),
    [
        ((1, 1), True),  # inside
        ((0, 1), True),  # overlaps the upper edge
        ((2, 2), False),  # only touches the corner
        ((1, 2), False),
        ((3, 1), False),
    ],
)
def test_a_cell_points_at_a_box_that_it_overlaps(cell, hit):
    assert pointing(cell, (4, 4), (7, 9, 16, 16), 32) is hit
