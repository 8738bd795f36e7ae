"""Pictures of hops: the sum and each hop on the right words, without padding."""

import numpy as np
import pytest

from zoo.plots import answer, hops
from zoo.plots.hops import apart, side_of

TOKENS = [b"a", b"dull", b"and", b"f\xc3\xa9e", b"film", b"."]


def result(texts=("text",), lengths=(6, 3), count=3):
    """As a servable answers, with random weights."""
    generator = np.random.default_rng(0)
    found = {
        "label": np.array([b"bad", b"good"], object),
        "probabilities": np.array([[0.75, 0.25], [0.4, 0.6]]),
    }
    for text in texts:
        rows = [[*TOKENS[:n], *[b""] * (6 - n)] for n in lengths]
        weights = generator.random((2, count, 6))
        weights[1, :, lengths[1] :] = 0.0
        found[f"{text}_tokens"] = np.array(rows, object)
        found[f"{text}_length"] = np.array(lengths)
        found["attention_hops" if text == "text" else f"attention_{text}_hops"] = weights
    return found


def shown(axes):
    """Words and weights of a panel, without the cells after the last word."""
    values = np.asarray(axes.images[0].get_array().filled(np.nan)).ravel()
    return [text.get_text() for text in axes.texts], values[~np.isnan(values)]


@pytest.mark.parametrize("row", [0, 1])
def test_the_sum_and_each_hop_lie_over_the_words(row):
    values = result()
    figure = hops(values, row)
    length = values["text_length"][row]
    weights = values["attention_hops"][row, :, :length]
    assert len(figure.axes) == 4
    for axes, expected in zip(figure.axes, (weights.sum(axis=0), *weights), strict=True):
        words, drawn = shown(axes)
        assert words == [token.decode() for token in TOKENS[:length]]
        np.testing.assert_allclose(drawn, expected)
    names = [axes.get_title(loc="left").partition(":")[0] for axes in figure.axes]
    assert names == ["sum of 3 hops", "hop 1", "hop 2", "hop 3"]
    assert figure.get_suptitle() == ("→ bad (0.75)", "→ good (0.60)")[row]


def test_both_texts_of_a_pair_are_drawn_and_a_pooling_once():
    values = result(("premise", "hypothesis"), count=1)
    names = [axes.get_title(loc="left").partition(":")[0] for axes in answer(values).axes]
    assert names == ["premise, weights", "hypothesis, weights"]


def test_of_many_hops_those_are_drawn_that_look_at_different_words():
    weights = np.eye(6)[[0, 0, 3, 0, 5, 3]] * 0.9
    weights[0] *= 1.1
    assert apart(weights, 3) == [0, 2, 4]
    assert apart(weights, 99) == [0, 1, 2, 3, 4, 5]
    values = result(count=9)
    assert len(answer(values).axes) == 1 + 6
    assert len(hops(values, maximum_hops=None).axes) == 1 + 9


def test_a_long_text_is_cut_around_its_largest_weight():
    values = result()
    values["attention_hops"][0, :, 4] = 9.0
    words, _ = shown(hops(values, maximum_tokens=3).axes[0])
    assert words == ["fée", "film", "."]


def test_names_of_maps_tell_the_text():
    assert side_of("attention_hops") == "text"
    assert side_of("attention_premise_hops") == "premise"
    for other in ("attention_intra", "hops", "attention_shops", "text_hops"):
        assert side_of(other) is None


def test_what_cannot_be_drawn_is_refused():
    values = result(lengths=(6, 0))
    with pytest.raises(ValueError, match="row 1: its text has no token to draw"):
        hops(values, 1)
    with pytest.raises(ValueError, match="row must be in a batch of 2, got 2"):
        hops(values, 2)
    with pytest.raises(ValueError, match="maximum_hops must be positive, got 0"):
        hops(values, maximum_hops=0)
    del values["attention_hops"]
    with pytest.raises(ValueError, match="result must have a map of hops, got label, "):
        hops(values)
