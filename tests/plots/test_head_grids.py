"""A grid of all heads: whose weights stand where, and beside which tokens."""

import warnings

import numpy as np
import pytest

from zoo.plots import Heads, heads


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def weights(*shape):
    values = np.random.default_rng(0).random(shape)
    return values / values.sum(-1, keepdims=True)


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_every_head_has_its_place():
    encoder, cross = weights(2, 3, 4, 4), weights(2, 3, 5, 4)
    source, target = ["a", b"b", "$c_{1}$", "\0"], ["v", "w", "x", "y", "z"]
    maps = {"encoder": Heads(encoder, source, source), "cross": Heads(cross, target, source)}
    figure = heads(maps, title="t")
    assert [panel.get_suptitle() for panel in figure.subfigs] == ["encoder", "cross"]
    assert figure.get_suptitle() == "t"
    for panel, expected in zip(figure.subfigs, (encoder, cross), strict=True):
        assert len(panel.axes) == 6
        for place, axes in enumerate(panel.axes):
            drawn = axes.images[0]
            np.testing.assert_array_equal(drawn.get_array(), expected[place // 3, place % 3])
            assert drawn.get_clim() == (0, 1)
    left, lowest = figure.subfigs[1].axes[0], figure.subfigs[1].axes[3]
    assert labels(left.yaxis) == target
    assert labels(lowest.xaxis) == ["a", "b", "$c_{1}$", "□"]
    assert [axes.get_title() for axes in left.figure.axes[:3]] == ["head 1", "head 2", "head 3"]
    assert (left.get_ylabel(), lowest.get_ylabel()) == ("layer 1", "layer 2")
    figure.draw_without_rendering()


def test_long_texts_are_labelled_at_even_distances_in_a_bounded_size():
    tokens = [f"token{index}" for index in range(200)]
    figure = heads({"encoder": Heads(weights(1, 1, 200, 200), tokens, tokens)})
    figure.draw_without_rendering()
    assert (figure.get_size_inches() <= 4).all()
    positions = figure.subfigs[0].axes[0].yaxis.get_ticklocs()
    assert len(set(np.diff(positions))) == 1
    assert len(positions) < 40


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        ({}, "maps must not be empty"),
        ({"a": Heads(weights(1, 1, 2, 2), [], ["x"])}, "query_tokens of 'a' must not be empty"),
        ({"a": Heads(weights(1, 1, 2, 2), ["x"], [])}, "key_tokens of 'a' must not be empty"),
        ({"a": Heads(weights(1, 2, 2), ["x", "y"], ["x", "y"])}, "layers, heads, 2, 2"),
        ({"a": Heads(weights(1, 0, 1, 2), ["x"], ["x", "y"])}, "layers, heads, 1, 2"),
        ({"a": Heads(np.full((1, 1, 1, 1), np.nan), ["x"], ["x"])}, "must be finite"),
    ],
)
def test_what_cannot_be_drawn_is_refused(maps, message):
    with pytest.raises(ValueError, match=message):
        heads(maps)


def test_keys_from_right_to_left_stand_from_right_to_left():
    words = ["השועל", "קפץ"]
    figure = heads({"a": Heads(weights(2, 2, 2, 2), words, words)})
    assert all(axes.xaxis_inverted() for axes in figure.subfigs[0].axes)
