"""Weights beside what happens when features are changed, on models whose answers are known."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest

from tests.contracts.tabular_task import CODEC, LABELS
from zoo.plots import answer, save_figure
from zoo.plots.importance import importances
from zoo.tasks.tabular.data import load_table
from zoo.tasks.tabular.endpoint import Target
from zoo.tasks.tabular.examples import Answers, Rows, encode_rows, scores
from zoo.tasks.tabular.importance import (
    MEAN,
    MISSING,
    PERMUTATION,
    WEIGHT,
    drops,
    found_features,
    importance_of_data,
    importance_of_row,
    typical_row,
)
from zoo.tasks.tabular.pictures import draw_importance
from zoo.tasks.tabular.recipe import TabularTask

GENERATOR = np.random.default_rng(0)
ROWS = np.column_stack(
    [GENERATOR.normal(size=(60, 2)), GENERATOR.integers(0, 3, 60), GENERATOR.integers(0, 2, 60)]
).astype("float32")
ROWS[::7, 1] = np.nan
NOTHING = np.full(4, np.nan, "float32")


def first_feature_alone(rows):
    """Answers by the first feature alone, but gives most weight to the second."""
    known = np.nan_to_num(rows[:, 0])
    chance = 1 / (1 + np.exp(-3 * known))
    weights = np.where(np.isnan(rows), 0.0, [0.2, 0.5, 0.2, 0.1])
    return Answers(np.stack([chance, 1 - chance], axis=1), weights)


EXAMPLES = Rows(ROWS, (ROWS[:, 0] < 0).astype("int32"))


def test_a_drop_is_of_the_class_that_was_chosen():
    found = drops(first_feature_alone, ROWS, NOTHING)
    chance = first_feature_alone(ROWS).outputs.max(axis=1)
    np.testing.assert_allclose(found[:, 0], chance - 0.5, atol=1e-6)
    assert not found[:, 1:].any()
    value = drops(lambda rows: Answers(np.nan_to_num(rows[:, 0]), rows), ROWS, np.ones(4))
    np.testing.assert_allclose(value[:, 0], ROWS[:, 0] - 1, atol=1e-6)


def test_typical_values_are_means_and_the_most_frequent_categories():
    typical = typical_row(ROWS, CODEC)
    np.testing.assert_allclose(typical[:2], np.nanmean(ROWS[:, :2], axis=0), rtol=1e-5)
    for column in (2, 3):
        assert typical[column] == np.bincount(ROWS[:, column].astype(int)).argmax()
    gap = ROWS.copy()
    gap[:, 3] = np.nan
    assert np.isnan(typical_row(gap, CODEC)).tolist() == [False, False, False, True]


def test_weights_that_lie_are_found_out():
    found = importance_of_data(first_feature_alone, CODEC, EXAMPLES, seed=1)
    assert [*found.measures] == [WEIGHT, MEAN, MISSING, PERMUTATION]
    assert found.measures[WEIGHT].argmax() == 1
    for measure in (MEAN, MISSING, PERMUTATION):
        assert found.measures[measure][0] > 0.1
        np.testing.assert_allclose(found.measures[measure][1:], 0.0, atol=1e-12)
    # Ranks of the weights are 2.5, 4, 2.5, 1, those of the drops 4, 2, 2, 2.
    assert found.correlations()[MISSING] == pytest.approx(0.0)
    told = found.to_json()
    assert told[WEIGHT]["Gain"] == found.measures[WEIGHT][1]
    assert told["rank correlation with the weights"][MEAN] < 1


def test_relevant_features_are_counted_among_the_largest_weights():
    weights = np.array([[0.6, 0.3, 0.1, 0.0], [0.1, 0.2, 0.3, 0.4]])
    relevant = np.array([[True, True, False, False], [False, True, False, True]])
    found = found_features(weights, relevant)
    assert found["found"] == pytest.approx(75.0)
    assert found["found_above"] == pytest.approx(75.0)
    assert found["false_above"] == pytest.approx(25.0)


def test_scores_of_classes_and_of_values():
    chances = np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]])
    answers = Answers(chances, np.zeros((3, 4)))
    found = scores(answers, np.array([0, 1, 0]), Target("y", ("a", "b")))
    assert found["accuracy"] == pytest.approx(200 / 3)
    assert found["loss"] == pytest.approx(-np.log([0.9, 0.6, 0.3]).mean())
    assert found["auc"] == pytest.approx(0.5)
    three = np.full((2, 3), 1 / 3)
    assert [*scores(Answers(three, three), np.array([0, 1]), Target("y", LABELS))] == [
        "accuracy",
        "loss",
    ]
    values = Answers(np.array([1.0, 0.0, -1.0]), np.zeros((3, 4)))
    found = scores(values, np.array([1.0, 0.5, -1.5]), Target("y", (), 10.0, 4.0))
    assert found["rmse"] == pytest.approx(4 * np.sqrt(0.5 / 3))
    assert found["r2"] == pytest.approx(1 - 0.5 / np.sum((np.array([1, 0.5, -1.5])) ** 2))
    assert found["loss"] == pytest.approx(0.25 / 3)


def test_a_row_and_all_rows_are_drawn(tmp_path):
    importance = importance_of_data(first_feature_alone, CODEC, EXAMPLES)
    target = Target("Height", ("low", "high"))
    parts = first_feature_alone, CODEC, target, EXAMPLES, importance
    told = draw_importance(*parts, tmp_path / "a.png")
    certainty = first_feature_alone(ROWS).outputs.max(axis=1)
    number = int((certainty <= np.median(certainty)).argmax())
    assert told.startswith((f"row {number + 1}: low (", f"row {number + 1}: high ("))
    assert (tmp_path / "a.png").stat().st_size > 10_000
    row = importance_of_row(first_feature_alone, CODEC, ROWS[0], typical_row(ROWS, CODEC))
    assert [*row.measures] == [WEIGHT, MEAN, MISSING]
    groups = {"one": row.measures, "all": importance.measures}
    shares = {"all": importance.correlations()}
    figure = importances(CODEC.names, groups, correlations=shares, title="t", note="n")
    titles = [panel.get_title() for panel in figure.axes if panel.get_title()]
    assert titles[0] == "one\nweight"
    assert titles[3] == "all\nweight"
    assert titles[4].startswith(f"all\n{MEAN}\nrank correlation ")
    bars = [bar.get_width() for bar in figure.axes[0].patches]
    np.testing.assert_allclose(bars, row.measures[WEIGHT])
    with pytest.raises(ValueError, match="weight must be 3 finite numbers"):
        importances(["a", "b", "c"], groups)
    with pytest.raises(ValueError, match="features and groups must not be empty"):
        importances([], {})


def test_an_answer_with_names_of_features_is_drawn_as_bars(tmp_path):
    result = {
        "attention_features": np.array([[[0.75, 0.25]]]),
        "row_features": np.array([[b"age", b"home"]], object),
        "label": np.array([b"a"], object),
    }
    (panel,) = answer(result).axes
    assert [bar.get_width() for bar in panel.patches] == [0.75, 0.25]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["age", "home"]
    assert panel.get_title() == "weights"
    save_figure(answer(result), tmp_path / "a.svg")
    with pytest.raises(ValueError, match="row must be in a batch of 1, got 1"):
        answer(result, row=1)


def test_known_features_are_compared_in_the_order_of_the_codec(monkeypatch):
    """Categories come last there, whatever their place in the table."""
    monkeypatch.setattr("zoo.data.known_importance.ROWS", {"train": 40, "test": 30})
    logger = logging.getLogger()
    data = load_table("syn1", None, 0.5, 11, logger)
    codec, _ = data.codec(("x1",), 1)
    assert codec.names[-1] == "x1"
    weights = np.tile(np.isin(codec.names, ["x1", "x2"]).astype("float32"), (30, 1))

    def ask(rows):
        return Answers(np.full((len(rows), 2), 0.5, "float32"), weights[: len(rows)])

    monkeypatch.setattr("zoo.tasks.tabular.examples.Asking", lambda _: ask)
    task = TabularTask("", None, {})
    task.data, task.codec, task.settings = data, codec, SimpleNamespace(seed=0)
    task.folder = SimpleNamespace(logger=logger)
    task._rows = {"test": encode_rows(data.test, codec, data.target)}
    metrics = task.measure(SimpleNamespace(model=None))
    assert (metrics["found"], metrics["found_above"], metrics["false_above"]) == (100, 100, 0)
