"""Results draw themselves, in Matplotlib and as HTML for notebooks."""

import dataclasses
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from zoo.pipelines.results import AttentionMap, Evidence, Label, NextWords

DOCUMENT = "Nell met a fox . Nell fed the fox ."
EXAMPLES = {
    "cloze_aoa": (DOCUMENT, "XXXXX fed the fox ."),
    "multi30k_rnnsearch_en_de": ("A dog runs.",),
    "squad_dcn": ("Who sang?", "Ada Moreau sang in Oslo."),
    "sst_lstmn": ("A fine film .",),
    "wikitext_lstmn": ("the cat sat",),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_results_of_every_task_are_drawn(load, name):
    result = load(name)(*EXAMPLES[name])
    assert isinstance(result.plot(), Figure)
    page = ElementTree.fromstring(result._repr_html_())
    told, picture = page
    assert told.text.endswith(f"({result.score:.2f})")
    assert {one.tag.rpartition("}")[2] for one in picture.iter()} <= {"svg", "rect", "text", "path"}


def test_n_best_translations_and_all_heads_are_drawn(load):
    translate = load("multi30k_transformer_en_de")
    for result in (
        *translate("A dog runs.", n_best=2),
        translate("A dog runs.", heads=True),
    ):
        assert isinstance(result.plot(), Figure)
        assert "<svg" in result._repr_html_()
    assert "<svg" not in translate("")._repr_html_()


EMPTY = {"tokens": {}, "attention": {}, "evidence": Evidence({}, None, "serving_default")}


def test_answers_are_escaped():
    label = Label(label="<b>&", score=0.5, probabilities={}, **EMPTY)
    assert "<p>&lt;b&gt;&amp; (0.50)</p>" in label._repr_html_()
    words = NextWords(
        words=("<unk>", "a"), score=0.5, probabilities=(), log_probabilities=(), **EMPTY
    )
    assert "<p>&lt;unk&gt;, a (0.50)</p>" in words._repr_html_()


def test_without_attention_there_is_nothing_to_plot():
    label = Label(label="good", score=0.5, probabilities={}, **EMPTY)
    with pytest.raises(ValueError, match="a model without attention has no picture"):
        label.plot()


def test_a_map_is_an_array():
    weights = np.eye(2, dtype="float32")
    attention = AttentionMap(weights, (("a", "b"), ("c", "d")))
    assert np.asarray(attention) is weights
    assert np.asarray(attention, "float64").dtype == "float64"
    assert attention.shape == (2, 2)
    assert {field.name for field in dataclasses.fields(attention)} == {"weights", "tokens"}
