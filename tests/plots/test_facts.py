"""The picture of a story and of the sentences that lead to the answer."""

import numpy as np
import pytest

from zoo.plots import answer, facts, save_figure

RESULT = {
    "answer": np.array([b"hall", b"attic"], object),
    "probabilities": np.array([[0.3, 0.7], [0.9, 0.1]]),
    "story_sentences": np.array(
        [[b"A", b"", b""], [b"Ada left.", b"Bob sat.", b"It rained."]], object
    ),
    "story_length": np.array([1, 3]),
    "question_tokens": np.array([[b"Who", b""], [b"Where", b"now"]], object),
    "question_length": np.array([1, 2]),
    "attention_facts": np.array([[[1.0, 0, 0], [1.0, 0, 0]], [[0.9, 0.1, 0.0], [0.25, 0.25, 0.5]]]),
}


def test_each_hop_is_a_column_beside_the_lines_of_the_story(tmp_path):
    figure = answer(RESULT, row=1)
    (panel,) = figure.axes
    weights = RESULT["attention_facts"][1].T
    np.testing.assert_allclose(panel.images[0].get_array(), weights)
    lines = [label.get_text() for label in panel.get_yticklabels()]
    assert lines == ["1 Ada left.", "2 Bob sat.", "3 It rained."]
    assert [label.get_text() for label in panel.get_xticklabels()] == ["hop 1", "hop 2"]
    numbers = {tuple(text.get_position()): text.get_text() for text in panel.texts}
    assert numbers == {
        (0, 0): "0.90",
        (0, 1): "0.10",
        (1, 0): "0.25",
        (1, 1): "0.25",
        (1, 2): "0.50",
    }
    assert figure.get_suptitle() == "Where now?\n→ attic (0.90)"
    assert save_figure(figure, tmp_path / "facts.png").stat().st_size > 5000


def test_padding_is_not_drawn():
    (panel,) = facts(RESULT).axes
    assert panel.images[0].get_array().shape == (1, 2)


def test_an_empty_story_and_a_row_that_is_not_there_are_refused():
    empty = RESULT | {"story_length": np.array([0, 3])}
    with pytest.raises(ValueError, match="story must have a sentence, got none in row 0"):
        facts(empty)
    with pytest.raises(ValueError, match="row must be in a batch of 2, got 2"):
        facts(RESULT, 2)
