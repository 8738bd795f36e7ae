"""The picture of a caption: a map for each word over the image."""

import numpy as np
import pytest

from zoo.plots import answer, caption, save_figure, words_over_image
from zoo.plots.captions import smoothed

IMAGES = np.random.default_rng(0).random((2, 12, 20, 1))
TOKENS = np.array([[b"one", b"</s>", b""], [b"two", b"left", b"</s>"]], object)
MAPS = np.random.default_rng(1).random((2, 3, 3, 4))
RESULT = {
    "caption": np.array([b"one", b"two left"], object),
    "target_tokens": TOKENS,
    "target_length": np.array([2, 3]),
    "attention_alignment": MAPS,
}


def test_each_word_has_the_image_with_its_own_map_over_it(tmp_path):
    figure = answer(RESULT, row=1, inputs={"image": IMAGES})
    first, *words = figure.axes
    assert [panel.get_title() for panel in figure.axes] == ["", "two", "left", "</s>"]
    assert figure.get_suptitle() == "two left"
    np.testing.assert_allclose(first.images[0].get_array(), IMAGES[1, ..., 0])
    for panel, cells in zip(words, MAPS[1], strict=True):
        picture, veil = panel.images
        np.testing.assert_allclose(picture.get_array(), IMAGES[1, ..., 0])
        expected = smoothed(cells, 12, 20)
        np.testing.assert_allclose(veil.get_array(), expected)
        assert veil.get_clim() == (0, expected.max())
        assert veil.get_extent() == picture.get_extent() == [0, 20, 12, 0]
    assert save_figure(figure, tmp_path / "caption.png").stat().st_size > 5000
    assert len(caption(RESULT, {"image": IMAGES}).axes) == 3  # without padding


def test_a_map_is_enlarged_smoothly_and_keeps_its_place():
    np.testing.assert_allclose(smoothed(np.full((3, 4), 0.25), 12, 20), 0.25)
    one = np.zeros((3, 4))
    one[1, 2] = 1.0
    large = smoothed(one, 120, 200)
    rows, columns = np.indices(large.shape)
    centre = [(large * (index + 0.5)).sum() / large.sum() for index in (rows, columns)]
    np.testing.assert_allclose(centre, [60, 125], atol=1.5)  # of cell (1, 2)
    assert np.abs(np.diff(large, axis=0)).max() < 0.03  # no edges
    assert (smoothed(one.T, 200, 120) == large.T).all()


def test_many_words_are_in_several_rows_and_colours_are_kept():
    words = [f"word{number}" for number in range(9)]
    image = np.random.default_rng(2).random((8, 8, 3))
    figure = words_over_image(image, words, np.eye(9), (3, 3))
    assert [panel.get_title() for panel in figure.axes] == ["", *words]
    np.testing.assert_allclose(figure.axes[4].images[0].get_array(), image)
    tops = {round(panel.get_subplotspec().rowspan.start) for panel in figure.axes}
    assert tops == {0, 1}


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match=r"weights must be finite and of shape \(2, 4\), got"):
        words_over_image(IMAGES[0], ["a", "b"], np.ones((2, 3)), (2, 2))
    with pytest.raises(ValueError, match="weights must be finite"):
        words_over_image(IMAGES[0], ["a"], np.full((1, 4), np.nan), (2, 2))
    with pytest.raises(ValueError, match=r"image must be .* got \(2, 3, 2\)"):
        words_over_image(np.ones((2, 3, 2)), ["a"], np.ones((1, 4)), (2, 2))
    with pytest.raises(ValueError, match="row must be in a batch of 2, got 2"):
        caption(RESULT, {"image": IMAGES}, row=2)
    with pytest.raises(ValueError, match=r"result must have target_tokens, .* and inputs image"):
        caption(RESULT, {})
    with pytest.raises(ValueError, match="result must have one of"):
        answer(RESULT)
    empty = RESULT | {"target_length": np.zeros(2, int)}
    with pytest.raises(ValueError, match="its target has no token to draw"):
        caption(empty, {"image": IMAGES})
