"""The greedy search against the same over whole prefixes."""

import numpy as np
import pytest
import tensorflow as tf

from tests.decoding.toy import SOURCES, BareModel, ScriptedModel, ToyModel, assert_equals
from tests.references import search as reference
from zoo.decoding.greedy import greedy


@pytest.mark.parametrize("minimum", [0, 3])
@pytest.mark.parametrize("forbid", [False, True])
def test_equals_the_reference(minimum, forbid):
    lengths = set()
    for seed in range(6):
        model = ToyModel(seed=seed, end_bonus=1.0)
        rules = reference.Rules(6, minimum, forbid)
        found = greedy(
            model,
            model.encode(SOURCES),
            maximum_length=6,
            minimum_length=minimum,
            forbid_unknown=forbid,
        )
        for row, source in enumerate(SOURCES):
            expected = reference.greedy(model.twin(source), rules)
            assert_equals(found, row, [expected], rules)
            lengths.add(len(expected.tokens))
    assert len(lengths) > 1


def test_every_sentence_has_its_own_limits():
    model = ToyModel(seed=1)
    maximum, minimum = [0, 6, 3, 4], [0, 5, 1, 2]
    found = greedy(
        model,
        model.encode(SOURCES),
        maximum_length=tf.constant(maximum),
        minimum_length=tf.constant(minimum),
    )
    assert found.lengths[0, 0] == 0
    for row in (1, 2, 3):
        rules = reference.Rules(maximum[row], minimum[row])
        assert_equals(found, row, [reference.greedy(model.twin(SOURCES[row]), rules)], rules)


def test_it_stops_when_all_have_finished():
    table = np.full((6, 6), -50.0)
    table[2, 4] = table[4, 5] = table[5, 3] = 0.0
    model = ScriptedModel(table)
    found = greedy(model, model.encode(2), maximum_length=100)
    assert model.steps == 3
    assert found.tokens.numpy().tolist() == [[[4, 5, 3]]] * 2
    np.testing.assert_allclose(found.scores, 0.0, atol=1e-6)


def test_of_equals_the_lowest_id_is_chosen():
    model = ScriptedModel(np.zeros((6, 6)))
    options = {"maximum_length": 3, "minimum_length": 2, "forbid_unknown": True}
    found = greedy(model, model.encode(1), **options)
    assert found.tokens.numpy().tolist() == [[[4, 4, 3]]]


@pytest.mark.parametrize("shape", [(0, 3), (2, 0)])
def test_nothing_to_translate(shape):
    model = ToyModel()

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)], autograph=False)
    def graph(source):
        return greedy(model, model.encode(source), maximum_length=4)

    for search in (graph, graph.python_function):
        found = search(np.zeros(shape, "int32"))
        assert found.tokens.shape[:2] == (shape[0], 1)
        assert found.alignment.shape[3] == shape[1]
        assert np.isfinite(found.scores.numpy()).all()


def test_one_graph_serves_every_size():
    model = ToyModel(seed=3)

    @tf.function(
        input_signature=[tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([], tf.int32)]
    )
    def graph(source, maximum_length):
        return greedy(model, model.encode(source), maximum_length=maximum_length)

    for rows, maximum_length in ((1, 3), (4, 7), (2, 1)):
        found = graph(tf.constant(SOURCES[:rows]), maximum_length)
        rules = reference.Rules(maximum_length)
        for row in range(rows):
            assert_equals(found, row, [reference.greedy(model.twin(SOURCES[row]), rules)], rules)
    assert graph.experimental_get_tracing_count() == 1


def test_half_precision_and_no_attention():
    model = BareModel(seed=1, dtype="float16")
    found = greedy(model, model.encode(SOURCES), maximum_length=5)
    assert found.scores.dtype == tf.float32
    assert found.alignment.shape == (*found.tokens.shape, 0)
    assert np.isfinite(found.scores.numpy()).all()


def test_limits_out_of_range_are_refused():
    model = ToyModel()
    with pytest.raises(ValueError, match="maximum_length must be at least 1, got 0"):
        greedy(model, model.encode(SOURCES), maximum_length=0)
    with pytest.raises(ValueError, match="minimum_length must be at least 0, got -2"):
        greedy(model, model.encode(SOURCES), maximum_length=3, minimum_length=-2)
