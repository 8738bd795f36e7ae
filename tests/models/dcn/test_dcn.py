"""Tests of the Dynamic Coattention Network beyond the contracts."""

import numpy as np
import pytest

from zoo.models.dcn.dcn import DynamicCoattentionNetwork

INPUTS = {
    "question": np.array([[5, 6, 0], [7, 0, 0]], "int32"),
    "context": np.array([[8, 9, 10, 11], [12, 13, 0, 0]], "int32"),
}

WRONG = [
    *[
        (name, value, "a positive integer")
        for name in ("vocabulary_size", "embedding_dim", "hidden_dim", "pool_size", "iterations")
        for value in (0, -1, 2.5)
    ],
    ("end_uses", "next", r"one of \['previous', 'current'\]"),
    ("loss_over", "none", r"one of \['all', 'halt'\]"),
    ("dropout", 1.0, "at least 0 and less than 1"),
    ("dropout", -0.1, "at least 0 and less than 1"),
]


def make(**arguments):
    model = DynamicCoattentionNetwork.from_preset("tiny", **arguments)
    model.build()
    return model


@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_an_argument_out_of_range_is_refused(name, value, expected):
    with pytest.raises(ValueError, match=f"^{name} must be {expected}.*, got {value!r}"):
        DynamicCoattentionNetwork.from_preset("tiny", **{name: value})


def test_the_preset_without_a_vocabulary_wants_its_size():
    with pytest.raises(TypeError, match="vocabulary_size"):
        DynamicCoattentionNetwork.from_preset("small")
    assert DynamicCoattentionNetwork.from_preset("small", vocabulary_size=7).hidden_dim == 100


def test_word_vectors_are_fixed_unless_asked_and_stored_as_asked():
    fixed, trained = make(embedding_dtype="float16"), make(trainable_embeddings=True)
    assert [w.path for w in fixed.non_trainable_weights if "seed" not in w.path] == [
        fixed.embedding.table.path
    ]
    assert fixed.embedding.table.dtype == "float16"
    assert fixed(INPUTS)["start"].dtype == "float32"
    assert trained.embedding.table.dtype == "float32"
    assert len(trained.trainable_weights) == len(fixed.trainable_weights) + 1


def test_one_encoder_reads_both_sides():
    """The paper's encoders share their weights; the two scorers do not."""
    names = [weight.path.split("/")[1] for weight in make().trainable_weights]
    assert sum(name == "encoder" for name in names) == 3
    scorers = [w.path.split("/")[2] for w in make().trainable_weights if "scorer" in w.path]
    assert scorers.count("start_scorer") == scorers.count("end_scorer") > 0


def test_fewer_iterations_are_the_first_of_more():
    long, short = make(iterations=4), make(iterations=1)
    short.set_weights(long.get_weights())
    expected, actual = long(INPUTS), short(INPUTS)
    assert expected["start_per_iteration"].shape == (2, 4, 4)
    for name in ("start_per_iteration", "end_per_iteration", "span_per_iteration", "active"):
        np.testing.assert_allclose(actual[name], expected[name][:, :1], rtol=1e-6, err_msg=name)
    np.testing.assert_allclose(actual["start"], actual["start_per_iteration"][:, 0])
