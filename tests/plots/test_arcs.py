"""Arcs above a sentence: from each head to its dependents, as dark as they are probable."""

import numpy as np
import pytest
from matplotlib.patches import Arc

from zoo.plots import Alignment, Arcs, answer, arcs, save_figure
from zoo.plots.arcs import FAINTEST, alignment_below_arcs

TOKENS = ["$", "(", "+", "15"]
WEIGHTS = np.array(
    [[0, 0, 0, 0], [1.0, 0, 0, 0], [0.25, 0.75, 0, 0], [0.4, 0.04, 0.56, 0]], "float32"
)
RESULT = {
    "translation": np.array([b"15 + 7"], object),
    "source_tokens": np.array([[b"$", b"(", b"+", b"15", b""]], object),
    "source_length": np.array([4]),
    "target_tokens": np.array([[b"15", b"+", b""]], object),
    "target_length": np.array([2]),
    "attention_alignment": np.array([[[0, 0, 0.5, 0.5, 0], [1, 0, 0, 0, 0], [0] * 5]]),
    "attention_parents": np.pad(WEIGHTS, [(0, 1), (0, 1)])[None],
}


def drawn(panel):
    """Ends of each arc, from the left, and how dark it is."""
    found = {}
    for arc in panel.patches:
        assert isinstance(arc, Arc)
        assert arc.center[1] == 0
        middle, width = arc.center[0], arc.get_width()
        found[middle - width / 2, middle + width / 2] = arc.get_alpha()
    return found


EXPECTED = {(0, 1): 1.0, (0, 2): 0.25, (1, 2): 0.75, (0, 3): 0.4, (2, 3): 0.56}


def test_each_arc_has_its_ends_and_its_probability_and_faint_ones_are_left_out(tmp_path):
    figure = arcs(WEIGHTS, TOKENS, title="a tree", name="parents")
    (panel,) = figure.axes
    assert drawn(panel) == pytest.approx(EXPECTED)
    assert FAINTEST > WEIGHTS[3, 1] > 0
    assert [label.get_text() for label in panel.get_xticklabels()] == TOKENS
    assert figure.get_suptitle() == "a tree"
    marks = sorted(float(x) for one in panel.collections for x in one.get_offsets()[:, 0])
    assert marks == [1, 2, 2, 3, 3]  # the dependents
    # The widest arc is the highest.
    heights = {arc.get_width(): arc.get_height() for arc in panel.patches}
    assert heights[3] == pytest.approx(2.0)
    assert heights[1] == pytest.approx(2 / 3)
    assert save_figure(figure, tmp_path / "arcs.png").stat().st_size > 5000


def test_what_attends_to_itself_is_a_ring():
    (panel,) = arcs(np.eye(2), ["a", "b"]).axes
    assert drawn(panel) == {}
    assert [one.get_offsets()[0, 0] for one in panel.collections] == [0, 1]


def test_marginals_that_are_rounded_above_one_are_drawn():
    rounded = 1.0000001 * np.array([[1.0, 0.0], [1.0, 0.0]])
    (panel,) = arcs(rounded, ["a", "b"]).axes
    assert drawn(panel) == {(0, 1): 1.0}


def test_the_answer_of_a_servable_has_arcs_over_the_columns_of_its_alignment(tmp_path):
    figure = answer(RESULT)
    upper, lower, *_ = figure.axes
    assert drawn(upper) == pytest.approx(EXPECTED)
    assert lower.images[0].get_array().tolist() == [[0, 0, 0.5, 0.5], [1, 0, 0, 0]]
    assert [label.get_text() for label in lower.get_xticklabels()] == TOKENS
    assert upper.get_xlim() == lower.get_xlim()
    assert figure.get_suptitle() == "$ ( + 15\n→ 15 + 7"
    assert save_figure(figure, tmp_path / "answer.png").stat().st_size > 5000


def test_wrong_shapes_and_other_words_are_refused():
    with pytest.raises(ValueError, match="weights must have a row a query token"):
        arcs(WEIGHTS, TOKENS[:3])
    with pytest.raises(ValueError, match="query_tokens must not be empty"):
        arcs(np.zeros((0, 0)), [])
    with pytest.raises(ValueError, match="tokens must be those attended to"):
        alignment_below_arcs(Arcs(np.eye(1), ["a"]), Alignment(np.eye(1), ["b"], ["b"]))
