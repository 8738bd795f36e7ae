"""Views of pairs that are aligned in both directions, and of many hops over one text."""

import re
from pathlib import Path

import numpy as np

from tests.explorer.looking import texts
from tests.explorer.offered import HOPS, load

PAIR = {"premise": "a fine film .", "hypothesis": "dull film"}
PREMISE, HYPOTHESIS = (text.split() for text in PAIR.values())
KINDS = ["premise to hypothesis", "hypothesis to premise"]
WITHIN = ["within the premise", "within the hypothesis"]
TEXT = "a fine film . a dull film . unknown words are a film too ."
MEASURING = Path(__file__).with_name("measuring.js").read_text()
LEFT = """all => all.map((path) => {
    const [, a, b] = path.getAttribute('d').match(/^M0 ([-.\\d]+)C.* 0 ([-.\\d]+)Z$/).map(Number);
    return b - a;
}).reduce((sum, one) => sum + one, 0)"""
"""The thickness of ribbons at the left, in pixels."""


def ask(tmp_path, model, **inputs):
    """The maps of an offered model, each of one example."""
    (tmp_path / model).mkdir(exist_ok=True)
    outputs = load(tmp_path / model).ask({name: [text] for name, text in inputs.items()})
    return {name[10:]: map_[0] for name, map_ in outputs.items() if name.startswith("attention_")}


def told(page):
    """The weights that the line above a picture tells."""
    return [float(one) for one in re.findall(r"\d\.\d\d", page.inner_text(".readout"))]


def choose(page, kind):
    page.click(f"[aria-label='Which attention'] [title='{kind}']")


def sides(page):
    return [texts(page, f".ribbons .tokens.{place} .token") for place in ("left", "right")]


def test_the_premise_stands_at_the_left_in_both_directions(open_page, tmp_path):
    maps = ask(tmp_path, "tiny_decomposable", **PAIR)
    page = open_page(model="tiny_decomposable", inputs=PAIR)
    assert texts(page, "[aria-label='Which attention'] button") == [*KINDS, *WITHIN]
    assert sides(page) == [PREMISE, [*HYPOTHESIS, "<none>"]]
    assert texts(page, ".ribbons .side") == ["premise", "hypothesis"]
    left, right = (
        page.locator(f".tokens.{place}").bounding_box()["x"] for place in ("left", "right")
    )
    assert left < right
    page.hover(".tokens.left .token >> nth=1")
    expected = maps["premise_to_hypothesis"][1]
    np.testing.assert_allclose(told(page), sorted(expected[expected >= 0.01])[::-1], atol=6e-3)
    thick = page.locator(".bands path.on").evaluate_all(LEFT)
    assert 17 < thick < 20.5  # together as thick as a word of the side that attends
    choose(page, KINDS[1])
    assert sides(page) == [[*PREMISE, "<none>"], HYPOTHESIS]
    page.hover(".tokens.left .token >> nth=1")
    expected = maps["hypothesis_to_premise"][:, 1]
    np.testing.assert_allclose(told(page), sorted(expected[expected >= 0.01])[::-1], atol=6e-3)
    choose(page, WITHIN[1])
    assert sides(page) == [[*HYPOTHESIS, "<none>"], HYPOTHESIS]
    page.hover(".tokens.row .token >> nth=0")
    expected = maps["hypothesis_intra"][0]
    np.testing.assert_allclose(told(page), sorted(expected[expected >= 0.01])[::-1], atol=6e-3)


def test_a_kept_word_stays_when_the_direction_changes(open_page):
    page = open_page(model="tiny_decomposable", inputs=PAIR, kept="row.1")
    for kind, kept in [(KINDS[1], "column.1"), (WITHIN[0], "column.1"), (KINDS[0], "row.1")]:
        choose(page, kind)
        page.wait_for_function(f"location.hash.includes('kept={kept}')")
        assert texts(page, "[aria-selected=true]") == ["fine"]
    choose(page, WITHIN[1])  # which does not have the word
    page.wait_for_function("!location.hash.includes('kept')")
    assert page.locator("[aria-selected=true]").count() == 0


def test_keys_lead_to_the_side_that_they_point_to(open_page):
    page = open_page(model="tiny_decomposable", inputs=PAIR)
    page.focus(".tokens.left .token")
    for key, word in [("ArrowLeft", "a"), ("ArrowRight", "dull"), ("ArrowRight", "dull"),
                      ("ArrowDown", "film"), ("ArrowLeft", "film")]:  # fmt: skip
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.textContent") == word, key
    assert page.evaluate("!!document.activeElement.closest('.tokens.left')")


def test_a_word_of_either_text_is_followed_in_another_model(open_page):
    page = open_page(model="tiny_decomposable", beside="tiny_pairs", inputs=PAIR)
    for place, word in [("left", "fine"), ("right", "film")]:
        page.hover(f".pane >> nth=0 >> .tokens.{place} .token >> nth=1")
        assert texts(page, f".tokens.{place} .token.active") == [word, word]


def test_a_model_beside_another_one_that_reads_something_else_is_refused(open_page):
    """Its other inputs would be empty."""
    page = open_page(model="many_hops", beside="glimpses", inputs={"text": TEXT}, wait=False)
    page.wait_for_selector("#said.error")
    assert page.inner_text("#said").startswith("glimpses reads ")
    assert page.inner_text("#said").endswith(", which many_hops does not.")
    assert page.locator("#panes *").count() == 0
    page.select_option("#beside", "")
    page.wait_for_selector("#said.done")


def test_many_hops_are_seen_together_and_one_by_one(open_page, tmp_path):
    hops = ask(tmp_path, "many_hops", text=TEXT)["hops"]
    assert hops.shape[0] == HOPS
    page = open_page(model="many_hops", inputs={"text": TEXT})
    buttons = page.locator("[aria-label=hop] button")
    assert buttons.count() == 1 + HOPS
    assert buttons.first.get_attribute("title") == f"sum of all {HOPS}"
    page.hover(".prose .token >> nth=2")
    most = 1 + int(hops[:, 2].argmax())
    total, largest, *_ = told(page)
    assert f"most in hop {most}\u00a0" in page.text_content(".readout")
    np.testing.assert_allclose((total, largest), (hops[:, 2].sum(), hops[:, 2].max()), atol=6e-3)
    page.focus("[aria-label=hop] [aria-checked=true]")
    for key, title in [("End", f"hop {HOPS}"), ("ArrowLeft", f"hop {HOPS - 1}"),
                       ("Home", f"sum of all {HOPS}"), ("ArrowRight", "hop 1")]:  # fmt: skip
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.title") == title
    page.click(".prose .token >> nth=2")
    np.testing.assert_allclose(told(page), [hops[0, 2]], atol=6e-3)
    box = page.locator(".lines").bounding_box()
    page.mouse.click(box["x"] + 5, box["y"] + box["height"] * 16.5 / HOPS)
    page.wait_for_function("location.hash.includes('step=17')")
    np.testing.assert_allclose(told(page), [hops[16, 2]], atol=6e-3)  # of the word that is kept
    frame, lines = (page.locator(f".{one}").bounding_box() for one in ("line", "lines"))
    assert lines["y"] < frame["y"] < frame["y"] + frame["height"] < lines["y"] + lines["height"]


def test_hops_of_a_long_text_are_changed_while_it_is_read(open_page, tmp_path):
    page = open_page(model="many_hops", inputs={"text": TEXT * 9})
    page.set_viewport_size({"width": 1280, "height": 500})
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    before = page.evaluate("scrollY")
    assert before > page.locator(".pane").evaluate("e => e.offsetTop")  # its beginning is unseen
    assert page.locator(".stepping").bounding_box()["y"] == 0
    page.click("[aria-label=hop] [data-value='30']")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("scrollY") == before
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(f"() => {{ {MEASURING}\n return leastContrast(); }}")[0] >= 4.5
        page.screenshot(path=tmp_path / f"{scheme}.png", full_page=True)
    page.set_viewport_size({"width": 360, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
