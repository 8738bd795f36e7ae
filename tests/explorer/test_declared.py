"""Models of any input and any map, shown by what is declared of them and not by their names."""

import base64
import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread, imsave

from tests.contracts.subjects import build
from tests.explorer.looking import saved, texts
from tests.explorer.offered import LABELS, PERSON, load, write_offered
from tests.toys.tasks import GlimpsesTask, RowsTask
from zoo.explorer.models import OfferedModel
from zoo.models.core.registry import find_model

MEASURING = Path(__file__).with_name("measuring.js").read_text()
IMAGE = GlimpsesTask().strings["image"][0]
"""(6, 4, 1), whole steps of 1 / 255."""
ROW = RowsTask().strings["row"][0].round(2)
EVERYTHING = {
    "text": "two dogs run",
    "photo_bytes": f"data:image/png;base64,{base64.b64encode(GlimpsesTask.file(IMAGE)).decode()}",
    "weather": "1 2.5, -3 4e1",
    "path": "1 2\n3 4\n5 6",
}


def outputs_of(name, **inputs):
    """The outputs of a toy to one example."""
    outputs = build(find_model(name))({key: value[None] for key, value in inputs.items()})
    attention = {key: np.array(value)[0] for key, value in outputs["attention"].items()}
    return np.array(outputs["logits"])[0], attention


def pick(page, name, file, content):
    page.set_input_files(f"#in-{name}", {"name": file, "mimeType": "", "buffer": content})


def least_contrast(page):
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found.append(page.evaluate(f"() => {{ {MEASURING}\n return leastContrast(); }}"))
    return min(found)


def opacities(page):
    return [float(one.get_attribute("fill-opacity")) for one in page.locator(".over .cells").all()]


def test_inputs_and_axes_are_told_once_a_model_is_loaded(tmp_path):
    model = OfferedModel("glimpses", write_offered(tmp_path, "glimpses", "classification"))
    told = model.describe()
    assert told["inputs"] is None
    grid = {"kind": "grid", "of": "image", "cell": 2}
    assert told["axes"] == {"attention_glimpses": [{"kind": "steps", "of": "steps"}, grid]}
    model.inputs = load(model.folder).signatures["serving_default"].inputs
    assert model.describe()["inputs"] == {"image": {"dtype": "float32", "shape": (6, 4, 1)}}


def test_an_image_is_picked_sent_and_shown_with_the_cells_of_each_step(open_page, tmp_path):
    logits, attention = outputs_of("Glimpses", image=IMAGE)
    page = open_page(model="glimpses", wait=False)
    page.wait_for_selector("#in-image")
    page.locator("#said", has_text="choose").wait_for()
    assert page.inner_text("#said") == "image: choose a picture first."
    assert page.locator(".field").last.inner_text() == ("image: a picture, scaled to 4 × 6 pixels")
    assert page.locator("#fields textarea, #examples *").count() == 0  # of its task's texts
    assert page.locator("#fields img").is_hidden()
    with page.expect_file_chooser():
        page.press("#in-image", "Enter")  # as everywhere, and sends nothing
    pick(page, "image", "any.png", GlimpsesTask.file(IMAGE))
    page.wait_for_selector("#said.done")
    assert page.inner_text(".result") == ("low", "middle", "high")[logits.argmax()]
    chance = np.exp(logits).max() / np.exp(logits).sum()
    assert page.inner_text(".chance").startswith(f"probability {chance:.2f}, the highest of 3")
    for step, cells in enumerate(attention["glimpses"], 1):
        page.click(f"[aria-label=step] [data-value='{step}']")
        expected = 0.7 * cells.ravel() / attention["glimpses"].max()
        np.testing.assert_allclose(opacities(page), expected, atol=2e-3)
        assert f"step={step}" in page.url
    page.keyboard.press("ArrowLeft")
    assert page.locator("[aria-label=step] [aria-checked=true]").get_attribute("title") == "step 1"
    page.hover(".over .cells >> nth=3")  # of two columns
    weight = attention["glimpses"][0].ravel()[3]
    assert page.inner_text(".readout") == f"row 2, column 2: {weight:.2f}"
    said = page.locator(".over").get_attribute("aria-label")
    assert re.match(r"glimpses, step 1: row \d, column \d\s0\.\d\d, row ", said)
    assert least_contrast(page)[0] >= 4.5
    page.screenshot(path=tmp_path / "glimpses.png", full_page=True)


def test_a_link_holds_the_image_and_a_picture_of_another_size_is_scaled(open_page, tmp_path):
    large = io.BytesIO()
    imsave(large, np.kron(IMAGE[..., 0], np.ones((20, 20))), format="png", cmap="gray")
    page = open_page(model="glimpses", wait=False)
    pick(page, "image", "large.png", large.getvalue())
    page.wait_for_selector("#said.done")
    weights = opacities(page)
    page.goto(f"{page.url}&step=2")
    page.reload()
    page.wait_for_selector("#said.done")
    assert page.locator("#fields img").evaluate("e => [e.naturalWidth, e.naturalHeight]") == [4, 6]
    assert (
        page.locator("[aria-label=step] [data-value='2']").get_attribute("aria-checked") == "true"
    )
    page.click("[aria-label=step] [data-value='1']")
    assert opacities(page) == weights
    drawn = saved(page, "svg", tmp_path)
    images = list(ET.parse(drawn).getroot().iter("{http://www.w3.org/2000/svg}image"))
    assert [one.get("href")[:22] for one in images] == ["data:image/png;base64,"] * 2
    pixels = imread(saved(page, "png", tmp_path))
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 20  # the picture is in the picture


def test_what_is_no_picture_is_told_in_one_line(open_page):
    page = open_page(model="glimpses", inputs={"image": "data:image/png;base64,AAAA"}, wait=False)
    page.wait_for_selector("#said.error")
    assert page.inner_text("#said") == "image: this browser cannot read the picture."
    pick(page, "image", "text.png", b"no picture")
    page.wait_for_selector("#said.error")
    page.goto(page.url.partition("#")[0] + "#model=glimpses&in.image=x")
    page.locator("#said", has_text="anew").wait_for()
    assert page.inner_text("#said") == "image: choose the picture anew."
    pick(page, "image", "any.png", GlimpsesTask.file(IMAGE))  # and goes on
    page.wait_for_selector("#said.done")


def test_a_row_of_features_is_typed_and_shown_as_bars(open_page, tmp_path):
    logits, attention = outputs_of("Rows", row=ROW)
    page = open_page(model="rows", accept="400", wait=False)
    page.wait_for_selector("#in-row")
    assert page.locator("#fields .field").inner_text() == "row: 4 numbers"
    page.fill("#in-row", ", ".join(map(str, ROW)))
    page.keyboard.press("Enter")
    page.wait_for_selector("#said.done")
    assert page.inner_text(".result") == ("low", "middle", "high")[logits.argmax()]
    assert texts(page, ".bars .caption") == ["slot 1", "slot 2"]
    names = [f"feature {number}" for number in range(1, 5)]
    assert texts(page, ".bars .estimate") == 2 * names
    shown = [float(one) for one in texts(page, ".bars .chances")]
    np.testing.assert_allclose(shown, attention["features"].ravel(), atol=6e-3)
    lengths = page.locator(".bars .bar").evaluate_all(
        "all => all.map(e => Number(e.style.getPropertyValue('--w')))"
    )
    largest = attention["features"].max()
    np.testing.assert_allclose(lengths, attention["features"].ravel() / largest, atol=1e-3)
    assert least_contrast(page)[0] >= 4.5
    page.screenshot(path=tmp_path / "rows.png", full_page=True)
    for row, message in [
        ("1, two, 0, 1", 'row: "two" is not a number.'),
        ("1, 2, 0", "Input row: expecting shape [?,4] but got: [1,3]"),
        (" ", "row: type something first."),
    ]:
        page.fill("#in-row", row)
        page.keyboard.press("Enter")
        page.locator("#said", has_text=message).wait_for()
        assert page.locator("#panes *").count() == 0


def test_a_row_of_a_table_has_a_field_for_each_column_and_bars_with_their_names(open_page):
    page = open_page(model="tiny_table")
    fields = page.locator("#fields .field").all_inner_texts()
    assert fields == [
        "age: a number or nothing",
        "gain: a number or nothing",
        "work: a text or nothing",
        "sex: a text or nothing",
    ]
    typed = {name: page.input_value(f"#in-{name}") for name in PERSON}
    assert typed == {name: str(value) for name, value in PERSON.items()}  # of the card
    numbers = [(61.5 - 40) / 10, (1 - 1) / 2]
    logits, attention = outputs_of("FeatureAttention", row=np.array([*numbers, 1, np.nan], "f4"))
    assert page.inner_text(".result") == LABELS["tiny_table"][logits.argmax()]
    assert texts(page, ".bars .estimate") == ["Age", "Gain", "Work", "Sex"]
    shown = [float(one) for one in texts(page, ".bars .chances")]
    np.testing.assert_allclose(shown, attention["features"].ravel(), atol=6e-3)
    assert shown[3] == 0
    assert texts(page, ".bars .caption") == [""]  # there is one slot, which needs no number
    page.fill("#in-age", "old")
    page.keyboard.press("Enter")
    page.locator("#said", has_text='age: "old" is not a number.').wait_for()
    page.fill("#in-age", "  ")
    page.fill("#in-work", "")
    page.keyboard.press("Enter")
    page.locator("#said", has_text="Answered and drawn").wait_for()
    _, attention = outputs_of("FeatureAttention", row=np.array([np.nan, 0, np.nan, np.nan], "f4"))
    shown = [float(one) for one in texts(page, ".bars .chances")]
    np.testing.assert_allclose(shown, attention["features"].ravel(), atol=6e-3)
    assert shown == [0, 1, 0, 0]


def test_inputs_of_every_kind_are_sent_as_the_signature_takes_them(open_page):
    page = open_page(model="any_maps", inputs=EVERYTHING)
    assert page.locator("#fields .field").all_inner_texts() == [
        "text",
        "photo bytes: a file",
        "weather: 4 numbers",
        "path: lines of 2 numbers",
    ]
    sent = page.evaluate(
        """async (inputs) => {
            const { encoded } = await import('/assets/fields.js');
            const { ready } = await import('/assets/server.js');
            return encoded(await ready('any_maps'), inputs);
        }""",
        EVERYTHING,
    )
    assert sent == {
        "text": "two dogs run",
        "photo_bytes": {"b64": EVERYTHING["photo_bytes"].partition(",")[2]},
        "weather": [1, 2.5, -3, 40],
        "path": [[1, 2], [3, 4], [5, 6]],
    }
    assert page.inner_text(".result") == "two dogs run"  # the only answer that is a text


def test_every_map_is_shown_as_its_axes_ask(open_page, tmp_path):
    page = open_page(model="any_maps", inputs=EVERYTHING)
    words, kinds = ["two", "dogs", "run"], "[aria-label='Which attention'] button"
    assert texts(page, kinds) == ["words", "notes", "heads", "cells", "list", "parts", "hops"]
    assert texts(page, ".prose .token") == [*words, "<none>"]
    page.hover(".prose .token >> nth=3")
    assert page.inner_text(".readout") == "<none>: 0.40"
    page.click(f"{kinds} >> text=notes")
    assert texts(page, ".matrix .names.row .label") == ["slot 1", "slot 2"]
    assert texts(page, ".matrix .names.column .label") == words
    page.click(f"{kinds} >> text=heads")
    assert texts(page, ".matrix .names.column .label") == ["step 1", "step 2", "step 3"]
    assert page.locator(".grid button").count() == 2 * (2 + 1)
    assert "a row is of text, a column of step." in page.inner_text(".chosen")
    page.click(f"{kinds} >> text=cells")
    assert page.locator(".over .cells").count() == 6
    assert page.locator(".pictures image").count() == 2
    assert page.locator(".over").get_attribute("viewBox") == "0 0 4 6"  # of the file
    page.click(f"{kinds} >> text=list")
    assert texts(page, ".bars .estimate") == ["left", "right"]
    page.click(f"{kinds} >> text=parts")
    assert texts(page, ".bars .chances") == ["0.10", "0.20", "0.30", "0.40"]
    page.click(f"{kinds} >> text=hops")
    assert texts(page, ".prose .token") == words
    assert texts(page, "[aria-label=hop] button") == ["sum", "1", "2", "3"]
    assert page.inner_text(".readout").replace("\u00a0", " ").startswith("Most weight: run 1.50")
    page.click("[aria-label=hop] [data-value='2']")
    assert page.inner_text(".readout").replace("\u00a0", " ").startswith("Most weight: run 0.50")
    page.keyboard.press("ArrowRight")
    assert "step=3" in page.url
    for number in range(page.locator(kinds).count()):
        page.locator(kinds).nth(number).click()
        assert least_contrast(page)[0] >= 4.5
        page.screenshot(path=tmp_path / f"map{number}.png", full_page=True)


@pytest.mark.parametrize("model", ["glimpses", "rows", "any_maps"])
def test_a_phone_need_not_scroll_sideways_for_any_map(open_page, model):
    image = EVERYTHING["photo_bytes"]
    inputs = {"glimpses": {"image": image}, "rows": {"row": "0 0 0 0"}, "any_maps": EVERYTHING}
    page = open_page(model=model, width=360, inputs=inputs[model])
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_an_answer_with_only_a_part_of_a_known_tasks_names_is_shown_by_its_axes(open_page):
    """A caption has words that are written, but none that were read."""
    page = open_page(model="word_by_word", inputs={"text": "two"})
    page.evaluate(
        """async () => {
            const { fillPane } = await import('/assets/answers.js');
            const pane = document.querySelector('.pane');
            const axes = { attention_looks: [{ kind: 'steps', of: 'target' },
                                             { kind: 'grid', of: 'image', cell: 1 }] };
            const outputs = { target_tokens: ['a', 'dog', '</s>'], target_length: 3,
                              caption: 'a dog', attention_looks: Array(3).fill([[0.5, 0.5]]) };
            const given = { inputs: {}, state: {}, change() {}, looked() {}, width: 400 };
            fillPane({ pane, model: { axes, limits: { maximum_tokens: 3 } }, outputs, given,
                       tools: [] });
        }"""
    )
    assert page.inner_text(".result") == "a dog"
    assert texts(page, ".looks .option") == ["a", "dog", "</s>"]
    assert page.locator(".note").count() == 0  # of what is written nothing was left unread


def test_the_bits_of_an_algorithm_are_its_answer(open_page):
    page = open_page(model="word_by_word", inputs={"text": "two"})
    page.evaluate(
        """async () => {
            const { fillPane } = await import('/assets/answers.js');
            const pane = document.querySelector('.pane');
            const outputs = { bits: ['01', '11', '10'], probabilities: [[0, 1], [1, 1], [1, 0]] };
            const given = { inputs: {}, state: {}, change() {}, looked() {}, width: 400 };
            fillPane({ pane, model: { axes: {}, limits: {} }, outputs, given, tools: [] });
        }"""
    )
    assert page.inner_text(".result") == "01 11 10"
