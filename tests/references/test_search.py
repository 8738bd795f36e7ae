"""Checks of the reference search itself."""

import numpy as np
import pytest

from tests.references.search import (
    END,
    Hypothesis,
    Rules,
    beam_search,
    enumerate_all,
    greedy,
    replace_unknown,
    sampling_distribution,
)

# Made by hand: from token to the probabilities of ids 0-5.
CHAIN = {
    2: [0.0, 0.1, 0.0, 0.3, 0.4, 0.2],
    1: [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    4: [0.0, 0.0, 0.0, 0.42, 0.28, 0.3],
    5: [0.0, 0.0, 0.0, 0.9, 0.1, 0.0],
}


def step(prefix):
    with np.errstate(divide="ignore"):
        return np.log(CHAIN[(2, *prefix)[-1]]), np.array([0.25, 0.75])


def probability(hypothesis):
    return round(np.exp(hypothesis.log_probability), 6)


def test_enumeration_finds_all_probability_there_is():
    everything = enumerate_all(step, Rules(4))
    assert sum(probability(hypothesis) for hypothesis in everything) == pytest.approx(1.0)
    assert len({hypothesis.tokens for hypothesis in everything}) == len(everything)
    assert [h.tokens for h in everything[:3]] == [(END,), (5, END), (4, END)]
    assert [probability(h) for h in everything[:3]] == [0.3, 0.18, 0.168]


def test_finished_ones_rank_first_however_unlikely():
    finished = [hypothesis.finished for hypothesis in enumerate_all(step, Rules(3))]
    assert finished == sorted(finished, reverse=True)
    assert False in finished


@pytest.mark.parametrize("normalisation", ["none", "length", "gnmt"])
@pytest.mark.parametrize("coverage", [0.0, 0.5])
def test_a_wide_beam_finds_what_enumeration_finds(normalisation, coverage):
    rules = Rules(4, normalisation=normalisation, coverage_penalty=coverage)
    everything = [h for h in enumerate_all(step, rules) if probability(h) > 0]
    assert beam_search(step, 6**4, rules, len(everything)) == everything


def test_a_beam_of_one_is_greedy():
    for rules in (Rules(5), Rules(5, minimum_length=2), Rules(1)):
        assert beam_search(step, 1, rules) == [greedy(step, rules)]


def test_scores_by_hand():
    hypothesis = Hypothesis((4, 5, END), -3.0, (np.array([0.25, 0.75]),) * 3)
    assert Rules(9).score(hypothesis) == -3.0
    assert Rules(9, normalisation="length").score(hypothesis) == -1.0
    gnmt = Rules(9, normalisation="gnmt", length_penalty=2.0)
    assert gnmt.score(hypothesis) == pytest.approx(-3.0 / (8 / 6) ** 2)
    covered = Rules(9, coverage_penalty=2.0)
    assert covered.score(hypothesis) == pytest.approx(-3.0 + 2.0 * np.log(0.75))


def test_what_may_be_emitted():
    assert Rules(9).allowed(6, 0) == [1, 3, 4, 5]
    assert Rules(9, minimum_length=2, forbid_unknown=True).allowed(6, 1) == [4, 5]
    assert Rules(9, minimum_length=2, forbid_unknown=True).allowed(6, 2) == [3, 4, 5]


def test_sampling_distribution_by_hand():
    logs = np.log([0.5, 0.1, 0.1, 0.1, 0.15, 0.05])
    allowed = [1, 3, 4, 5]
    whole = np.array([0, 0.25, 0, 0.25, 0.375, 0.125])
    np.testing.assert_allclose(sampling_distribution(logs, allowed), whole)
    two = sampling_distribution(logs, allowed, top_k=2)
    np.testing.assert_allclose(two, [0, 0.4, 0, 0, 0.6, 0])
    nucleus = sampling_distribution(logs, allowed, top_p=0.65)
    np.testing.assert_allclose(nucleus, whole * [0, 1, 0, 1, 1, 0] / 0.875)
    flat = sampling_distribution(logs, allowed, temperature=1e9)
    np.testing.assert_allclose(flat, [0, 0.25, 0, 0.25, 0.25, 0.25], atol=1e-6)


def test_unknown_words_by_hand():
    alignment = np.array([[0.1, 0.9, 0.0], [0.6, 0.3, 0.1], [0.0, 0.0, 1.0]])
    pieces, ids = ["<unk>", "x", "<unk>"], [1, 7, 1]
    assert replace_unknown(pieces, ids, alignment, ["a", "b"]) == ["b", "x", "<unk>"]
    shifted = replace_unknown(pieces, ids, alignment, ["a", "b"], {"a": "A"}, "input")
    assert shifted == ["A", "x", "<unk>"]
