"""Exact match and F1, against values worked out by hand from the definition."""

import numpy as np
import pandas as pd
import pytest

from zoo.metrics.squad import evaluate_squad, exact_match, f1, normalize_answer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Quick,\tbrown fox!", "quick brown fox"),
        ("an apple a day", "apple day"),
        ("U.S.A.", "usa"),
        ("well-known", "wellknown"),
        ("theatre", "theatre"),  # an article only as a word of its own
        ("(the)", ""),
        ("a.the", "athe"),  # punctuation goes first, so these are no articles any more
        ("ÉCOLE Normale", "école normale"),
        ("“quoted”", "“quoted”"),  # only ASCII punctuation is removed
        ("rock\u2013a\u2013bye", "rock\u2013 \u2013bye"),  # en dashes stay, and bound the article
        ("one\u00a0two\u3000three", "one two three"),  # wide blanks are blanks
        ("", ""),
    ],
)
def test_normalize_answer(text: str, expected: str) -> None:
    assert normalize_answer(text) == expected


@pytest.mark.parametrize(
    ("prediction", "golds", "match", "overlap"),
    [
        ("the Eiffel Tower", ["Eiffel tower"], 1, 1),
        ("Eiffel Tower in Paris", ["Eiffel Tower"], 0, 2 * (2 / 4) * 1 / (2 / 4 + 1)),
        ("tower", ["the Eiffel Tower", "Paris"], 0, 2 * 1 * (1 / 2) / (1 + 1 / 2)),
        ("in 1889", ["1889", "in 1889"], 1, 1),  # the best gold answer counts
        ("London", ["Paris"], 0, 0),
        # Words count as often as they occur: two of three shared, both ways.
        ("boom boom pow", ["boom boom boom"], 0, 2 / 3),
        ("", ["Paris"], 0, 0),
        # Equal after normalisation, but an empty bag of words scores 0, as the official script has.
        ("the", ["a"], 1, 0),
        ("", [""], 1, 0),
        # Match and overlap may come from different golds.
        ("the", ["an", "the the"], 1, 0),
    ],
)
def test_scores_of_one_question(
    prediction: str, golds: list[str], match: float, overlap: float
) -> None:
    assert exact_match(prediction, golds) == match
    assert f1(prediction, golds) == pytest.approx(overlap, abs=1e-12)


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {"id": ["a", "b", "c", "d"], "answers": [["red fox"], ["1874"], ["x", "y"], ["Oslo"]]}
    )


def test_evaluate_averages_over_all_questions(frame: pd.DataFrame) -> None:
    predictions = {"a": "a fox", "b": "1874.", "c": "y", "unknown": "x"}
    scores = evaluate_squad(predictions, frame)
    assert scores["exact_match"] == pytest.approx(100 * 2 / 4)  # d is missing and scores 0
    assert scores["f1"] == pytest.approx(100 * (2 / 3 + 1 + 1) / 4)


def test_evaluate_without_predictions_is_zero(frame: pd.DataFrame) -> None:
    assert evaluate_squad({}, frame) == {"exact_match": 0.0, "f1": 0.0}


def test_evaluate_of_the_gold_answers_is_one_hundred(frame: pd.DataFrame) -> None:
    predictions = {row.id: row.answers[-1] for row in frame.itertuples()}
    assert evaluate_squad(predictions, frame) == {"exact_match": 100.0, "f1": 100.0}


def test_answers_may_be_arrays_as_parquet_gives_them(frame: pd.DataFrame) -> None:
    arrays = frame.assign(answers=frame["answers"].map(np.array))
    predictions = {"a": "a fox", "c": "y"}
    assert evaluate_squad(predictions, arrays) == evaluate_squad(predictions, frame)
    with pytest.raises(ValueError, match="golds must be a list of at least one answer"):
        f1("x", np.array([]))


def test_bad_arguments_are_named(frame: pd.DataFrame) -> None:
    # Predictions by strings would all be missing, and the scores 0.
    with pytest.raises(ValueError, match="frame must have ids that are strings, got 1"):
        evaluate_squad({"1": "x"}, frame.assign(id=range(1, 5)))
    with pytest.raises(ValueError, match="frame must hold at least one question"):
        evaluate_squad({}, frame.iloc[:0])
    with pytest.raises(TypeError, match="prediction must be a string, got b'1874'"):
        evaluate_squad({"b": b"1874"}, frame)
    with pytest.raises(ValueError, match="golds must be a list of at least one answer"):
        exact_match("x", [])
    with pytest.raises(ValueError, match="golds must be a list"):
        f1("x", "x")  # one string is not a list of answers, though Python can iterate it
