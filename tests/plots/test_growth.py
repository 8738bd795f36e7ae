"""Lines on logarithmic axes: what is drawn, and what is refused."""

import warnings

import numpy as np
import pytest
from matplotlib.colors import same_color

from zoo.plots import growth_by_size

PANELS = {
    "time, ms": {"square": {8: 64.0, 2: 4.0, 4: 16.0}, "line": {2: 2.0, 8: 8.0}},
    "memory, MB": {"line": {2: 1.0, 16: 8.0}, "square": {2: 1.0}},
}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_a_panel_a_figure_and_a_line_a_name_in_the_order_of_the_sizes():
    figure = growth_by_size(PANELS, title="t", size_name="length", note="what to know")
    figure.draw_without_rendering()
    assert [axes.get_title() for axes in figure.axes] == list(PANELS)
    for axes, lines in zip(figure.axes, PANELS.values(), strict=True):
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert axes.get_xlabel() == "length"
        assert [text.get_text() for text in axes.get_legend().get_texts()] == list(lines)
        for line, (name, figures) in zip(axes.get_lines(), lines.items(), strict=True):
            assert line.get_label() == name
            np.testing.assert_array_equal(line.get_xdata(), sorted(figures))
            np.testing.assert_array_equal(line.get_ydata(), [figures[n] for n in sorted(figures)])
    labels = [label.get_text() for label in figure.axes[1].get_xticklabels()]
    assert labels == ["2", "16"]
    assert figure.get_suptitle() == "t"
    assert figure._supxlabel.get_text() == "what to know"


def test_a_line_looks_the_same_in_every_panel_and_like_no_other():
    looks = [
        {line.get_label(): (line.get_color(), line.get_marker()) for line in axes.get_lines()}
        for axes in growth_by_size(PANELS).axes
    ]
    for name in ("square", "line"):
        assert looks[0][name] == looks[1][name]
    assert not same_color(looks[0]["square"][0], looks[0]["line"][0])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_place_without_a_panel_stays_empty(count):
    figure = growth_by_size({str(number): {"a": {1: 1.0, 2: 2.0}} for number in range(count)})
    figure.draw_without_rendering()
    assert [bool(axes.axison) for axes in figure.axes] == [True] * count + [False] * (count == 3)


def test_odd_names_are_drawn():
    figure = growth_by_size(
        {"$x_{1}$": {"_hidden $100": {1: 1.0}, "埃": {1: 2.0}}}, size_name="\\frac{ \0"
    )
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["hidden $100", "□"]


@pytest.mark.parametrize(
    ("panels", "problem"),
    [
        ({}, "panels must not be empty"),
        ({"a": {}}, r"panels\['a'\] must hold figures, got {}"),
        ({"a": {"b": {}}}, r"panels\['a'\] must hold figures"),
        ({"a": {"b": {1: 0.0}}}, r"panels\['a'\]\['b'\] must be positive and finite, got {1: 0"),
        ({"a": {"b": {0: 1.0}}}, r"panels\['a'\]\['b'\] must be positive and finite"),
        ({"a": {"b": {1: np.nan}}}, r"panels\['a'\]\['b'\] must be positive and finite"),
    ],
)
def test_what_has_no_place_on_the_axes_is_refused(panels, problem):
    with pytest.raises(ValueError, match=problem):
        growth_by_size(panels)
