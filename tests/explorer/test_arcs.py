"""Arcs above a sentence: the soft parents of its words."""

from pathlib import Path

import pytest

from tests.explorer.looking import texts
from zoo.models.core.axes import to_json
from zoo.models.structured.tree_transducer import TreeTransducer
from zoo.tasks.shared.endpoints import map_axes

MEASURING = Path(__file__).with_name("measuring.js").read_text()
PARENTS = [[0, 0, 0, 0], [0.9, 0, 0.06, 0.04], [0.2, 0.7, 0, 0.1], [0, 0.3, 0.5, 0.2]]
"""Row j: probabilities of the parents of word j; the first is the root, and has none."""
FILL = f"""async (given) => {{
    const {{ fillPane }} = await import('/assets/answers.js');
    const {{ asSvg }} = await import('/assets/picture.js');
    const pane = document.querySelector('.pane');
    const state = {{ map: '' }};
    const show = () => {{
        const view = fillPane({{
            pane, outputs: given.outputs, tools: [],
            model: {{ axes: given.axes, limits: {{}} }},
            given: {{ inputs: {{}}, state, change, looked() {{}}, width: 500 }},
        }});
        window.saved = () => asSvg(view.figure, 'arcs').text;
        window.kept = () => state.kept;
    }};
    const change = (more, options) => {{
        Object.assign(state, more);
        if (options?.redraw !== false) show();
    }};
    {MEASURING}
    window.contrast = () => leastContrast();
    show();
}}"""


def outputs_of(parents):
    alignment = [[0.1, 0.2, 0.3, 0.4]] * 2
    return {
        "translation": "b c",
        "source_tokens": ["$", "(", "+", "7"],
        "source_length": 4,
        "target_tokens": ["b", "c"],
        "target_length": 2,
        "attention_alignment": alignment,
        "attention_parents": parents,
    }


@pytest.fixture
def parents(open_page):
    """The page with the axes that the model declares, and the map of parents chosen."""
    page = open_page(model="word_by_word", inputs={"text": "two"})
    axes = to_json(map_axes(TreeTransducer.from_preset("tiny")))
    page.evaluate(FILL, {"outputs": outputs_of(PARENTS), "axes": axes})
    assert texts(page, "[aria-label='Which attention'] button") == ["alignment", "parents"]
    assert page.locator(".ribbons").count() == 1
    page.click("[aria-label='Which attention'] [title=parents]")
    assert page.locator(".ribbons, .matrix").count() == 0
    return page


def test_soft_parents_are_arcs_above_their_words(parents, tmp_path):
    page = parents
    assert texts(page, ".arched .token") == ["$", "(", "+", "7"]
    opacities = page.locator(".arcs .bow").evaluate_all(
        "all => all.map(e => Number(e.getAttribute('stroke-opacity')))"
    )
    assert opacities == [0.06, 0.1, 0.2, 0.2, 0.3, 0.5, 0.7, 0.9]  # 0.04 is not drawn
    widths = page.locator(".arcs .bow").evaluate_all(
        "all => all.map(e => Number(e.getAttribute('stroke-width')))"
    )
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]
    box, word = (
        page.locator(f"{one} >> nth=-1").bounding_box() for one in (".arcs .arc", ".arched .token")
    )
    first = page.locator(".arched .token").first.bounding_box()
    assert box["y"] < first["y"]
    assert box["x"] + box["width"] < word["x"]
    page.hover(".arched .token >> nth=2")
    assert page.inner_text(".readout").replace("\u00a0", " ") == "+ ← ( 0.70, $ 0.20, 7 0.10"
    assert page.locator(".arcs .arc.on").count() == 3
    page.hover(".arched .token >> nth=0")
    assert page.inner_text(".readout") == "$ ← no parent"
    page.click(".arched .token >> nth=1")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".readout").startswith("+ ←")
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    assert page.inner_text(".readout").startswith("( ←")  # which is kept
    assert page.evaluate("kept()") == "row.1"
    assert texts(page, "[aria-selected=true]") == ["("]
    assert page.evaluate("saved()").count("<path") == 2 * len(opacities)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("contrast()")[0] >= 4.5
        page.screenshot(path=tmp_path / f"{scheme}.png", full_page=True)
