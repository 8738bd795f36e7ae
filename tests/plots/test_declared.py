"""Maps over images and over features, drawn by what their axes stand for."""

import numpy as np
import pytest

from zoo.models.core.axes import Features, Grid, Slots, Steps, Tokens
from zoo.plots import declared, over_features, over_image, save_figure

IMAGE = np.linspace(0, 1, 24).reshape(6, 4, 1)
CELLS = np.array([[[0.5, 0.0], [0.25, 0.0], [0.0, 0.25]], np.full((3, 2), 1 / 6)])


def test_a_heat_map_covers_the_image_at_each_step(tmp_path):
    axes = {"attention_glimpses": (Steps("steps"), Grid("image", 2))}
    result = {"label": np.array([b"low"] * 2), "attention_glimpses": np.stack([CELLS * 0, CELLS])}
    figure = declared(result, axes, {"image": np.stack([IMAGE * 0, IMAGE])}, row=1)
    first, *steps = figure.axes
    assert [panel.get_title() for panel in figure.axes] == ["image", "step 1", "step 2"]
    np.testing.assert_allclose(first.images[0].get_array(), IMAGE[..., 0])
    for panel, cells in zip(steps, CELLS, strict=True):
        picture, heat = panel.images
        np.testing.assert_allclose(heat.get_array(), cells)
        assert heat.get_extent() == picture.get_extent() == [0, 4, 6, 0]
        assert heat.get_clim() == (0, 0.5)
    assert save_figure(figure, tmp_path / "image.png").stat().st_size > 1000


def test_features_are_bars(tmp_path):
    weights = np.array([[[0.75, 0.25, 0.0]]])
    figure = declared({"attention_f": weights}, {"attention_f": (Slots(1), Features("row"))}, {})
    (panel,) = figure.axes
    assert [bar.get_width() for bar in panel.patches] == [0.75, 0.25, 0.0]
    assert panel.get_title() == "slot 1"
    named = over_features(weights[0], ["age", "height", "town"]).axes[0]
    assert [label.get_text() for label in named.get_yticklabels()] == ["age", "height", "town"]
    assert save_figure(figure, tmp_path / "features.svg").stat().st_size > 1000
    # The first feature is at the top, however many panels share the axis.
    for count in (1, 2, 3):
        panels = over_features(np.ones((count, 3))).axes
        assert all(panel.get_ylim() == (2.5, -0.5) for panel in panels)


def test_what_cannot_be_drawn_is_refused():
    text = {"attention_a": (Tokens("text"), Tokens("text"))}
    with pytest.raises(ValueError, match="result must have a map over an image or features, got a"):
        declared({"attention_a": np.ones((1, 2, 2))}, text, {})
    grid = {"attention_a": (Steps("steps"), Grid("image"))}
    with pytest.raises(ValueError, match="row must be in a batch of 1, got 1"):
        declared({"attention_a": CELLS[None]}, grid, {"image": IMAGE[None]}, row=1)
    with pytest.raises(ValueError, match=r"inputs must have 'image', got \['photo'\]"):
        declared({"attention_a": CELLS[None]}, grid, {"photo": IMAGE[None]})
    with pytest.raises(ValueError, match=r"weights must be finite .* got \(3, 2\)"):
        over_image(CELLS[0], IMAGE)
    with pytest.raises(ValueError, match=r"weights must be finite"):
        over_image(CELLS * np.nan, IMAGE)
    with pytest.raises(ValueError, match=r"image must be .* got \(6, 4, 2\)"):
        over_image(CELLS, np.ones((6, 4, 2)))
    with pytest.raises(ValueError, match="features must be 3 names, got 2"):
        over_features(np.ones((1, 3)), ["a", "b"])
    with pytest.raises(ValueError, match="names must be 2, one for each query, got 1"):
        over_image(CELLS, IMAGE, names=["a"])
