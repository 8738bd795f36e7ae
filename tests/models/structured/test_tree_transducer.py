"""Tests of the tree transducer beyond the contracts."""

import numpy as np
import pytest

from tests.models.translators import (
    INPUTS,
    LENGTHS,
    REVERSED,
    WRONG_EVERYWHERE,
    copy_weights,
    make,
    refuses,
)
from zoo.models.structured.tree_transducer import TreeTransducer

WRONG = [
    *WRONG_EVERYWHERE,
    ("parser_dim", 0, "a positive integer"),
    ("score_dim", 0, "a positive integer"),
    ("attention", "tree", r"one of \['structured', 'simple', 'none'\]"),
    ("initial_range", 0.0, "positive and finite"),
]


@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_an_argument_out_of_range_is_refused(name, value, expected):
    refuses(TreeTransducer, name, value, expected)


def parents_of(**arguments):
    return np.array(make(TreeTransducer, **arguments)(INPUTS)["attention"]["parents"])


def test_every_word_but_the_root_has_parents_and_is_none_of_its_own():
    for parents, length in zip(parents_of(), LENGTHS, strict=True):
        sums = parents.sum(axis=1)
        np.testing.assert_allclose(sums[1:length], 1.0, atol=1e-6)
        assert not sums[length:].any()
        assert not parents[0].any()
        assert not parents.diagonal().any()


def test_a_softmax_gives_parents_to_the_root_too():
    for parents, length in zip(parents_of(attention="simple"), LENGTHS, strict=True):
        np.testing.assert_allclose(parents.sum(axis=1)[:length], 1.0, atol=1e-6)
        assert (parents[:length, :length] > 0.0).all()


def test_a_single_root_has_one_child():
    """Expected children of the root, which is the parent of one word or of several."""
    single = parents_of(multi_root=False)[0, :, 0].sum()
    assert single == pytest.approx(1.0, abs=1e-6)
    assert parents_of()[0, :, 0].sum() > 1.1


def test_without_parents_the_order_of_the_source_cannot_be_known():
    model = make(TreeTransducer, attention="none")
    assert "parents" not in model.ATTENTION
    outputs = model(INPUTS)
    assert outputs["attention"].keys() == {"alignment"}
    turned = model(INPUTS | {"source": np.array([[8, 3, 7, 5, 6], [3, 9, 0, 0, 0]], "int32")})
    np.testing.assert_allclose(turned["logits"], outputs["logits"], rtol=1e-5, atol=1e-6)
    for attention in ("structured", "simple"):
        model = make(TreeTransducer, attention=attention)
        outputs, turned = model(INPUTS), model(INPUTS | {"source": REVERSED})
        assert np.abs(turned["logits"] - outputs["logits"]).max() > 1e-3


def test_the_source_table_is_the_parsers_too():
    """The paper shares it: no weight of a source word is in any other table."""
    model = make(TreeTransducer)
    tables = [w.path for w in model.weights if w.shape == (17, 4)]
    assert [path.split("/")[-2] for path in tables] == ["source_embedding"]


def test_tree_and_softmax_have_the_same_weights():
    tree, softmax = make(TreeTransducer), make(TreeTransducer, seed=2, attention="simple")
    copy_weights(softmax, tree)
    logits = tree(INPUTS)["logits"] - softmax(INPUTS)["logits"]
    assert np.abs(logits).max() > 1e-3
