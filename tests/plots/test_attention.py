"""Attention maps: what is drawn, and that any script can be."""

import warnings
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
import tensorflow as tf

from tests.serving.reading import CONTEXTS, QUESTIONS, make_endpoint
from zoo.plots import SENTINEL, alignment, reading

SCRIPTS = [
    "$x_{1}$",
    "$100",
    "\\frac{",
    "מגדל",
    "البرج",
    "埃菲爾鐵塔",
    "👩‍👩‍👧🏽",
    "e\u0301\u0323",
    "\u0301",
    b"\xff\xfe",
    "\0",
    "\n",
    "\ud800",
    "",
    "a" * 500,
]


@pytest.fixture(autouse=True)
def no_warnings():
    """Matplotlib warns of characters that it has no glyph for."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def weights(rows, columns):
    values = np.random.default_rng(0).random((rows, columns))
    return values / values.sum(-1, keepdims=True)


def drawn_size(figure):
    figure.draw_without_rendering()
    return figure.get_size_inches()


def test_alignment_shows_the_weights_beside_their_tokens():
    values = weights(2, 3)
    figure = alignment(values, ["a", "b"], [b"x", "y", SENTINEL], title="t")
    axes = figure.axes[0]
    np.testing.assert_array_equal(axes.images[0].get_array(), values)
    assert labels(axes.yaxis) == ["a", "b"]
    assert labels(axes.xaxis) == ["x", "y", SENTINEL]
    assert figure.get_suptitle() == "t"


def test_all_maps_of_a_model_share_the_scale_of_their_largest_weight():
    figure = alignment([[0.25, 0.5]], ["a"], ["x", "y"])
    assert figure.axes[0].images[0].get_clim() == (0, 0.5)
    zeros = alignment([[0.0]], ["a"], ["x"])
    assert zeros.axes[0].images[0].get_clim() == (0, 1)


def test_any_script_can_be_drawn():
    count = len(SCRIPTS)
    figure = alignment(weights(count, count), SCRIPTS, SCRIPTS, title=" ".join(map(str, SCRIPTS)))
    figure.draw_without_rendering()
    texts = dict(zip(map(str, SCRIPTS), labels(figure.axes[0].yaxis), strict=True))
    assert texts["$x_{1}$"] == "$x_{1}$"
    assert texts["מגדל"] == "מגדל"
    assert texts["e\u0301\u0323"] == "e\u0301\u0323"
    assert texts["\0"] == texts["\n"] == texts["\ud800"] == "□"
    assert texts["a" * 500] == "a" * 19 + "…"
    assert texts[str(b"\xff\xfe")] == "\N{REPLACEMENT CHARACTER}" * 2


def test_a_script_from_right_to_left_stands_from_right_to_left():
    words = ["השועל", "קפץ", "."]
    axes = alignment(weights(2, 3), ["the", "fox"], words).axes[0]
    assert axes.xaxis_inverted()
    assert labels(axes.xaxis) == words
    assert axes.yaxis_inverted()  # rows go down
    other = alignment(weights(3, 2), words, ["the", "fox"]).axes[0]
    assert not other.xaxis_inverted()


def test_a_font_of_the_settings_is_used_before_the_fallback():
    with mpl.rc_context({"font.family": ["No Such Font", "serif"]}):
        figure = alignment([[1.0]], ["a"], ["b"])
        label = figure.axes[0].get_xticklabels()[0]
    families = label.get_fontfamily()
    assert "No Such Font" not in families
    assert families[0] == "DejaVu Serif"
    assert families[-1] == "DejaVu Sans"


def test_long_texts_are_labelled_at_even_distances_in_a_bounded_size():
    tokens = [f"token{index}" for index in range(500)]
    figure = alignment(weights(400, 500), tokens[:400], tokens)
    assert (drawn_size(figure) <= (17, 11)).all()
    axes = figure.axes[0]
    for axis, dimension in ((axes.xaxis, 0), (axes.yaxis, 1)):
        positions = axis.get_ticklocs()
        steps = np.diff(positions)
        assert (steps == steps[0]).all()
        assert labels(axis) == [f"token{position}" for position in positions]
        boxes = [label.get_window_extent() for label in axis.get_ticklabels()]
        starts = sorted((box.x0, box.x1) if dimension == 0 else (box.y0, box.y1) for box in boxes)
        overlaps = [before[1] > after[0] for before, after in pairwise(starts)]
        assert not any(overlaps)


def test_short_texts_are_labelled_in_full():
    tokens = [f"token{index}" for index in range(40)]
    figure = alignment(weights(40, 40), tokens, tokens)
    assert labels(figure.axes[0].xaxis) == labels(figure.axes[0].yaxis) == tokens


def test_a_long_title_is_wrapped_inside_the_figure():
    figure = alignment(weights(3, 3), "abc", "abc", title="many words " * 12)
    figure.draw_without_rendering()
    extent = figure._suptitle.get_window_extent()
    assert "\n" in figure.get_suptitle()
    assert extent.x0 >= 0
    assert extent.x1 <= figure.bbox.x1


@pytest.mark.parametrize(
    ("values", "queries", "keys", "problem"),
    [
        (np.zeros((0, 1)), [], ["x"], "query_tokens must not be empty"),
        (np.zeros((1, 0)), ["a"], [], "key_tokens must not be empty"),
        (np.zeros((2, 1)), ["a"], ["x"], r"a column a key token, \(1, 1\), got \(2, 1\)"),
        (np.zeros(3), ["a"], ["x", "y", "z"], r"\(1, 3\), got \(3,\)"),
        ([[np.nan]], ["a"], ["x"], "weights must be finite"),
    ],
)
def test_weights_that_do_not_fit_are_refused(values, queries, keys, problem):
    with pytest.raises(ValueError, match=problem):
        alignment(values, queries, keys)


def make_result(tokens, answer, first, last, iterations=3):
    """Makes a reader's outputs for one question, certain of tokens `first` and `last`."""
    length, words = len(tokens), 2
    start = np.full((iterations, length), 0.1 / length)
    end = start.copy()
    start[:, first], end[:, last] = 0.9, 0.8
    padding = np.zeros((iterations, 2))
    attention = np.zeros((length + 2, words + 3))
    attention[:length, 0], attention[:length, -1] = 0.75, 0.25
    return {
        "answer": [answer],
        "score": [0.72],
        "start_probabilities": [np.concatenate([start, padding], axis=1)],
        "end_probabilities": [np.concatenate([end, padding], axis=1)],
        "question_tokens": np.array([[b"Who", b"?", b"", b""]], object),
        "question_length": [words],
        "context_tokens": np.array([[*tokens, b"", b""]], object),
        "context_length": [length],
        "attention_context_to_question": [attention],
    }


def red_labels(axes):
    return [label.get_text() for label in axes.get_xticklabels() if label.get_color() == "crimson"]


def test_reading_draws_question_by_context_without_padding():
    result = make_result([b"The", b"tower", b"fell", b"."], b"tower", 1, 1)
    figure = reading(result)
    above, start, end = figure.axes[:3]
    assert labels(above.yaxis) == ["Who", "?", SENTINEL]
    np.testing.assert_array_equal(above.images[0].get_array(), [[0.75] * 4, [0] * 4, [0.25] * 4])
    for axes, side in ((start, "start"), (end, "end")):
        expected = result[f"{side}_probabilities"][0][:, :4]
        np.testing.assert_array_equal(axes.images[0].get_array(), expected)
        assert labels(axes.yaxis) == ["1", "2", "3"]
        assert axes.get_ylabel() == side
    assert labels(end.xaxis) == ["The", "tower", "fell", "."]
    assert red_labels(end) == ["tower"]
    assert figure.get_suptitle() == "Who ?\n→ tower (0.72)"
    frame = above.patches[0]
    assert (frame.get_x(), frame.get_width()) == (0.5, 1)


def test_the_answer_is_found_among_repetitions_and_across_spaces():
    tokens = ["he", "saw", "Ada", "Lovelace", "before", "Ada", "Lovelace", ",", "née", "Byron"]
    result = make_result([token.encode() for token in tokens], "Ada\u00a0 Lovelace".encode(), 5, 6)
    figure = reading(result)
    frame = figure.axes[0].patches[0]
    assert (frame.get_x(), frame.get_width()) == (4.5, 2)


@pytest.mark.parametrize("position", [0, 150, 299])
def test_of_a_long_context_the_part_around_the_answer_is_drawn(position):
    tokens = [f"word{index}".encode() for index in range(300)]
    figure = reading(make_result(tokens, tokens[position], position, position), maximum_tokens=21)
    end = figure.axes[2]
    drawn = labels(end.xaxis)
    assert len(drawn) == 21
    assert red_labels(end) == [f"word{position}"]
    if position == 150:
        assert drawn[10] == "word150"
    assert (drawn_size(figure) <= (17, 14)).all()


def test_an_answer_that_is_no_run_of_tokens_is_not_marked():
    tokens = [f"word{index}".encode() for index in range(50)]
    figure = reading(make_result(tokens, b"elsewhere", 40, 41), maximum_tokens=5)
    assert not figure.axes[0].patches
    assert labels(figure.axes[2].xaxis) == [f"word{index}" for index in range(38, 43)]


def test_reading_draws_what_an_endpoint_answers(tmp_path):
    """The names are those of the servable; an empty question and odd characters too."""
    endpoint = make_endpoint(tmp_path)
    questions, contexts = [*QUESTIONS[:3], "\0 🗼"], [*CONTEXTS[:3], "🗼 \0 tower"]
    result = endpoint.serve(tf.constant(questions), tf.constant(contexts))
    for row, context in enumerate(contexts):
        figure = reading(result, row)
        figure.draw_without_rendering()
        answer = result["answer"][row].numpy().decode()
        assert answer in context
        assert len(red_labels(figure.axes[2])) >= len(answer.split()) > 0


def test_the_iteration_that_answers_decides_between_places_of_the_same_text():
    """The first iteration is surer of the first tower, where the last one has left it."""
    result = make_result([b"The", b"tower", b"fell", b"tower"], b"tower", 3, 3, iterations=2)
    for name in ("start_probabilities", "end_probabilities"):
        result[name][0][0, [1, 3]] = 0.99, 0.0
    offsets = {
        "start": np.array([15]),
        "end": np.array([20]),
        "start_per_iteration": np.array([[4, 15]]),
        "end_per_iteration": np.array([[9, 20]]),
    }
    frames = [
        one.axes[0].patches[0].get_x() for one in (reading(result), reading(result | offsets))
    ]
    assert frames == [0.5, 2.5]


@pytest.mark.parametrize("answer", [b"tower", b"elsewhere"])
def test_of_a_reader_that_answers_at_once_the_attention_alone_is_drawn(answer):
    result = make_result([b"The", b"tower", b"fell", b"tower"], answer, 3, 3)
    del result["start_probabilities"], result["end_probabilities"]
    figure = reading(result)
    above, bar = figure.axes
    assert labels(above.xaxis) == ["The", "tower", "fell", "tower"]
    assert above.get_xlabel() == "text"
    assert [frame.get_x() for frame in above.patches] == [0.5] * (answer == b"tower")
    assert bar.get_ylabel() == "attention"


def test_a_row_that_is_not_there_is_refused():
    result = make_result([b"The"], b"The", 0, 0)
    for row in (1, -1):
        with pytest.raises(ValueError, match=f"row must be in a batch of 1, got {row}"):
            reading(result, row)


def test_a_context_without_tokens_is_refused():
    with pytest.raises(ValueError, match="row 0: its context has no token to draw"):
        reading(make_result([b"The"], b"", 0, 0) | {"context_length": [0]})
