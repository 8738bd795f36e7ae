"""Captions: the picture, and over it the map of the word that is pointed at."""

import base64
import io

import numpy as np
import pytest
from matplotlib.image import imsave

from tests.explorer.captions import GRID, MAPS, WORDS
from tests.explorer.looking import texts
from tests.explorer.test_declared import least_contrast, opacities

HEIGHT, WIDTH = 40, 75


def picture(ending):
    """A file of noise, as the address of the page holds it."""
    file = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 255, (HEIGHT, WIDTH, 3)).astype("uint8")
    imsave(file, pixels, format=ending)
    return f"data:image/{ending};base64,{base64.b64encode(file.getvalue()).decode()}"


@pytest.mark.parametrize("ending", ["png", "jpeg"])
def test_cells_divide_a_picture_of_any_size_evenly(ending, open_page):
    page = open_page(model="captions", inputs={"image_bytes": picture(ending)})
    assert page.locator(".over").get_attribute("viewBox") == f"0 0 {WIDTH} {HEIGHT}"
    cells = page.locator(".over .cells").evaluate_all(
        "all => all.map((e) => ['x', 'y', 'width', 'height'].map((n) => +e.getAttribute(n)))"
    )
    rows, columns = GRID
    wide, high = WIDTH / columns, HEIGHT / rows
    expected = [[c * wide, r * high, wide, high] for r in range(rows) for c in range(columns)]
    np.testing.assert_allclose(cells, expected)


def test_a_word_that_is_pointed_at_shows_its_map(open_page, tmp_path):
    page = open_page(model="captions", inputs={"image_bytes": picture("png")})
    assert page.inner_text(".result") == "two dogs run"
    assert texts(page, ".looks .option") == [*WORDS]
    page.click(".looks [data-value='2']")
    for word in (2, 0, 3):  # while the second word is chosen
        page.hover(f".looks [data-value='{word + 1}']")
        np.testing.assert_allclose(opacities(page), 0.7 * MAPS[word] / 0.5, atol=1e-3)
        at = int(MAPS[word].argmax())
        cell = f"row {at // 3 + 1}, column {at % 3 + 1}"
        named = "end" if WORDS[word] == "</s>" else WORDS[word]
        said = page.inner_text(".readout").replace("\u00a0", " ")
        assert said.startswith(f"alignment, {named} → {cell} 0.50")
        label = page.locator(".over").get_attribute("aria-label").replace("\u00a0", " ")
        assert label.startswith(f"alignment, {named}: {cell} 0.50")
    page.hover(".result")
    np.testing.assert_allclose(opacities(page), 0.7 * MAPS[1] / 0.5, atol=1e-3)
    assert "step=2" in page.url
    page.hover(".over .cells >> nth=2")
    assert page.inner_text(".readout") == "row 1, column 3: 0.50"
    assert least_contrast(page)[0] >= 4.5
    page.screenshot(path=tmp_path / "caption.png", full_page=True)


def test_a_phone_need_not_scroll_sideways(open_page):
    page = open_page(model="captions", width=360, inputs={"image_bytes": picture("jpeg")})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
