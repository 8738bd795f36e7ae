"""The colours of pictures are those of the explorer's page, and words on them can be read."""

import re
from importlib import resources

import numpy as np
import pytest
from matplotlib.colors import same_color, to_rgb

from tests.plots.test_answers import PAIR, TRANSLATION
from tests.plots.test_attention import make_result
from tests.plots.test_documents import DOCUMENT, QUERY, result
from zoo.plots import Heads, answer, colors, heads

STYLE = (resources.files("zoo.explorer") / "assets" / "style.css").read_text()


def luminance(color):
    parts = np.array(to_rgb(color))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("name", ["PAPER", "INK", "QUIET", "RULE", "WEIGHT", "START", "END"])
def test_colors_are_those_of_the_page(name):
    light = STYLE.partition("prefers-color-scheme: dark")[0]
    assert re.search(rf"--{name.lower()}: (#\w+);", light)[1] == getattr(colors, name)


def test_every_picture_is_drawn_in_them():
    asked = make_result([b"The", b"tower"], b"tower", 1, 1)
    figures = [
        *map(answer, (TRANSLATION, PAIR, asked, result([DOCUMENT], [QUERY]))),
        heads({"a": Heads(np.ones((1, 1, 1, 1)), ["x"], ["y"])}),
    ]
    for figure in figures:
        assert same_color(figure.get_facecolor(), colors.PAPER)
        images = [image for axes in figure.axes for image in axes.images]
        assert images
        maps = {image.get_cmap().name for image in images}
        assert maps <= {"weights", "starts", "ends"}


def test_words_have_contrast_on_any_weight():
    for share in np.linspace(0, 1, 301):
        text = "white" if share > colors.LIGHT_TEXT_FROM else "black"
        assert contrast(colors.WEIGHTS(share), text) >= 4.5
