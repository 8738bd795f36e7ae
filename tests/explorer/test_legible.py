"""Legibility of the page: measured contrast, overlap, order and size, for short and long texts."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from tests.explorer.looking import saved, texts
from tests.explorer.offered import LABELS, LIMITATIONS
from zoo.plots import colors

MEASURING = Path(__file__).with_name("measuring.js").read_text()
SHOWN = {
    "word_by_word": {"kept": "row.1", "in.text": "two dogs <unk> run ."},
    "tiny_transformer": {"map": "encoder.1.1", "kept": "column.5", "in.text": "two dogs run ."},
    "tiny_cloze": {},
    "tiny_lstmn": {"in.text": "a fine film . a dull film"},
    "squad_dcn": {"in.question": "Who came?", "in.context": "<s> Ida Moreau came. </s>"},
}
QUOTED = "He said: שלום עולם, מה שלומך? in 1911."
HEBREW = "המנורה תוקנה בידי שען בשם Ida Moreau בשנת 1911, והיא לא ראתה ים."
UNIFORM = """async (length) => {
    const { ribbons } = await import('/assets/ribbons.js');
    const { pieces } = await import('/assets/words.js');
    const words = pieces(Array.from({ length }, (_, at) => `word${at}`));
    const weights = words.map(() => words.map(() => 1 / length));
    const map = { rows: words, columns: words, weights, largest: 1 / length,
                  rowTitle: 'a', columnTitle: 'b' };
    const { element } = ribbons({ map, look() {}, keep() {} });
    document.querySelector('#panes').replaceChildren(element);
}"""
THICKNESS = """all => all.map((path) => {
    const [, a, c, d, b] = path.getAttribute('d').match(
        /^M0 ([-.\\d]+)C45 [-.\\d]+ 55 [-.\\d]+ 100 ([-.\\d]+)V([-.\\d]+)C55 [-.\\d]+ 45 ([-.\\d]+)/
    ).map(Number);
    return [c, Math.min(b - a, d - c)];
})"""


def measured(page, expression, argument=None):
    return page.evaluate(f"(argument) => {{ {MEASURING}\n return {expression}; }}", argument)


def address(model):
    state = {name: text for name, text in SHOWN[model].items() if not name.startswith("in.")}
    inputs = {name[3:]: text for name, text in SHOWN[model].items() if name.startswith("in.")}
    return {"model": model, "inputs": inputs, **state}


@pytest.mark.parametrize("model", SHOWN)
def test_every_word_has_contrast_whatever_is_looked_at(open_page, model):
    page = open_page(**address(model))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        least = measured(
            page,
            """[...document.querySelectorAll('.token, .prose')].slice(0, 40).map((token) => {
                token.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
                return leastContrast();
            }).sort(([one], [other]) => one - other)[0]""",
        )
        assert least[0] >= 4.5, (scheme, least)


def test_any_weight_leaves_its_word_contrast(open_page):
    page = open_page(model="word_by_word", inputs={"text": "two"})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        least = measured(
            page,
            """import('/assets/tokens.js').then(({ TokenList }) => {
                const words = Array.from({ length: 201 }, (_, at) =>
                    ({ text: `w${at}`, said: '', special: at % 2 === 0, members: [at] }));
                const calls = { look() {}, keep() {} };
                const list = new TokenList({ label: '', words, kind: 'prose', ...calls });
                document.querySelector('#panes').replaceChildren(list.element);
                list.heat(words.map((_, at) => at / 200), 1);
                return leastContrast(list.element);
            })""",
        )
        assert least[0] >= 4.5, (scheme, least)


@pytest.mark.parametrize("context", [HEBREW, QUOTED])
def test_words_stand_in_the_order_in_which_they_are_read(open_page, context):
    page = open_page(model="squad_dcn", inputs={"question": context, "context": context})
    for list_of in (".prose.marked", ".prose:not(.marked)"):
        text = page.inner_text(list_of)
        seen, expected = measured(
            page, f"orders(document.querySelector('{list_of}'), argument)", text
        )
        assert len(seen) > 9
        assert seen == expected
    assert seen != sorted(seen)
    page.hover(".prose.marked .token >> nth=2")
    if context == HEBREW:
        assert "\u2068" in page.text_content(".readout")  # the word by itself, before its numbers


def test_after_an_error_no_old_answer_stays(open_page):
    page = open_page(model="tiny_cloze", accept="400")
    page.fill("#in-query", "a query without a blank")
    page.keyboard.press("Enter")
    page.wait_for_selector("#said.error")
    # The server says which signature refused it, of which who types knows nothing.
    assert page.inner_text("#said").startswith("every query must hold XXXXX exactly once")
    assert "serving_default" not in page.inner_text("#said")
    assert page.locator("#panes *").count() == 0
    page.click(".example")
    page.wait_for_selector("#said.done")
    page.fill("#in-query", " ")
    page.keyboard.press("Enter")
    page.wait_for_selector("#said.error")
    assert page.locator("#panes *").count() == 0


def test_every_probability_says_what_it_is(open_page):
    page = open_page(**address("squad_dcn"))
    assert page.inner_text(".chance").startswith("probability 0.")
    assert len(texts(page, ".steps .chances")) == 4
    for chances in texts(page, ".steps .chances"):
        assert chances.startswith("start 0.")
        assert " · end 0." in chances
    page = open_page(**address("tiny_cloze"))
    assert page.inner_text(".chance").startswith("probability 0.")
    assert texts(page, ".caption") == ["Candidates and their probabilities"]
    page = open_page(model="tiny_pairs", inputs={"premise": "a", "hypothesis": "dull"})
    assert page.inner_text(".chance").endswith(", the highest of 3 classes")
    assert texts(page, ".caption") == ["Classes and their probabilities"]
    classes = texts(page, ".likely .estimate")
    assert sorted(classes) == sorted(LABELS["tiny_pairs"])
    assert classes[0] == page.inner_text(".result")
    chances = [float(chance) for chance in texts(page, ".likely .chances")]
    assert chances == sorted(chances, reverse=True)
    assert sum(chances) == pytest.approx(1.0, abs=0.02)
    page = open_page(**address("tiny_lstmn"))
    assert texts(page, ".caption") == ["Next words and their probabilities"]
    assert len(texts(page, ".likely .candidate")) == 3
    assert page.inner_text(".result") == f"… {texts(page, '.likely .estimate')[0]}"


def test_the_sides_of_every_map_are_told_apart(open_page):
    page = open_page(**address("tiny_transformer"))
    kinds = page.locator("[aria-label='Which attention'] button")
    assert kinds.count() == 4
    for number in range(kinds.count()):
        kinds.nth(number).click()
        sides = texts(page, ".ribbons .side")
        assert len({*sides}) == 2, sides
    assert texts(page, ".row-name") == ["layer 1", "layer 2"]
    assert texts(page, ".column-name") == ["1", "2", "mean"]
    assert "a row a word written, a column a word written before it" in page.inner_text(".chosen")


def test_thumbnails_of_heads_are_seen_on_light_and_on_dark_paper(open_page):
    page = open_page(**address("tiny_transformer"))
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")
        found = measured(page, "[...document.querySelectorAll('.grid canvas')].map(cellContrast)")
        assert len(found) == 6
        assert min(found) >= 4.5, scheme


@pytest.mark.parametrize("words", [50, 150, 400])
def test_long_texts_are_read_word_by_word(open_page, words):
    text = " ".join(["two dogs run ."] * 100).split()[: words - 1]
    page = open_page(model="word_by_word", inputs={"text": " ".join(text)})
    labels = texts(page, ".matrix .names.row .label")
    assert labels == texts(page, ".tokens.row .token")
    assert texts(page, ".matrix .names.column .label") == [*text, "</s>"]
    for kind in (".names.row .label", ".names.column .label", ".tokens.row .token"):
        found = measured(page, "overlaps([...document.querySelectorAll(argument)])", kind)
        assert found == 0, kind
        size = page.locator(kind).first.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
        assert size >= 10
    assert page.evaluate("document.documentElement.scrollHeight") < 2500  # the boxes scroll
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.locator(".ribbons .bands").bounding_box()["width"] > 50
    if words == 400:
        page.click(".overview", position={"x": 100, "y": 100})
        box = page.locator(".scroller").bounding_box()
        label = page.locator(".names.row .label >> nth=330").bounding_box()
        assert box["y"] < label["y"] < box["y"] + box["height"]
        assert label["x"] > box["x"]  # the words stay, however far the cells are moved


def test_ribbons_of_spread_attention_are_still_seen(open_page, tmp_path):
    page = open_page(model="word_by_word", inputs={"text": "two"})
    page.evaluate(UNIFORM, 400)
    found = page.locator(".bands path").evaluate_all(THICKNESS)
    assert len({int(end // 21) for end, _ in found}) == 400  # each word has its ribbons
    assert min(thick for _, thick in found) >= 0.9
    page.locator(".bands").screenshot(path=tmp_path / "bands.png")
    pixels = imread(tmp_path / "bands.png")[100:500, :, :3]  # of what is not scrolled away
    assert np.median(np.abs(pixels - to_rgb(colors.PAPER)).max(axis=2)) > 0.1
    assert measured(page, "overlaps([...document.querySelectorAll('.tokens.row .token')])") == 0


def test_probabilities_are_seen_in_long_contexts(open_page):
    asked = "The lamp of the lighthouse was repaired by a clockmaker, Ida Moreau. "
    context = "The keeper named his boat after the sea. " * 40
    inputs = {"question": "Who repaired the lamp?", "context": context + asked + context}
    page = open_page(model="squad_dcn", inputs=inputs)
    assert page.locator(".prose.marked .token").count() > 600
    strips = page.locator(".strip").all()
    assert len(strips) == 4
    for strip in strips:
        narrowest = strip.evaluate(
            "e => e.getBoundingClientRect().width / e.viewBox.baseVal.width"  # of one bar
        )
        assert narrowest >= 2
        heights = strip.evaluate(
            "e => ['start', 'end'].map((side) => e.querySelector(`.${side}`))"
            ".map((bars) => bars.getBoundingClientRect().height)"
        )
        assert min(heights) >= 1.5


def test_a_picture_holds_all_that_the_page_scrolls_to(open_page, tmp_path):
    words = 120
    text = " ".join(["two dogs run ."] * 30)
    page = open_page(model="word_by_word", inputs={"text": text})
    root = ET.parse(saved(page, "svg", tmp_path)).getroot()
    drawn = list(root.iter("{http://www.w3.org/2000/svg}text"))
    assert [one.text for one in drawn].count("two") == 2 * 30
    width, height = float(root.get("width")), float(root.get("height"))
    assert width > words * 12
    assert height > words * 21
    assert all(
        0 <= float(one.get("x") or 0) <= width for one in drawn if one.get("text-anchor") is None
    )
    assert saved(page, "png", tmp_path).read_bytes().startswith(b"\x89PNG")
    assert page.locator(".figure.whole").count() == 0  # and the page is as before


def test_models_are_told_by_what_they_are_and_examples_by_their_first_words(open_page):
    page = open_page(model="squad_dcn", wait=False)
    option = page.locator("#model [value=squad_dcn]").text_content()
    assert option == "DynamicCoattentionNetwork · reading · F1 69.6 · squad_dcn"
    assert page.inner_text("#about").startswith("Finds the answer to a question in a text.")
    assert page.locator("#about").bounding_box()["height"] < 30
    examples = texts(page, ".example")
    assert examples[0] == "Who repaired the lamp of the …"
    assert len({*examples}) == 4


def test_the_limitations_of_every_model_are_read_in_full(open_page):
    names = [*LIMITATIONS]
    page = open_page(width=700, model=names[0], beside=names[1], inputs={"text": "two dogs"})
    for place, name in zip(("limitations", "beside-limitations"), names, strict=True):
        assert page.inner_text(f"#{place}") == f"Not for {LIMITATIONS[name]}."
        cut = page.locator(f"#{place}").evaluate("e => e.scrollWidth > e.clientWidth")
        assert not cut
        picker = page.locator("#beside" if "-" in place else "#model")
        assert place in picker.get_attribute("aria-describedby").split()
    page.select_option("#model", "tiny_cloze")  # its card names none
    page.wait_for_selector("#said.done")
    assert page.inner_text("#limitations") == page.inner_text("#beside-limitations") == ""
