"""Learning curves."""

import numpy as np
import pytest

from zoo.plots import learning_curves

CURVE = [(1000, 8.0), (2000, 3.0)]


def test_a_line_has_the_points_of_a_training_and_its_models_name():
    figure = learning_curves({"machine": CURVE}, score_name="bits")
    (axes,) = figure.axes
    (line,) = axes.lines
    np.testing.assert_array_equal(line.get_xydata(), [(1.0, 8.0), (2.0, 3.0)])
    assert (line.get_label(), axes.get_ylabel()) == ("machine", "bits")


def test_trainings_of_one_model_look_alike_and_are_named_once():
    figure = learning_curves({"machine": [CURVE, CURVE], "baseline": [CURVE]})
    (axes,) = figure.axes
    colors = [line.get_color() for line in axes.lines]
    assert colors == ["C0", "C0", "C1"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["machine", "baseline"]


@pytest.mark.parametrize("curve", [[], [(1.0, np.nan)], [(1.0, 2.0, 3.0)]])
def test_curves_without_finite_points_are_refused(curve):
    with pytest.raises(ValueError, match=r"curves\['machine'\] must be pairs of finite numbers"):
        learning_curves({"machine": curve})


def test_no_curve_is_refused():
    with pytest.raises(ValueError, match="curves must not be empty"):
        learning_curves({})
