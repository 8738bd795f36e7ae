"""Tests of the Dynamic Coattention Network beyond the contracts."""

import keras
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
    ("attention", "none", r"one of \['coattention', 'question'\]"),
    ("scorer", "mlp", r"one of \['highway_maxout', 'perceptron'\]"),
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


def test_attention_to_the_question_alone_has_no_weight_and_no_map_of_the_other_side():
    model, whole = make(attention="question"), make()
    units, inputs = model.hidden_dim, 3 * model.hidden_dim
    fusion = 2 * 4 * units * (inputs - 2 * units)  # each direction reads l inputs less
    assert whole.count_params() - model.count_params() == units + fusion
    assert not any("document_sentinel" in weight.path for weight in model.weights)
    assert set(model(INPUTS)["attention"]) == set(model.ATTENTION) == {"context_to_question"}
    assert set(whole(INPUTS)["attention"]) == set(whole.ATTENTION)


def test_a_perceptron_has_a_hidden_layer_of_seven_parts():
    """7l inputs, l hidden units with biases, and one output with its bias, twice."""
    model = make(scorer="perceptron")
    units = model.hidden_dim
    scorers = [weight for weight in model.weights if "scorer" in weight.path]
    counted = sum(np.prod(weight.shape) for weight in scorers)
    assert counted == 2 * (7 * units * units + units + units + 1)
    assert make(scorer="perceptron", pool_size=9).count_params() == model.count_params()


@pytest.mark.parametrize("options", [{"attention": "question"}, {"scorer": "perceptron"}])
def test_the_ablations_are_kept_by_a_keras_file(options, tmp_path):
    model = make(**options)
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again(INPUTS)["start"], model(INPUTS)["start"])
    np.testing.assert_array_equal(again(INPUTS)["span"], model(INPUTS)["span"])
