"""Re-ranking: what each feature prefers, and weights that must help where one can."""

import numpy as np
import pytest

from zoo.data.cloze_format import Question, questions_frame
from zoo.tasks.cloze.reranking import (
    FEATURES,
    CandidateModels,
    Reranking,
    candidate_costs,
    gains,
    tune,
)

DOCUMENTS = [
    "The cat eats fish .\nThe dog eats meat .\nThe cat drinks milk .",
    "The dog drinks water .\nThe cat eats fish .\nA bird eats seed .",
] * 2


@pytest.fixture(scope="module")
def models():
    return CandidateModels(DOCUMENTS, order=3, classes=5, iterations=3)


ROWS = [
    Question(
        "The dog ran .\nThe bird ran .", "The XXXXX eats meat .", "dog", ["bird", "dog", "cat"]
    ),
    Question("Zed sings well .\nCat .", "Now Zed XXXXX well .", "sings", ["Cat", "sings"]),
]


def costs_of(models, probabilities, n_best=3):
    return candidate_costs(questions_frame(ROWS), np.array(probabilities), models, n_best)


def test_the_best_candidates_are_kept_in_the_reader_s_order(models):
    found = costs_of(models, [[0.1, 0.2, 0.7], [0.6, 0.4, 0.0]])
    assert found.candidates.tolist() == [[2, 1, 0], [0, 1, -1]]
    assert found.answer.tolist() == [1, 1]
    np.testing.assert_allclose(found.costs[0, :, 0], -np.log([0.7, 0.2, 0.1]))
    assert np.isfinite(found.costs[0]).all()
    assert np.isinf(found.costs[1, 2]).all()
    assert costs_of(models, [[0.1, 0.2, 0.7], [0.6, 0.4, 0.0]], 1).answer.tolist() == [-1, -1]


def test_what_the_reader_finds_impossible_is_never_right_by_luck(models):
    found = costs_of(models, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert found.answer.tolist() == [-1, -1]
    assert found.accuracy(np.ones(len(FEATURES))) == 0.0


def test_each_model_prefers_what_it_has_seen(models):
    found = costs_of(models, [[0.3, 0.3, 0.4], [0.5, 0.5, 0.0]])
    place = {int(c): n for n, c in enumerate(found.candidates[0])}
    bird, dog, cat = (found.costs[0, place[n]] for n in range(3))
    column = FEATURES.index("global")
    assert dog[column] < bird[column]  # "dog eats meat" is in the training
    local = FEATURES.index("local")
    assert dog[local] < cat[local]  # the cat is not in this document
    assert found.costs[1, 1, local] < found.costs[1, 0, local]  # "Zed sings well" is
    # Words that the training does not hold are one word to the global and the class model.
    unknown = models.score(ROWS[1].document, [["Zed"], ["Quo"]])
    np.testing.assert_array_equal(unknown[0, [0, 2]], unknown[1, [0, 2]])
    assert unknown[0, 1] < unknown[1, 1]


def test_a_sentence_counts_once_however_many_documents_hold_it(models):
    again = CandidateModels(DOCUMENTS[:2], order=3, classes=5, iterations=3)
    filled = [["The", "dog", "eats", "fish", "."]]
    np.testing.assert_array_equal(again.score("A b .", filled), models.score("A b .", filled))


def reranking(costs, answer):
    """Two candidates a question; only the differences of the first matter."""
    costs = np.asarray(costs, float)  # (q, f)
    return Reranking(np.stack([costs, 0 * costs], 1), np.zeros((len(costs), 2), int), answer)


def test_weights_are_found_that_separate_right_from_wrong():
    # The reader prefers the second candidate by 1, the local model knows better by 4.
    costs = [[1, 9, -4, 0]] * 3 + [[1, -9, 4, 0]] * 2
    found = reranking(costs, np.array([0, 0, 0, 1, 1]))
    assert found.accuracy(tune(found, 1)) == 40.0
    assert found.accuracy(tune(found, 2)) < 100.0
    weights = tune(found, 3)
    assert found.accuracy(weights) == 100.0
    assert weights[0] == 1.0
    assert weights[2] > 0.25
    assert weights[3] == 0.0


def test_a_feature_that_does_not_help_gets_no_weight():
    generator = np.random.default_rng(0)
    good = np.repeat([[-1.0], [1.0]], 50, axis=0)
    found = reranking(np.hstack([good, generator.normal(size=(100, 3))]), np.repeat([0, 1], 50))
    assert tune(found, 4).tolist() == [1, 0, 0, 0]


def test_gains_add_one_feature_after_the_other_and_never_lose_on_what_they_are_tuned_on():
    generator = np.random.default_rng(1)
    parts = []
    for _ in range(2):
        costs, answer = generator.normal(size=(80, 4)), generator.integers(0, 2, 80)
        costs += 0.5 * np.where(answer, 1, -1)[:, None]
        parts.append(reranking(costs, answer))
    table = gains(*parts)
    assert [gain.features for gain in table] == [FEATURES[:n] for n in range(1, 5)]
    reached = [gain.validation for gain in table]
    assert reached == sorted(reached)
    assert reached[-1] > reached[0]
    for gain in table:
        weights = np.zeros(4)
        weights[: len(gain.weights)] = gain.weights
        assert gain.test == parts[1].accuracy(weights)


def test_bad_arguments_are_refused(models):
    with pytest.raises(ValueError, match="n_best must be at least 1, got 0"):
        costs_of(models, [[1.0], [1.0]], 0)
    with pytest.raises(ValueError, match="probabilities must have 2 rows, got 1"):
        costs_of(models, [[1.0]])
    found = reranking([[1, 1, 1, 1]], np.array([0]))
    for features in (0, 5):
        with pytest.raises(ValueError, match=f"features must be from 1 to 4, got {features}"):
            tune(found, features)
