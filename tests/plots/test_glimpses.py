"""The picture of a path of glimpses."""

import numpy as np
import pytest

from zoo.plots import answer, glimpses, save_figure

IMAGES = np.random.default_rng(0).random((2, 20, 10, 1))
RESULT = {
    "locations": np.array([[[0.0, 0.0]] * 3, [[0.0, 0.0], [0.5, -0.6], [-1.0, 1.0]]]),
    "seen": np.random.default_rng(1).random((2, 3, 2, 4, 4, 1)),
    "label_per_step": np.array([[b"one"] * 3, [b"two", b"six", b"two"]], object),
    "probabilities_per_step": np.array([[[0.5, 0.5]] * 3, [[0.6, 0.4], [0.2, 0.8], [0.9, 0.1]]]),
}


def test_the_path_the_patches_and_the_belief_are_those_of_the_answer(tmp_path):
    figure = answer(RESULT, row=1, inputs={"image": IMAGES})
    path, *panels = figure.axes
    np.testing.assert_allclose(path.images[0].get_array(), IMAGES[1, ..., 0])
    (line,) = path.lines
    np.testing.assert_array_equal(line.get_ydata(), [10, 15, 0])  # rows
    np.testing.assert_array_equal(line.get_xdata(), [5, 2, 10])
    frames = [(frame.get_xy(), frame.get_width()) for frame in path.patches]
    assert frames[:4] == [((3, 8), 4), ((1, 6), 8), ((0, 13), 4), ((-2, 11), 8)]
    assert len(panels) == 3 * 3
    for step in range(3):
        fine, coarse, belief = panels[3 * step : 3 * step + 3]
        for scale, panel in enumerate((fine, coarse)):
            seen = RESULT["seen"][1, step, scale, ..., 0]
            np.testing.assert_allclose(panel.images[0].get_array(), seen)
        heights = [bar.get_height() for bar in belief.patches]
        np.testing.assert_allclose(heights, RESULT["probabilities_per_step"][1, step])
    assert [panels[number].get_xlabel() for number in (2, 5, 8)] == [
        "two (0.60)",
        "six (0.80)",
        "two (0.90)",
    ]
    assert figure.get_suptitle() == "→ two (0.90)"
    assert save_figure(figure, tmp_path / "path.png").stat().st_size > 5000


def test_a_picture_of_another_size_is_drawn_as_the_model_read_it():
    """A file of 100 by 30 pixels, which was scaled to the 20 by 10 that the frames count."""
    result = RESULT | {"attention_glimpses": np.zeros((2, 3, 20, 10))}
    large = answer(result, row=1, inputs={"image": np.ones((2, 100, 30, 1))}).axes[0]
    small = answer(result, row=1, inputs={"image": IMAGES}).axes[0]
    assert large.images[0].get_array().shape == (100, 30)
    assert large.images[0].get_extent() == small.images[0].get_extent() == [0, 10, 20, 0]
    frames = [[frame.get_bbox().bounds for frame in one.patches] for one in (large, small)]
    assert frames[0] == frames[1]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="row must be in a batch of 2, got 2"):
        glimpses(RESULT, {"image": IMAGES}, row=2)
    with pytest.raises(ValueError, match=r"result must have locations, .* and inputs image, got"):
        glimpses(RESULT, {})
