"""The picture of a filled blank: the right text on the right shades, in any script."""

import warnings

import numpy as np
import pytest

from tests.plots.test_attention import SCRIPTS
from zoo.plots import Shaded, cloze, document


@pytest.fixture(autouse=True)
def no_warnings():
    """Matplotlib warns of characters that it has no glyph for."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def result(documents, queries, answer=b"ada", over=True):
    """As a servable answers, with random weights."""
    generator = np.random.default_rng(0)
    found = {
        "answer": np.array([answer] * len(documents), object),
        "probabilities": np.full((len(documents), 2), 0.25, np.float32),
    }
    for side, texts in (("document", documents), ("query", queries)):
        widest = max(map(len, texts))
        padded = [[*text, *[b""] * (widest - len(text))] for text in texts]
        found[f"{side}_tokens"] = np.array(padded, object)
        found[f"{side}_length"] = np.array([len(text) for text in texts])
        found[f"attention_{side}"] = generator.random((len(texts), widest))
    if not over:
        del found["attention_query"]
    return found


DOCUMENT = [b"ada", b"saw", b"bo", b"and", b"ada", b"."] * 5
QUERY = [b"XXXXX", b"saw", b"bo"]


def test_every_token_stands_on_its_weight_and_the_answer_is_framed():
    values = result([DOCUMENT, DOCUMENT[:2]], [QUERY, QUERY])
    figure = cloze(values)
    document, query = figure.axes
    for axes, side, tokens in ((document, "document", DOCUMENT), (query, "query", QUERY)):
        assert [text.get_text() for text in axes.texts] == [token.decode() for token in tokens]
        shown = np.asarray(axes.images[0].get_array().filled(np.nan)).ravel()
        np.testing.assert_array_equal(
            shown[: len(tokens)], values[f"attention_{side}"][0, : len(tokens)]
        )
        assert np.isnan(shown[len(tokens) :]).all()
        for position, text in enumerate(axes.texts):
            x, y = text.get_position()
            assert y * axes.images[0].get_array().shape[1] + x == position
    bold = [text.get_text() for text in document.texts if text.get_weight() == "bold"]
    assert bold == ["ada"] * 10
    assert len(document.patches) == 10  # and a frame around each
    assert not query.patches
    assert figure.get_suptitle() == "XXXXX saw bo\n→ ada (0.25)"


def test_rows_are_drawn_without_their_padding():
    figure = cloze(result([DOCUMENT, DOCUMENT[:2]], [QUERY, QUERY[:1]]), 1)
    assert [len(axes.texts) for axes in figure.axes] == [2, 1]


def test_long_documents_are_drawn_around_the_largest_weight():
    values = result([DOCUMENT * 20], [QUERY])
    values["attention_document"][0, 500] = 9.0
    document = cloze(values, maximum_tokens=60).axes[0]
    assert len(document.texts) == 60
    assert np.nanmax(document.images[0].get_array()) == 9.0


def test_without_an_attention_to_the_query_there_is_one_panel():
    assert len(cloze(result([DOCUMENT], [QUERY], over=False)).axes) == 1


def test_any_script_and_no_answer_can_be_drawn():
    tokens = [t if isinstance(t, bytes) else t.encode("utf-8", "surrogatepass") for t in SCRIPTS]
    cloze(result([tokens], [tokens], answer=b"")).draw_without_rendering()


def test_what_cannot_be_drawn_is_refused():
    values = result([DOCUMENT, []], [QUERY, QUERY])
    with pytest.raises(ValueError, match="row must be in a batch of 2, got 2"):
        cloze(values, 2)
    with pytest.raises(ValueError, match="row 1: its document has no token"):
        cloze(values, 1)


def test_any_texts_can_be_shaded_under_their_own_names():
    texts = {
        "premise": Shaded(np.array([0.0, 0.5]), ["a", b"b"]),
        "$hypothesis$": Shaded([0.25], ["b"]),
    }
    figure = document(texts, marked="b", title="t")
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "premise: 0.50 where darkest",
        "$hypothesis$: 0.25 where darkest",
    ]
    assert [len(axes.patches) for axes in figure.axes] == [1, 1]
    assert figure.get_suptitle() == "t"
    figure.draw_without_rendering()


def test_lines_from_right_to_left_run_from_right_to_left():
    hebrew, english = Shaded([0.5, 0.5], ["שלום", "עולם"]), Shaded([1.0], ["peace"])
    axes = document({"a": hebrew, "b": english}).axes
    assert [one.xaxis_inverted() for one in axes] == [True, False]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({}, "texts must not be empty"),
        ({"a": Shaded([], [])}, "tokens of 'a' must not be empty"),
        ({"a": Shaded([0.5], ["x", "y"])}, r"the shape \(2,\), got \(1,\)"),
        ({"a": Shaded([np.nan], ["x"])}, "must be finite and not negative"),
        ({"a": Shaded([-1.0], ["x"])}, "must be finite and not negative"),
    ],
)
def test_texts_that_cannot_be_shaded_are_refused(texts, message):
    with pytest.raises(ValueError, match=message):
        document(texts)
