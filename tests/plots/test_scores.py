"""Scores by length: what is drawn, and what is refused."""

import warnings

import numpy as np
import pytest
from matplotlib.colors import same_color

from zoo.plots import scores_by_length, scores_by_seed

BUCKETS = ["1-10", "11-20", "21-30"]
SCORES = {"with": [30.0, 31.5, 29.0], "without": [28.0, 20.0, 9.5]}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_a_line_a_model_with_a_point_a_bucket():
    figure = scores_by_length(BUCKETS, SCORES, dashed=["without"], title="t", length_name="tokens")
    figure.draw_without_rendering()
    (axes,) = figure.axes
    lines = dict(zip(SCORES, axes.get_lines(), strict=True))
    for model, line in lines.items():
        np.testing.assert_array_equal(line.get_xdata(), range(3))
        np.testing.assert_array_equal(line.get_ydata(), SCORES[model])
    assert [lines[model].get_linestyle() for model in SCORES] == ["-", "--"]
    assert not same_color(*(line.get_color() for line in lines.values()))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(SCORES)
    assert [label.get_text() for label in axes.get_xticklabels()] == BUCKETS
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("tokens", "BLEU")
    assert axes.get_ylim()[0] == 0
    assert figure.get_suptitle() == "t"


def test_counts_stand_below_the_buckets_and_the_note_below_everything():
    note = "what a reader of the picture must know, " * 8
    figure = scores_by_length(BUCKETS, SCORES, counts=[1000, 20, 3], note=note)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["1-10\n(1,000)", "11-20\n(20)", "21-30\n(3)"]
    drawn = figure._supxlabel.get_window_extent()
    assert "\n" in figure._supxlabel.get_text()
    assert drawn.x0 >= 0
    assert drawn.x1 <= figure.bbox.x1
    assert drawn.y1 <= axes.xaxis.label.get_window_extent().y0


def test_odd_names_are_drawn():
    figure = scores_by_length(["$x_{1}$"], {"_hidden $100": [1.0], "埃": [2.0]}, note="\\frac{ \0")
    figure.draw_without_rendering()
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert texts == ["hidden $100", "□"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"buckets": []}, "buckets must not be empty"),
        ({"scores": {}}, "scores must not be empty"),
        ({"scores": {"a": [1.0]}}, r"scores\['a'\] must have one a bucket, 3, got 1"),
        ({"scores": {"a": [1.0, np.nan, 2.0]}}, r"scores\['a'\] must be finite"),
        ({"counts": [1, 2]}, "counts must have one a bucket, 3, got 2"),
        ({"dashed": ["c"]}, r"dashed must name models of scores, .*, got \['c'\]"),
    ],
)
def test_what_does_not_fit_is_refused(changes, problem):
    with pytest.raises(ValueError, match=problem):
        scores_by_length(**{"buckets": BUCKETS, "scores": SCORES} | changes)


def test_a_dot_a_run_and_a_line_at_their_mean():
    figure = scores_by_seed({"with": [80.0, 82.0], "$_x$": [71.0]}, score_name="% right", note="n")
    figure.draw_without_rendering()
    (axes,) = figure.axes
    drawn = [line.get_xdata() for line in axes.get_lines()]
    assert [list(values) for values in drawn] == [[80, 82], [81, 81], [71], [71, 71]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["with", "$_x$"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first row on top
    assert axes.get_xlabel() == "% right"


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ({}, "scores must not be empty"),
        ({"a": []}, r"scores\['a'\] must be finite numbers, got \[\]"),
        ({"a": [1.0, float("nan")]}, r"scores\['a'\] must be finite numbers, got \[1.0, nan\]"),
    ],
)
def test_scores_of_seeds_that_cannot_be_drawn_are_refused(scores, told):
    with pytest.raises(ValueError, match=told):
        scores_by_seed(scores)
