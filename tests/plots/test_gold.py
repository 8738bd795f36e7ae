"""Frames of annotated links over attention."""

import numpy as np
import pytest

from zoo.plots import gold_over_attention

WEIGHTS = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]])


def test_frames_stand_around_the_annotated_cells() -> None:
    figure = gold_over_attention(
        WEIGHTS, ["a", "b"], ["x", "y", "z"], {(2, 0)}, {(2, 0), (1, 1)}, title="t"
    )
    axes = figure.axes[0]
    np.testing.assert_array_equal(axes.images[0].get_array(), WEIGHTS)
    frames = {
        frame.get_linestyle(): (*frame.get_xy(), frame.get_width(), frame.get_height())
        for frame in axes.patches
    }
    # Key 2 (column) of query 0 (row) is sure, key 1 of query 1 possible.
    assert frames == {"solid": (1.5, -0.5, 1, 1), "dashed": (0.5, 0.5, 1, 1)}
    assert figure.get_suptitle() == "t"
    figure.draw_without_rendering()


@pytest.mark.parametrize("link", [(3, 0), (0, 2), (-1, 0)])
def test_a_link_outside_is_refused(link) -> None:
    with pytest.raises(ValueError, match="links must be inside of 3 keys and 2 queries, got"):
        gold_over_attention(WEIGHTS, ["a", "b"], ["x", "y", "z"], {link})
