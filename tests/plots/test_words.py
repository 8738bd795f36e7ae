"""Subwords put together to words, and their weights with them."""

import numpy as np
import pytest

from zoo.plots.words import merge, whole_words

PIECES = ["▁A", b"\xe2\x96\x81frozen", "▁la", "ke", "-", "side", ".", "</s>", b"\xff"]
CASES = [
    (PIECES, ["A", "frozen", "lake", "-", "side", ".", "</s>", "\ufffd"]),
    (["▁", "a", "b", "▁c"], ["ab", "c"]),
    (["▁", "▁c"], ["▁", "c"]),
    (["<s>", "▁x", "<unk>", "y"], ["<s>", "x", "<unk>", "y"]),
    (["a", "b", "."], ["a", "b", "."]),
    (["▁x", "constructor"], ["xconstructor"]),
    ([], []),
]


@pytest.mark.parametrize(("tokens", "expected"), CASES)
def test_subwords_become_words(tokens, expected):
    words = whole_words(tokens)
    assert [word.text for word in words] == expected
    members = [member for word in words for member in word.members]
    assert members == list(range(len(tokens)))


def test_weights_are_means_over_queries_and_sums_over_keys():
    words = whole_words(PIECES)
    each = whole_words(["x"] * len(PIECES))
    weights = np.pad(np.eye(len(PIECES)), ((0, 2), (0, 1)), constant_values=9.0)  # padding
    np.testing.assert_array_equal(merge(weights, words, each)[2], [0, 0, 0.5, 0.5, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(merge(weights, each, words)[2], [0, 0, 1, 0, 0, 0, 0, 0])
    stacked = np.stack([weights, 2 * weights])[None]  # (layers, heads, queries, keys)
    np.testing.assert_array_equal(merge(stacked, words, words)[0, 1], 2 * np.eye(len(words)))
