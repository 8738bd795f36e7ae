"""The page in a real browser: what it shows, keys, links, pictures, widths, colours, bad input."""

import re
import xml.etree.ElementTree as ET

import pytest

from tests.explorer.looking import color, texts
from zoo.explorer.examples import EXAMPLES

TEXT = {"text": "two dogs run ."}
STRANGE = [
    "\U0001f43e two",
    "\u05e9\u05dc\u05d5\u05dd two .",
    "<img src=x onerror=alert(1)> two",
    "two\x00 dogs",
    "\ud800",
]
READ = ["two", "dogs", "run", ".", "</s>"]
WRITTEN = ["zwei", "Hunde", "rennen", ".", "</s>"]
ASKED = {
    "question": "Who repaired the lamp of the lighthouse?",
    "context": "The lamp of the lighthouse was repaired by a clockmaker, Ida Moreau.",
}


def brightness(css):
    """Computes the brightness of "rgb(1, 2, 3)", from 0 to 1."""
    return sum(map(float, re.findall(r"[\d.]+", css)[:3])) / 765


def test_a_translation_is_shown_with_ribbons_and_matrix(open_page, tmp_path):
    page = open_page(model="word_by_word", inputs=TEXT)
    assert page.inner_text(".result") == "zwei Hunde rennen."
    assert texts(page, ".tokens.column .token") == READ
    assert texts(page, ".tokens.row .token") == WRITTEN
    assert page.locator(".bands path").count() == 5  # a ribbon a word, and no other has a weight
    assert texts(page, ".matrix .label") == [*WRITTEN, *READ]
    assert re.fullmatch(r"Answered and drawn in \d+ ms\.", page.inner_text("#said"))
    page.screenshot(path=tmp_path / "translation.png")
    assert (tmp_path / "translation.png").stat().st_size > 10_000


def test_pointing_at_a_word_links_what_belongs_to_it(open_page):
    page = open_page(model="word_by_word", inputs=TEXT)
    page.hover(".tokens.row .token >> nth=1")
    assert texts(page, ".tokens.column .linked") == ["dogs"]
    assert texts(page, ".token.active") == ["Hunde"]
    assert page.locator(".bands path.on").count() == 1
    assert page.inner_text(".readout") == "Hunde → dogs\u00a01.00"
    assert texts(page, ".matrix .label.active") == ["Hunde"]
    page.mouse.move(5, 5)
    assert page.locator(".linked, .token.active, .bands path.on").count() == 0
    box = page.locator(".matrix .frame").bounding_box()  # the cell of row 3 and column 3
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5)
    assert page.inner_text(".readout") == "rennen → run: 1.00"
    assert texts(page, ".token.active") == ["run", "rennen"]


def test_every_word_is_reached_with_the_keyboard(open_page):
    page = open_page(model="word_by_word", inputs=TEXT)
    focused = "document.activeElement.textContent"
    page.focus(".tokens.column .token")
    for key, word in [
        ("ArrowDown", "dogs"),
        ("End", "</s>"),
        ("ArrowDown", "</s>"),
        ("Home", "two"),
        ("ArrowRight", "zwei"),
        ("ArrowDown", "Hunde"),
        ("ArrowLeft", "dogs"),
    ]:
        page.keyboard.press(key)
        assert page.evaluate(focused) == word, key
    assert texts(page, ".tokens.row .linked") == ["Hunde"]
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label == "dogs: attended to by Hunde\u00a01.00"
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash.includes('kept=column.1')")
    page.keyboard.press("Tab")  # to the other words, where they were left
    assert page.evaluate(focused) == "Hunde"
    page.keyboard.press("Tab")  # out of them: what is kept stays
    assert texts(page, "[aria-selected=true]") == ["dogs"]
    assert texts(page, ".tokens.row .linked") == ["Hunde"]
    page.focus(".tokens.column .token >> nth=1")
    page.keyboard.press("Escape")
    page.wait_for_function("!location.hash.includes('kept')")
    stops = page.locator(".ribbons [tabindex='0']").count()
    assert stops == 2  # Tab need not go through all words
    assert page.locator("[role=listbox]:not([aria-label])").count() == 0


def test_layers_and_heads_are_chosen_and_kept_in_the_address(open_page):
    page = open_page(model="tiny_transformer", inputs=TEXT)
    kinds = "[aria-label='Which attention'] button"
    assert len(texts(page, kinds)) == 4
    page.click(f"{kinds} >> nth=1")
    heads = page.locator(".grid button")
    assert heads.count() == 2 * (2 + 1)  # two layers of two heads and their mean
    page.wait_for_function("location.hash.includes('map=cross.1.mean')")
    page.keyboard.press("Tab")  # to the grid, and there by the arrow keys
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("location.hash.includes('map=cross.2.2')")
    assert page.inner_text(".chosen b") == "layer 2, head 2"
    assert page.evaluate("document.activeElement.title") == "layer 2, head 2"
    page.click(f"{kinds} >> nth=3")
    columns = texts(page, ".tokens.column .token")
    assert columns == ["<s>", *texts(page, ".tokens.row .token")[:-1]]
    link = page.url.replace("decoder.1.mean", "encoder.2.1")
    assert link != page.url
    page.goto(link)
    page.wait_for_selector("#said.done")
    assert page.inner_text(".chosen b") == "layer 2, head 1"
    assert texts(page, ".tokens.column .token") == texts(page, ".tokens.row .token") == READ


def test_two_models_stand_side_by_side_and_follow_each_other(open_page):
    page = open_page(model="word_by_word", beside="tiny_transformer", inputs=TEXT)
    boxes = [pane.bounding_box() for pane in page.locator(".pane").all()]
    assert len(boxes) == 2
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"]
    assert texts(page, ".pane h2") == ["WordByWord", "TinyTransformer"]
    tops = [one.bounding_box()["y"] for one in page.locator(".ribbons").all()]
    assert tops[0] == tops[1]
    page.hover(".tokens.column .token >> nth=1")
    assert texts(page, ".tokens.column .token.active") == ["dogs", "dogs"]
    page.select_option("#beside", "")
    page.wait_for_selector("#said.done")
    assert page.locator(".pane").count() == 1


def test_a_reader_is_followed_iteration_by_iteration(open_page, tmp_path):
    page = open_page(model="squad_dcn", step="1", inputs=ASKED)
    assert page.inner_text(".result") == "Ida Moreau"
    assert texts(page, ".token.answer") == ["Ida", "Moreau"]
    steps = page.locator("[aria-label='Iteration of the decoder'] button")
    assert steps.count() == 4
    assert steps.nth(0).get_attribute("aria-checked") == "true"
    assert page.inner_text(".prose.marked") == ASKED["context"]
    page.focus(".steps [aria-checked=true]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert steps.nth(2).get_attribute("aria-checked") == "true"
    page.wait_for_function("location.hash.includes('step=3')")
    first = page.locator(".token.estimated").first
    assert float(first.evaluate("e => e.style.getPropertyValue('--s')")) > 0.1
    assert "rgb" in color(page, ".token.estimated", "background-image") or "color(" in color(
        page, ".token.estimated", "background-image"
    )
    page.hover(".prose:not(.marked) .token >> text=repaired")
    assert page.locator(".prose.marked.heated .linked").count() >= 1
    page.hover(".prose.marked .token >> text=repaired")
    assert texts(page, ".prose:not(.marked) .linked") == ["repaired"]
    page.screenshot(path=tmp_path / "reading.png")


def test_a_cloze_reader_shows_its_document_query_and_candidates(open_page):
    page = open_page(model="tiny_cloze", accept="400")
    words = EXAMPLES["cloze"][0]["document"].split()
    assert page.locator("[aria-label=Document] .token").count() >= len(words)
    assert texts(page, "[aria-label=Query] .special") == ["____"]
    answer = page.inner_text(".result")
    assert {*texts(page, ".token.answer")} == {answer}
    assert page.locator("[aria-label=Document] .linked").count() >= 1
    assert page.locator("[aria-label=Query] .linked").count() >= 1
    assert texts(page, ".candidate .estimate")[0] == answer
    other = page.locator(".steps button").nth(1)
    other.click()
    name = page.locator(".candidate .estimate").nth(1).inner_text()
    assert {*texts(page, ".token.answer")} == {name}
    page.hover("[aria-label=Query] .token >> nth=2")
    assert " → " in page.inner_text(".readout")
    page.fill("#in-query", "a query without a blank")
    page.keyboard.press("Enter")
    page.wait_for_selector("#said.error")
    assert "every query must hold XXXXX exactly once" in page.inner_text("#said")


def test_a_reader_with_a_tape_shows_earlier_words_only(open_page):
    page = open_page(model="tiny_lstmn", inputs={"text": "a fine film . a dull film"})
    assert texts(page, ".prose .token")[0] == "before"
    page.hover(".prose .token >> nth=3")
    linked = page.locator(".prose .linked")
    positions = {int(one.get_attribute("data-position")) for one in linked.all()}
    assert positions
    assert max(positions) < 3
    assert page.inner_text(".result").startswith("… ")


def test_a_pair_of_texts_is_shown_as_one(open_page):
    page = open_page(model="tiny_pairs", inputs={"premise": "a fine film", "hypothesis": "dull ."})
    assert page.inner_text(".result") in ("yes", "no", "perhaps")
    assert texts(page, ".tokens.column .token") == ["a", "fine", "film"]
    assert texts(page, ".tokens.row .token") == ["dull", "."]


def test_pictures_are_saved_as_they_are_seen(open_page, tmp_path):
    page = open_page(model="word_by_word", inputs=TEXT, kept="row.1")
    for ending in ("svg", "png"):
        with page.expect_download() as waited:
            page.click(f"[aria-label='Save as {ending.upper()}']")
        assert waited.value.suggested_filename == f"attention_word_by_word.{ending}"
        waited.value.save_as(tmp_path / f"picture.{ending}")
    root = ET.parse(tmp_path / "picture.svg").getroot()
    drawn = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert drawn.count("Hunde") == drawn.count("dogs") == 2  # beside the ribbons, and the matrix
    assert not [name for element in root.iter() for name in element.attrib if name == "class"]
    colors = {element.get("fill") for element in root.iter()}
    assert len(colors) > 3
    assert not any("var(" in (value or "") or "color(" in (value or "") for value in colors)
    picture = (tmp_path / "picture.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20]) == 2 * int(root.get("width"))


@pytest.mark.parametrize("model", ["word_by_word", "squad_dcn", "tiny_cloze"])
def test_a_phone_need_not_scroll_sideways(open_page, model, tmp_path):
    beside = {"beside": "tiny_transformer"} if model == "word_by_word" else {}
    inputs = {"text": "two dogs run . " * 3} if beside else None
    page = open_page(model=model, width=360, inputs=inputs, **beside)
    widest = page.evaluate("Math.max(...[...document.querySelectorAll('*')]"
                           ".filter(e => !e.closest('svg, .scroller'))"
                           ".map(e => e.getBoundingClientRect().right))")  # fmt: skip
    assert widest <= 360
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.screenshot(path=tmp_path / "phone.png", full_page=True)


def test_light_and_dark_follow_the_system(open_page):
    page = open_page(model="word_by_word", inputs=TEXT, kept="row.1")
    light = [brightness(color(page, where)) for where in ("body", ".tokens.column .linked")]
    assert light[0] > 0.9
    assert light[1] < 0.5  # more is further from the paper
    assert brightness(color(page, "body", "color")) < 0.2
    page.emulate_media(color_scheme="dark")
    dark = [brightness(color(page, where)) for where in ("body", ".result")]
    assert dark[0] < 0.15
    assert brightness(color(page, "body", "color")) > 0.8


def test_a_text_of_any_kind_is_answered_or_refused_in_one_line(open_page):
    page = open_page(model="word_by_word", inputs=TEXT, accept="413")
    for text in ("", "   ", "\n\t"):
        page.fill("#in-text", text)
        page.click(".show")
        page.wait_for_selector("#said.error")
        assert page.inner_text("#said") == "Text to translate: type something first."
    for text in STRANGE:
        page.evaluate("text => { document.querySelector('#in-text').value = text }", text)
        page.click(".show")
        page.wait_for_selector("#said.done")
        shown = " ".join(texts(page, ".tokens.column .token"))
        assert shown.endswith("</s>")
    assert page.locator("#panes img").count() == 0
    page.fill("#in-text", "two dogs " * 5_000)
    page.click(".show")
    page.wait_for_selector("#said.error")
    said = page.locator("#said")
    assert "40000 bytes" in said.inner_text()
    assert said.bounding_box()["height"] < 60
    page.fill("#in-text", TEXT["text"])  # and goes on
    page.keyboard.press("Enter")
    page.wait_for_selector("#said.done")


def test_markup_is_text(open_page):
    page = open_page(model="word_by_word", inputs={"text": "<b>two</b> &amp; dogs"})
    shown = "".join(texts(page, ".tokens.column .token"))
    assert "<" in shown
    assert page.locator(".tokens b").count() == 0


def test_what_is_beyond_the_limit_is_told(open_page):
    page = open_page(model="tiny_transformer", inputs={"text": "two dogs run . " * 4})
    assert "longer than the model reads" in page.inner_text(".note")
    assert page.locator(".tokens.column .token").count() == 12


def test_a_model_that_cannot_be_loaded_is_one_line_and_others_go_on(open_page):
    page = open_page(model="broken", wait=False)
    page.wait_for_selector("#said.error")
    assert page.inner_text("#said").startswith("broken cannot be loaded: ")
    page.select_option("#model", "word_by_word")
    page.wait_for_selector("#said.done")
    assert page.locator(".ribbons").count() == 1


def test_an_address_that_makes_no_sense_is_mended(open_page):
    wrong = {"beside": "nothing", "map": "x.9.9", "kept": "row.99", "step": "-3"}
    page = open_page(model="nothing", inputs={"question": "of another task"}, **wrong)
    page.wait_for_function("location.hash.includes('model=word_by_word')")
    assert page.input_value("#in-text") == EXAMPLES["translation"][0]["text"]
    page.click("[aria-label^='Example 2: Two children are']")
    page.wait_for_function("document.querySelector('#in-text').value.startsWith('Two children')")
    page.wait_for_selector("#said.done")
    page.go_back()
    page.wait_for_function("!document.querySelector('#in-text').value.startsWith('Two children')")


def test_subwords_are_put_together_to_words(open_page, address):
    page = open_page(model="word_by_word", inputs=TEXT)
    found = page.evaluate(
        """async () => {
        const { merge, pieces, words } = await import('/assets/words.js');
        const tokens = ['▁A', '▁frozen', '▁la', 'ke', '-', 'side', '.', '</s>', {b64: '/w=='}];
        const list = words(tokens);
        const weights = tokens.map((_, r) => tokens.map((_, c) => (r === c ? 1 : 0)));
        return [list.map(({ text }) => text), merge(weights, list, pieces(tokens))[2],
                merge(weights, pieces(tokens), list)[2], words(['a', 'b']).length];
    }"""
    )
    assert found[0] == ["A", "frozen", "lake", "-", "side", ".", "</s>", "\ufffd"]
    assert found[1] == [0, 0, 0.5, 0.5, 0, 0, 0, 0, 0]  # the mean over the pieces of a row
    assert found[2] == [0, 0, 1, 0, 0, 0, 0, 0]  # the sum over those of a column
    assert found[3] == 2
