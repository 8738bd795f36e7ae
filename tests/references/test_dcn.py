"""Statements of the papers that the references of DCN and DCN+ must satisfy themselves."""

import numpy as np
import pytest

from tests.references import dcn, dcn_plus
from tests.references.recurrent import softmax

SCORES = np.log(np.array([0.1, 0.2, 0.3, 0.4]))


@pytest.mark.parametrize(
    ("spans", "active"),
    [
        ([(0, 3)], [1]),
        ([(0, 3), (1, 2)], [1, 0]),
        ([(1, 2), (1, 2), (0, 3)], [1, 1, 0]),
        ([(1, 2), (1, 3), (1, 2), (1, 2)], [1, 1, 1, 1]),
    ],
)
def test_an_iteration_is_active_until_one_has_confirmed_its_estimates(spans, active):
    assert dcn.active_iterations(np.array(spans), 4).tolist() == [bool(flag) for flag in active]


@pytest.mark.parametrize(
    ("maximum_length", "expected"), [(1, (0, 0)), (2, (0, 1)), (3, (0, 1)), (4, (0, 3))]
)
def test_best_span_weighs_both_ends_within_the_limit(maximum_length, expected):
    start, end = np.log([0.6, 0.2, 0.1, 0.1]), np.log([0.19, 0.3, 0.01, 0.5])
    *span, score = dcn.best_span(start, end, maximum_length)
    assert tuple(span) == expected
    np.testing.assert_allclose(score, start[expected[0]] + end[expected[1]])


def test_loss_counts_active_iterations_only_when_it_halts():
    result = {
        "start_scores": np.stack([SCORES, SCORES]),
        "end_scores": np.stack([SCORES, SCORES + 7.0]),
        "active": np.array([True, False]),
    }
    one = -np.log(0.2) - np.log(0.4)
    np.testing.assert_allclose(dcn.loss(result, (1, 3), "halt"), one)
    np.testing.assert_allclose(dcn.loss(result, (1, 3), "all"), 2.0 * one)


@pytest.mark.parametrize(
    ("span", "expected"),
    [((2, 4), 1.0), ((3, 3), 0.5), ((4, 7), 2 / 7), ((5, 6), 0.0), ((4, 2), 0.0)],
)
def test_span_f1_counts_common_words(span, expected):
    assert dcn_plus.span_f1(span, (2, 4)) == pytest.approx(expected)


def test_reinforcement_loss_rewards_a_sample_better_than_the_greedy_span():
    result = {"start_scores": SCORES[None], "end_scores": SCORES[None], "span": np.array([3, 3])}
    better = dcn_plus.reinforcement_loss(result, np.array([[0, 1]]), (0, 1))
    np.testing.assert_allclose(better, -(1.0 - 0.0) * np.log(0.1 * 0.2))
    same = dcn_plus.reinforcement_loss(result, np.array([[3, 3]]), (0, 1))
    assert same == 0.0


def test_mixed_objective_has_its_minimum_where_the_variance_is_the_loss():
    logarithms = np.linspace(-1.0, 2.0, 3001)
    totals = [dcn_plus.mixed_objective(5.0, 0.0, s, 0.0) for s in logarithms]
    np.testing.assert_allclose(logarithms[np.argmin(totals)], 0.5 * np.log(5.0), atol=1e-3)


def test_experts_are_the_two_with_the_best_gates():
    inputs = np.array([1.0, -2.0])
    weights = {
        "W_g": np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 0.0]]),  # gates 1, -2, 3
        "W_1": np.stack([np.full((1, 2), k) for k in (1.0, 10.0, 100.0)]),
        "b_1": np.array([[0.5], [0.0], [0.0]]),
    }
    expected = softmax(np.array([3.0, 1.0])) @ np.array([-100.0, -0.5])
    np.testing.assert_allclose(dcn_plus.mixture_of_experts(weights, inputs), [expected])


def test_coattention_normalises_over_the_document_for_a_question_word_and_the_reverse():
    generator = np.random.default_rng(5)
    document, question = generator.normal(size=(3, 6)), generator.normal(size=(3, 4))
    result = dcn.coattention(document, question)
    np.testing.assert_allclose(result["AQ"].sum(axis=0), np.ones(4))
    np.testing.assert_allclose(result["AD"].sum(axis=0), np.ones(6))
    uniform = dcn.coattention(np.repeat(document[:, :1], 6, axis=1), question)
    np.testing.assert_allclose(uniform["AQ"], np.full((6, 4), 1 / 6))


def test_the_place_of_the_sentinels_does_not_matter():
    generator = np.random.default_rng(6)
    document, question = generator.normal(size=(3, 6)), generator.normal(size=(3, 4))
    last = dcn.coattention(document, question)["CD"][:, :-1]
    first = dcn.coattention(np.roll(document, 1, axis=1), np.roll(question, 1, axis=1))["CD"][:, 1:]
    np.testing.assert_allclose(first, last)
