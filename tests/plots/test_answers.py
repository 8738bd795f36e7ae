"""The picture of an answer: the right cut of the right map, for each task."""

import numpy as np
import pytest

from tests.plots.test_attention import labels, make_result
from tests.plots.test_documents import DOCUMENT, QUERY, result
from zoo.plots import (
    BEFORE,
    SENTINEL,
    alignments,
    answer,
    both_alignments,
    inter_attention,
    intra_attention,
    reading,
    tape,
    translation,
    translation_heads,
)


def padded(*rows):
    widest = max(map(len, rows)) + 1
    return np.array([[*row, *[b""] * (widest - len(row))] for row in rows], object)


def random(*shape):
    return np.random.default_rng(1).random(shape)


TRANSLATION = {
    "translation": np.array([b"x y", b"z"], object),
    "source_tokens": padded([b"a", b"b", b"</s>"], [b"c", b"</s>"]),
    "source_length": np.array([3, 2]),
    "target_tokens": padded([b"x", b"y", b"</s>"], [b"z", b"</s>"]),
    "target_length": np.array([3, 2]),
    "attention_alignment": random(2, 4, 4),
}
TAPE = {
    "text_tokens": padded([b"a", b"b"], [b"c", b"d", b"e"]),
    "text_length": np.array([2, 3]),
    "attention_intra": random(2, 2, 4, 5),
}
PAIR = {
    "premise_tokens": padded([b"a", b"b"], [b"c"]),
    "premise_length": np.array([2, 1]),
    "hypothesis_tokens": padded([b"x"], [b"y", b"z"]),
    "hypothesis_length": np.array([1, 2]),
    "attention_inter": random(2, 3, 3),
    "attention_intra": random(2, 3, 4),  # of one of the two texts: not what is drawn
}


BOTH = {name: PAIR[name] for name in PAIR if not name.startswith("attention")} | {
    "attention_premise_to_hypothesis": random(2, 3, 4),
    "attention_hypothesis_to_premise": random(2, 3, 4)[::-1],
}


def drawn(figure, panel=0):
    axes = figure.axes[panel]
    return np.asarray(axes.images[0].get_array()), labels(axes.yaxis), labels(axes.xaxis)


def test_a_translation_is_target_by_source_without_padding():
    weights, rows, columns = drawn(translation(TRANSLATION, 1))
    assert (rows, columns) == (["z", "</s>"], ["c", "</s>"])
    np.testing.assert_array_equal(weights, TRANSLATION["attention_alignment"][1, :2, :2])


def test_a_tape_is_the_top_layer_with_what_stands_before_last():
    weights, rows, columns = drawn(intra_attention(TAPE))
    assert (rows, columns) == (["a", "b"], ["a", "b", BEFORE])
    np.testing.assert_array_equal(weights, TAPE["attention_intra"][0, 1][:2, [0, 1, 4]])
    again = drawn(tape(weights, ["a", "b"]))
    np.testing.assert_array_equal(again[0], weights)


def test_a_pair_is_hypothesis_by_premise():
    weights, rows, columns = drawn(inter_attention(PAIR, 1))
    assert (rows, columns) == (["y", "z"], ["c"])
    np.testing.assert_array_equal(weights, PAIR["attention_inter"][1, :2, :1])


def test_a_pair_that_is_aligned_both_ways_has_two_maps_with_nothing_last():
    figure = both_alignments(BOTH, 1)
    weights, rows, columns = drawn(figure)
    assert (rows, columns) == (["c"], ["y", "z", SENTINEL])
    given = BOTH["attention_premise_to_hypothesis"]
    np.testing.assert_array_equal(weights, given[1][:1][:, [0, 1, 3]])
    weights, rows, columns = drawn(figure, 1)
    assert (rows, columns) == (["y", "z"], ["c", SENTINEL])
    given = BOTH["attention_hypothesis_to_premise"]
    np.testing.assert_array_equal(weights, given[1][:2][:, [0, 3]])
    names = [(axes.get_ylabel(), axes.get_xlabel()) for axes in figure.axes[:2]]
    assert names == [("premise", "hypothesis"), ("hypothesis", "premise")]
    np.testing.assert_array_equal(drawn(answer(BOTH, 1), 1)[0], weights)
    with pytest.raises(ValueError, match="maps must hold at least one, got none"):
        alignments([])


SYMBOLS = {
    "symbols_tokens": padded([b"0", b"1"], [b"1", b"1", b"_"]),
    "symbols_length": np.array([2, 3]),
    "answer_symbols": padded([b"1", b"0"], [b"1", b"0", b"_"]),
    "attention_change": random(2, 4, 4) / 4,
}


def test_changes_of_a_memory_are_step_by_place():
    figure = answer(SYMBOLS, 1)
    weights, rows, columns = drawn(figure)
    assert (rows, columns) == (["1", "2", "3"], ["1", "1", "_"])
    np.testing.assert_array_equal(weights, SYMBOLS["attention_change"][1, :3, :3])
    assert figure.get_suptitle() == "11_\n→ 10_"
    assert [figure.axes[0].get_ylabel(), figure.axes[0].get_xlabel()] == ["step", "place"]


def test_the_picture_follows_the_outputs():
    for task, expected in ((TRANSLATION, translation), (TAPE, intra_attention)):
        np.testing.assert_array_equal(drawn(answer(task, 1))[0], drawn(expected(task, 1))[0])
    np.testing.assert_array_equal(drawn(answer(PAIR))[0], drawn(inter_attention(PAIR))[0])
    asked = make_result([b"The", b"tower"], b"tower", 1, 1)
    assert answer(asked).get_suptitle() == reading(asked).get_suptitle()
    assert len(answer(result([DOCUMENT], [QUERY])).axes) == 2


def test_a_model_without_attention_has_no_picture():
    with pytest.raises(ValueError, match="a model without attention has no picture"):
        answer({"translation": [b"x"], "score": [0.0]})


@pytest.mark.parametrize("row", [-1, 2])
def test_a_row_that_is_not_there_is_refused(row):
    for task in (TRANSLATION, TAPE, PAIR, BOTH):
        with pytest.raises(ValueError, match=f"row must be in a batch of 2, got {row}"):
            answer(task, row)


def test_nothing_written_is_nothing_to_draw():
    with pytest.raises(ValueError, match="row 0: its target has no token"):
        translation(TRANSLATION | {"target_length": np.array([0, 1])})


SUBWORDS = TRANSLATION | {
    "translation": np.array([b"Ein See.", b"z"], object),
    "source_tokens": padded(["▁la".encode(), b"ke", b"</s>"], [b"c", b"</s>"]),
    "target_tokens": padded(["▁Ein".encode(), "▁See".encode(), b"."], [b"z", b"</s>"]),
}


def test_subwords_are_shown_as_words_under_a_title_with_named_axes():
    figure = translation(SUBWORDS)
    weights, rows, columns = drawn(figure)
    assert (rows, columns) == (["Ein", "See", "."], ["lake", "</s>"])
    given = TRANSLATION["attention_alignment"][0]
    np.testing.assert_allclose(weights, np.stack([given[:3, 0] + given[:3, 1], given[:3, 2]], 1))
    assert figure.get_suptitle() == "lake\n→ Ein See."
    assert (figure.axes[0].get_ylabel(), figure.axes[0].get_xlabel()) == ("written", "read")


def test_all_heads_have_words_a_title_and_named_axes():
    given = SUBWORDS | {f"attention_{name}": random(2, 1, 2, 4, 4) for name in ("cross", "decoder")}
    figure = translation_heads(given)
    assert figure.get_suptitle() == "lake\n→ Ein See."
    names = [(one._supylabel.get_text(), one._supxlabel.get_text()) for one in figure.subfigs]
    assert names == [("written", "written before"), ("written", "read")]
    cross = figure.subfigs[1].axes[0]
    assert np.asarray(cross.images[0].get_array()).shape == (3, 2)
    assert labels(figure.subfigs[0].axes[0].xaxis) == ["<s>", "Ein", "See"]


def test_texts_and_pairs_have_a_title_and_named_axes():
    label = {"label": np.array([b"yes", b"no"], object), "probabilities": np.array([[0.7], [0.6]])}
    figure = inter_attention(PAIR | label, 1)
    assert figure.get_suptitle() == "→ no (0.60)"
    assert (figure.axes[0].get_ylabel(), figure.axes[0].get_xlabel()) == ("hypothesis", "premise")
    next_tokens = {
        "next_tokens": np.array([[b"$d$"], [b"e"]], object),
        "next_log_probabilities": np.log([[0.25], [0.5]]),
    }
    figure = intra_attention(TAPE | next_tokens)
    assert figure.get_suptitle() == "→ $d$ (0.25)"
    assert figure.axes[0].get_xlabel() == "words before it"
    assert reading(make_result([b"The", b"t"], b"t", 1, 1)).axes[2].get_xlabel() == "text"
