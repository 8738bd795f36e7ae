"""Words that have a meaning for scripts or none for XML, and tasks that the page does not know."""

import xml.etree.ElementTree as ET

import pytest

from tests.explorer.looking import saved, texts
from tests.plots.test_words import CASES
from zoo.plots.text import as_text

INHERITED = """() => Object.getOwnPropertyNames(Object.prototype)"""
FORBIDDEN = [*map(chr, range(1, 32)), "\x7f", "\x85", "\ufdd0", "\ufffe", "\uffff", "\U0001ffff"]


def test_words_that_every_object_has_are_ordinary_words(open_page):
    page = open_page(model="word_by_word", inputs={"text": "two"})
    names = page.evaluate(INHERITED)
    assert {"constructor", "toString", "valueOf", "__proto__", "hasOwnProperty"} <= {*names}
    page.fill("#in-text", " ".join(["two", *names, "<unk>"]))
    page.keyboard.press("Enter")
    page.locator(".tokens.column .token >> nth=9").wait_for()
    listed = page.locator(".tokens.column .token")
    shown = listed.evaluate_all("all => all.map(e => [e.textContent, e.ariaLabel, e.className])")
    assert "two" in [text for text, _, _ in shown]
    ordinary = [one for one in shown if one[0] not in ("<unk>", "</s>")]
    assert {*names} - {text.replace("\u2423", "_") for text, _, _ in ordinary} <= {
        name
        for name in names
        if "__" in name  # which the tokenizer cuts
    }
    for text, said, kind in ordinary:
        assert said.startswith(f"{text}: "), said
        assert "native code" not in said
        assert "special" not in kind
    for name in names:  # as one token, whatever cuts texts
        found = page.evaluate(
            "async (name) => (await import('/assets/words.js')).pieces([name, '<s>', '▁x'])", name
        )
        assert found[0] == {"text": name, "said": name, "special": False, "members": [0]}
        assert found[1]["special"]
    joined = page.evaluate(
        "async (tokens) => (await import('/assets/words.js')).words(tokens).map((one) => one.text)",
        ["▁un", "constructor", "▁x"],
    )
    assert joined == ["unconstructor", "x"]


def test_an_address_with_names_that_every_object_has_is_read(open_page):
    page = open_page(model="constructor", map="__proto__", kept="valueOf", inputs={"text": "two"})
    found = page.evaluate(
        "async () => Object.entries((await import('/assets/address.js'))"
        ".read('#in.__proto__=a&in.constructor=b&in.text=c').inputs)"
    )
    assert found == [["__proto__", "a"], ["constructor", "b"], ["text", "c"]]
    assert page.input_value("#in-text") == "two"


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_characters_that_xml_forbids_are_saved_in_pictures(open_page, tmp_path, ending):
    page = open_page(model="word_by_word", inputs={"text": "two"})
    text = " ".join(f"a{one}b" for one in FORBIDDEN)
    page.evaluate("text => { document.querySelector('#in-text').value = text + '\\ud800' }", text)
    page.click(".show")
    page.locator(".tokens.column .token >> nth=20").wait_for()
    path = saved(page, ending, tmp_path)
    if ending == "png":
        assert path.read_bytes().startswith(b"\x89PNG")
        return
    root = ET.parse(path).getroot()
    drawn = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert not {*"".join(drawn)} & {*FORBIDDEN}


def test_what_is_shown_of_characters_without_a_sign(open_page):
    page = open_page(model="word_by_word", inputs={"text": "two"})
    shown = page.evaluate(
        """async () => {
            const { visible } = await import('/assets/words.js');
            const { allowedInXml } = await import('/assets/picture.js');
            const odd = ['\\ufffe', 'a\\uffffb', '\\ud800', '\\ufdd0', '\\u00ad', '\\ufe0f', '\\0'];
            return [odd.map(visible), ['a\\0\\x1f\\ud800b', '\\ufffe', '🐾é\\n'].map(allowedInXml)];
        }"""
    )
    mark = "\ufffd"
    assert shown[0] == [mark, f"a{mark}b", mark, mark, "\u2423", "\u2423", "\u2400"]
    assert shown[1] == [f"a{mark}{mark}{mark}b", mark, "🐾é\n"]


@pytest.mark.parametrize("model", ["odd_task", "new_task"])
def test_a_model_whose_task_the_page_does_not_know_is_one_line_and_others_go_on(open_page, model):
    page = open_page(model=model, wait=False)
    page.wait_for_selector("#said.error")
    assert page.inner_text("#said").startswith(f"{model}: this page cannot show the task ")
    assert model in texts(page, "#model option") or page.locator(f"#model [value={model}]").count()
    assert page.locator("#fields *, #panes *, #examples *").count() == 0
    assert page.locator("#beside").is_hidden()
    page.click(".show")
    page.wait_for_selector("#said.error")
    page.select_option("#model", "word_by_word")
    page.wait_for_selector("#said.done")
    assert page.locator(".ribbons").count() == 1
    page.select_option("#model", model)
    page.wait_for_selector("#said.error")
    assert page.locator("#panes *").count() == 0


def test_the_page_opens_on_a_model_that_it_can_show(open_page):
    page = open_page()  # "odd_task" is the first one
    assert page.input_value("#model") == "word_by_word"


def test_pictures_of_matplotlib_have_the_words_of_the_page(open_page):
    page = open_page(model="word_by_word", inputs={"text": "two"})
    cases = [[as_text(token) for token in tokens] for tokens, _ in CASES]
    found = page.evaluate(
        "async (cases) => { const { words } = await import('/assets/words.js');"
        " return cases.map((tokens) => words(tokens).map((one) => one.text)); }",
        cases,
    )
    assert found == [expected for _, expected in CASES]


def test_the_only_output_of_a_model_has_its_name(open_page):
    """A server leaves it out of its answer."""
    page = open_page(model="word_by_word", inputs={"text": "two"})
    asked = """async (outputs) => {
        const { ask } = await import("/assets/server.js");
        window.fetch = async () => new Response(JSON.stringify({ predictions: [[0.5, 0.5]] }));
        return await ask({ name: "one", signature: "serving_default", outputs }, {});
    }"""
    assert page.evaluate(asked, ["attention_text"]) == {"attention_text": [0.5, 0.5]}
    assert page.evaluate(asked, None) == [0.5, 0.5]
