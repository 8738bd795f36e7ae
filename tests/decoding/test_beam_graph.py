"""The beam search as a graph: fed, saved, in half precision, with nothing or nonsense to do."""

import numpy as np
import pytest
import tensorflow as tf

from tests.decoding.feeding import LENGTH, fed, graph
from tests.decoding.toy import SOURCES, BareModel, ScriptedModel, ToyModel, assert_equals
from tests.references import search as reference
from zoo.decoding.beam import beam_search
from zoo.decoding.protocol import Hypotheses


@pytest.mark.parametrize("as_graph", [False, True])
def test_no_sentence_at_all(as_graph):
    model = ToyModel()
    search = graph(model, normalisation="length")
    if not as_graph:
        search = search.python_function
    found = fed(search, np.zeros((0, 3), "int32"), 4, n_best=2, coverage_penalty=0.5)
    assert found.tokens.shape == (0, 2, 0)
    assert found.lengths.shape == found.scores.shape == found.log_probabilities.shape == (0, 2)
    assert found.alignment.shape == (0, 2, 0, 3)


def test_eagerly_and_as_a_graph_it_finds_the_same():
    model = ToyModel(seed=5)
    search = graph(model, normalisation="gnmt")
    options = {"n_best": 2, "coverage_penalty": 0.2}
    eager = fed(search.python_function, SOURCES, 3, **options)
    for one, other in zip(eager, fed(search, SOURCES, 3, **options), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_numbers_and_tensors_mean_the_same():
    model = ToyModel(seed=5)
    memory = model.encode(SOURCES)
    numbers = {
        "beam_width": 3,
        "maximum_length": 7,
        "minimum_length": 1,
        "length_penalty": 0.8,
        "coverage_penalty": 0.2,
        "n_best": 2,
    }
    tensors = {name: tf.constant(number) for name, number in numbers.items()}
    one = beam_search(model, memory, normalisation="gnmt", **numbers)
    other = beam_search(model, memory, normalisation="gnmt", **tensors)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_a_model_without_attention_is_searched_alike():
    options = {"beam_width": 3, "maximum_length": 6, "n_best": 2}
    attentive, bare = (
        beam_search(model, model.encode(SOURCES), **options)
        for model in (ToyModel(seed=4), BareModel(seed=4))
    )
    np.testing.assert_array_equal(attentive.tokens, bare.tokens)
    assert bare.alignment.shape == (*bare.tokens.shape, 0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_ranked_in_single(dtype):
    """Sums of log-probabilities in half precision would tie, or drift by more than is allowed."""
    generator = np.random.default_rng(0)
    table = tf.cast(generator.normal(0.0, 2.0, (300, 300)), dtype)
    model = ScriptedModel(table, dtype)
    found = beam_search(model, model.encode(1), beam_width=5, maximum_length=12, n_best=5)
    assert found.scores.dtype == found.alignment.dtype == tf.float32
    rules = reference.Rules(12)
    model.table = tf.cast(table, tf.float32)
    assert_equals(found, 0, reference.beam_search(model.twin(), 5, rules, 5), rules)
    half = ToyModel(dtype=dtype)
    found = beam_search(half, half.encode(SOURCES), beam_width=3, maximum_length=4)
    assert found.alignment.dtype == tf.float32
    assert np.isfinite(found.scores.numpy()).all()


@pytest.mark.parametrize("vocabulary_size", [200, 211, 1024])
def test_a_vocabulary_of_many_chunks(vocabulary_size):
    generator = np.random.default_rng(1)
    model = ScriptedModel(generator.normal(0.0, 3.0, (vocabulary_size, vocabulary_size)))
    rules = reference.Rules(5, forbid_unknown=True, normalisation="length")
    options = {"forbid_unknown": True, "normalisation": "length", "n_best": 3}
    found = beam_search(model, model.encode(1), beam_width=4, maximum_length=5, **options)
    assert_equals(found, 0, reference.beam_search(model.twin(), 4, rules, 3), rules)


def test_logits_that_are_not_numbers_end_the_search():
    model = ScriptedModel(np.full((300, 300), np.nan))
    found = beam_search(model, model.encode(2), beam_width=3, maximum_length=5)
    assert found.lengths.numpy().tolist() == [[0], [0]]


def test_inside_a_saved_model_the_beam_is_an_input(tmp_path):
    model = ToyModel(seed=6)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None], tf.int32, name="source"),
            tf.TensorSpec([], tf.int32, name="beam_width"),
            tf.TensorSpec([], tf.float32, name="length_penalty"),
        ]
    )
    def beam(source, beam_width, length_penalty):
        options = {"n_best": beam_width, "length_penalty": length_penalty, "normalisation": "gnmt"}
        found = beam_search(
            model,
            model.encode(source),
            beam_width=beam_width,
            maximum_length=LENGTH,
            **options,
        )
        return found._asdict()

    module = tf.Module()
    module.beam = beam
    tf.saved_model.save(module, tmp_path, signatures={"beam": beam})
    loaded = tf.saved_model.load(tmp_path).signatures["beam"]
    for width, alpha in ((1, 0.0), (3, 1.0), (6, 2.0)):
        found = loaded(
            source=tf.constant(SOURCES),
            beam_width=tf.constant(width),
            length_penalty=tf.constant(alpha),
        )
        rules = reference.Rules(LENGTH, normalisation="gnmt", length_penalty=alpha)
        assert found["tokens"].shape[:2] == (4, width)
        for row, source in enumerate(SOURCES):
            expected = reference.beam_search(model.twin(source), width, rules, width)
            assert_equals(Hypotheses(**found), row, expected, rules)
    with pytest.raises(tf.errors.InvalidArgumentError, match="beam_width must be at least 1"):
        loaded(
            source=tf.constant(SOURCES),
            beam_width=tf.constant(0),
            length_penalty=tf.constant(1.0),
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_width": 0}, "beam_width must be at least 1, got 0"),
        ({"n_best": 0}, "n_best must be at least 1, got 0"),
        ({"maximum_length": 0}, "maximum_length must be at least 1, got 0"),
        ({"minimum_length": -1}, "minimum_length must be at least 0, got -1"),
        ({"coverage_penalty": -0.1}, "coverage_penalty must be at least 0, got -0.1"),
        ({"normalisation": "gmnt"}, "normalisation must be one of .*, got 'gmnt'"),
        ({"stop": "early"}, "stop must be one of .*, got 'early'"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    model = ToyModel()
    defaults = {"beam_width": 2, "maximum_length": 3}
    with pytest.raises(ValueError, match=message):
        beam_search(model, model.encode(SOURCES), **(defaults | options))


def test_coverage_needs_alignments():
    model = BareModel()
    with pytest.raises(ValueError, match=r"coverage_penalty must be 0 for a model .*, got 0\.5"):
        beam_search(
            model, model.encode(SOURCES), beam_width=2, maximum_length=3, coverage_penalty=0.5
        )


def test_a_vocabulary_without_a_word_is_refused():
    model = ScriptedModel(np.zeros((4, 4)))
    with pytest.raises(ValueError, match=r"logits must have a known number .*, got shape \(1, 4\)"):
        beam_search(model, model.encode(1), beam_width=2, maximum_length=3)
