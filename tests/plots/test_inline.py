"""Pictures for notebooks: SVG without a script, whatever the tokens are."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.plots.test_answers import BOTH, PAIR, TRANSLATION
from tests.plots.test_attention import make_result
from tests.plots.test_documents import DOCUMENT, QUERY, result
from tests.plots.test_hops import result as hops_result
from zoo.plots import inline
from zoo.plots.colors import ANSWER
from zoo.plots.inline import ribbons, shaded

NASTY = ["<script>alert(1)</script>", '"><img src=x onerror=y>', "a&b", "\u202eevil\x00\x1b[2J", ""]


def parse(svg):
    """Reads an SVG element; returns it and its texts."""
    root = ElementTree.fromstring(svg)
    tags = {one.tag.rpartition("}")[2] for one in root.iter()}
    assert tags <= {"svg", "rect", "text", "path"}
    assert not any(name.startswith("on") for one in root.iter() for name in one.attrib)
    return root, [one.text or "" for one in root.iter() if one.tag.endswith("text")]


def test_words_are_escaped_and_control_nothing():
    for svg in (
        ribbons(np.eye(5), NASTY, NASTY, query_name=NASTY[0], key_name=NASTY[1]),
        shaded(np.ones(5), NASTY, name=NASTY[0], marked=NASTY[1]),
    ):
        _, texts = parse(svg)
        assert "evil[2J" in texts
        assert "a&b" in texts
        assert "<script>alert(1)</script>" in texts


def test_ribbons_are_as_thick_as_weights():
    weights = np.array([[0.75, 0.25, 0.0], [0.0, 0.0, 1.0]])
    root, texts = parse(ribbons(weights, ["x", "y"], ["a", "b", "c"]))
    paths = [one.get("d") for one in root.iter() if one.tag.endswith("path")]
    assert len(paths) == 3  # none for no weight
    numbers = [list(map(float, re.findall(r"[-\d.]+", path))) for path in paths]
    at_queries = [found[8] - found[7] for found in numbers]
    np.testing.assert_allclose(at_queries, np.array([0.75, 0.25, 1.0]) * 24 * 0.74, atol=0.1)
    assert numbers[1][7] == pytest.approx(numbers[0][8], abs=0.1)  # one above the other
    assert texts[-5:] == ["a", "b", "c", "x", "y"]


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        (TRANSLATION, ["written", "read"]),
        (PAIR, ["premise", "hypothesis"]),
        (BOTH, ["premise", "hypothesis", "(none)"]),
        (make_result([b"The", b"tower"], b"tower", 1, 1), ["The", "tower", "(none)"]),
        (result([DOCUMENT], [QUERY]), ["document"]),
        (hops_result(), ["sum of all hops", "dull", "fée"]),
    ],
    ids=["translation", "inference", "alignment", "reading", "cloze", "hops"],
)
def test_every_task_has_a_picture(outputs, words):
    _, texts = parse(inline(outputs))
    assert {*words} <= {*texts}


def test_without_attention_or_tokens_there_is_none():
    assert inline({"label": [b"good"]}) == ""
    empty = TRANSLATION | {"source_length": np.zeros(1)}
    assert inline(empty) == ""
    for row in (-1, 2):
        with pytest.raises(ValueError, match=f"row must be in a batch of 2, got {row}"):
            inline(TRANSLATION, row)


def test_maps_over_the_cells_of_a_picture_have_none():
    caption = {
        "caption": [b"a dog"],
        "target_tokens": np.array([[b"a", b"dog", b"</s>"]], object),
        "target_length": [3],
        "attention_alignment": np.full((1, 3, 2, 2), 0.25),
    }
    assert inline(caption) == ""


def test_an_answer_that_is_not_found_is_not_marked():
    tokens = [f"word{number}".encode() for number in range(200)]
    found, lost = (inline(make_result(tokens, answer, 150, 150)) for answer in (b"word150", b"x"))
    (marked,) = (word for word in parse(found)[0].iter() if word.get("fill") == ANSWER)
    assert marked.text == "word150"
    assert ANSWER not in lost
    assert "word150" in parse(lost)[1]
    assert "word0" not in parse(lost)[1]


@pytest.mark.parametrize("weights", [np.ones((2, 2)), -np.ones((1, 2)), np.full((1, 2), np.nan)])
def test_other_weights_are_refused(weights):
    with pytest.raises(ValueError, match=r"finite, not negative and of shape \(1, 2\)"):
        ribbons(weights, ["x"], ["a", "b"])


@pytest.mark.parametrize("weights", [[], [1.0], [-1.0, 1.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_other_weights_of_running_text_are_refused(weights):
    with pytest.raises(ValueError, match=r"finite, not negative and of shape \(2,\)"):
        shaded(np.array(weights), ["a", "b"])
    with pytest.raises(ValueError, match=r"of shape \(0,\)"):
        shaded(np.zeros(0), [])
