"""Answers that are made step by step: played, paused and scrubbed; what is drawn is sent."""

import io
import re

import numpy as np
import pytest
from matplotlib.image import imsave

from tests.contracts.subjects import build
from tests.explorer.looking import texts
from tests.explorer.offered import SEQUENCE
from zoo.explorer.models import _typed
from zoo.models.core.registry import find_model
from zoo.models.ntm.heads import write

LINES = "\n".join(" ".join(map(str, step)) for step in SEQUENCE)


@pytest.fixture
def outputs():
    """Outputs of the page's machine for the sequence of its card."""
    model = build(find_model("NeuralTuringMachine"), write_heads=2)
    vectors = np.array([SEQUENCE], "float32")
    return model({"vectors": vectors, "length": np.array([4], "int32")})


def memories(outputs):
    memory, weights = outputs["first_memory"], outputs["attention"]["write"]
    for step in range(weights.shape[2]):
        memory = write(
            memory, weights[:, :, step], outputs["erases"][:, step], outputs["adds"][:, step]
        )
        yield memory[0].numpy()


def place(page):
    return page.inner_text(".player .place")


def scrub(page, step):
    page.locator(".player input").evaluate(
        "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", str(step)
    )


def test_the_example_of_a_machine_is_typed_asked_and_drawn(open_page, outputs):
    page = open_page(model="tiny_machine")
    assert page.input_value("#in-vectors") == LINES
    assert page.locator(".drawing .one").count() == sum(map(sum, SEQUENCE))
    assert place(page) == "step 1 of 4"
    bits = ["".join("01"[int(z > 0)] for z in step) for step in outputs["logits"][0].numpy()]
    assert page.inner_text(".result") == " ".join(bits)
    heads = ["write head 1", "write head 2", "read head 1", "read head 2"]
    assert texts(page, ".panel p") == ["given", "answered", *heads, "memory after the step"]
    assert f"answers {bits[0]}" in page.inner_text(".readout")


def test_the_memory_on_the_page_is_that_of_the_machine(open_page, outputs):
    page = open_page(model="tiny_machine")
    sent = {
        name: np.asarray(outputs[name])[0].tolist() for name in ("first_memory", "erases", "adds")
    }
    sent["attention_write"] = outputs["attention"]["write"][0].numpy().tolist()
    found = page.evaluate(
        """async (outputs) => {
            const { memoriesOf } = await import('/assets/machine.js');
            return memoriesOf(outputs, 4);
        }""",
        sent,
    )
    for one, expected in zip(found, memories(outputs), strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-5, atol=1e-6)


def test_steps_are_scrubbed_clicked_and_kept_in_the_address(open_page, outputs):
    page = open_page(model="tiny_machine")
    weights = outputs["attention"]["write"][0, 0].numpy()
    for step in (3, 2):
        scrub(page, step)
        assert place(page) == f"step {step} of 4"
        assert f"step={step}" in page.url
        slot = weights[step - 1].argmax()
        expected = f"write head 1 slot {slot + 1}\xa0{weights[step - 1, slot]:.2f}"
        assert expected in page.inner_text(".readout")
        said = page.locator(".player input").get_attribute("aria-valuetext")
        assert said == page.inner_text(".readout")
    marks = page.locator(".mark.write").evaluate_all(
        "all => all.map(e => +e.getAttribute('fill-opacity'))"
    )
    np.testing.assert_allclose(marks[: weights.shape[1]], weights[1], atol=2e-3)
    panel = page.locator(".panel svg").nth(1).bounding_box()
    page.mouse.click(panel["x"] + panel["width"] - 4, panel["y"] + 3)
    assert place(page) == "step 4 of 4"
    page.reload()
    page.wait_for_selector("#said.done")
    assert place(page) == "step 4 of 4"


def test_steps_play_to_the_end_pause_and_begin_again(open_page):
    page = open_page(model="tiny_machine")
    page.click(".play")
    assert page.inner_text(".play") == "Pause"
    page.locator(".place", has_text="step 4 of 4").wait_for()
    page.locator(".play", has_text="Play").wait_for()
    page.click(".play")
    assert place(page) == "step 1 of 4"
    page.click(".play")
    stopped = place(page)
    page.wait_for_timeout(1500)
    assert place(page) == stopped


def test_bits_are_drawn_and_a_length_left_out_is_that_of_the_lines(open_page):
    page = open_page(model="tiny_machine")
    page.fill("#in-length", "")
    page.get_by_role("button", name="longer").click()
    page.get_by_role("button", name="clear").first.click()
    page.locator(".drawing svg").hover()
    box = page.locator(".drawing svg").bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 8 + 16, box["y"] + 8)
    page.mouse.up()
    page.mouse.click(box["x"] + 8, box["y"] + 8)  # and takes it away again
    zeros = "0 0 0 0 0"
    assert page.input_value("#in-vectors") == "\n".join([zeros, "1 0 0 0 0", zeros, zeros, zeros])
    page.click(".show")
    page.wait_for_selector("#said.done")
    assert place(page) == "step 1 of 5"
    page.fill("#in-vectors", "0.5 0 0 0 0")
    assert page.locator(".drawing").is_hidden()  # it is no sequence of bits


def test_an_active_memory_is_played_through_its_steps(open_page):
    page = open_page(model="tiny_gpu", inputs={"symbols": "abc"})
    assert place(page) == "step 1 of 3"
    scrub(page, 2)
    assert "step=2" in page.url
    changes = build(find_model("NeuralGPU"))({"symbols": np.array([[1, 2, 3]])})["attention"]
    weights = changes["change"][0, 1].numpy()
    assert page.inner_text(".readout").startswith(f"Most weight: {'abc'[weights.argmax()]}\xa0")
    assert page.locator(".choice [aria-checked=true]").get_attribute("title") == "step 2"
    page.get_by_role("radio", name="sum of all 3").click()
    assert "step=" not in page.url


def test_a_digit_is_drawn_and_each_glimpse_tells_what_it_saw_and_believes(open_page):
    page = open_page(model="tiny_retina", wait=False)
    box = page.locator(".ink").bounding_box()
    page.mouse.move(box["x"] + 80, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 84, box["y"] + 140, steps=5)
    page.mouse.up()
    page.wait_for_selector("#said.done")
    model = build(find_model("RecurrentAttentionModel"))
    glimpses, scales = (model.get_config()[name] for name in ("glimpses", "scales"))
    assert place(page) == f"glimpse 1 of {glimpses}"
    assert page.locator(".patches .patch").count() == scales
    assert page.locator(".over g .band").count() == scales
    said = page.inner_text(".readout")
    assert re.fullmatch(r"glimpses, glimpse 1 → \d \d\.\d\d", said), said
    before = page.locator(".patches").inner_html()
    scrub(page, glimpses)
    assert page.locator(".patches").inner_html() != before
    chosen = page.locator(".looks [aria-checked=true]")
    assert chosen.get_attribute("data-value") == str(glimpses)
    assert re.fullmatch(rf"glimpse {glimpses}: \d \d\.\d\d", chosen.inner_text().strip())
    assert float(page.inner_text(".chance").split()[1].rstrip(",")) == pytest.approx(
        float(chosen.inner_text().split()[-1]), abs=0.011
    )


def test_lists_of_an_example_are_typed_line_by_line():
    assert _typed([[1, 0], [0.5, 1]]) == "1 0\n0.5 1"
    assert _typed([1, 2]) == "1 2"
    assert _typed(3) == "3"
    assert _typed(["a, b"]) is None  # a sentence would be cut at its commas
    assert _typed([]) is None


@pytest.mark.parametrize(
    ("used", "shown"),
    [
        ([3, 4], range(1, 7)),
        ([19, 1], [17, 18, 19, 20, 1, 2, 3]),
        ([], range(1, 21)),
        ([1, 7, 14], range(1, 21)),
    ],
)
def test_a_long_run_of_slots_without_a_head_is_left_out(open_page, used, shown):
    page = open_page(model="tiny_machine")
    weights = [[float(slot + 1 in used) for slot in range(20)]]
    found = page.evaluate(
        """async (weights) => {
            const { shownSlots } = await import('/assets/machine.js');
            return shownSlots([{ weights }]);
        }""",
        weights,
    )
    assert [slot + 1 for slot in found] == list(shown)


def test_a_text_that_was_typed_but_not_sent_is_kept_when_a_model_is_chosen(open_page):
    page = open_page(model="word_by_word", inputs={"text": "two"})
    page.fill("#in-text", "two dogs")
    page.select_option("#beside", "tiny_transformer")
    page.wait_for_selector("#panes.two")
    assert page.input_value("#in-text") == "two dogs"
    assert "in.text=two+dogs" in page.url


def test_a_picture_with_transparent_parts_is_refused(open_page):
    page = open_page(model="glimpses", wait=False)
    clear = np.zeros((6, 4, 4))
    clear[:3, :, 3] = 1.0
    file = io.BytesIO()
    imsave(file, clear, format="png")
    image = {"name": "clear.png", "mimeType": "", "buffer": file.getvalue()}
    page.set_input_files("#in-image", image)
    page.locator("#said", has_text="transparent").wait_for()
    said = "image: the picture has transparent parts: save it without transparency."
    assert page.inner_text("#said") == said


def test_cells_are_drawn_where_the_pointer_is_on_a_narrow_page(open_page):
    steps = 40
    lines = "\n".join(["0 0 0 0 0"] * steps)
    page = open_page(model="tiny_machine", width=360, inputs={"vectors": lines, "length": ""})
    box = page.locator(".drawing svg").bounding_box()
    assert box["width"] < steps * 16
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    cell = box["width"] / steps
    page.mouse.click(box["x"] + 2.5 * cell, box["y"] + 4.5 * cell)
    assert page.input_value("#in-vectors").split("\n")[2] == "0 0 0 0 1"
