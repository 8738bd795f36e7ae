"""The beam search against a search over whole prefixes in NumPy, and against trying everything."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from tests.decoding.feeding import ALPHA, LENGTH, fed, graph
from tests.decoding.toy import SOURCES, ScriptedModel, ToyModel, assert_equals
from tests.references import search as reference
from zoo.decoding.beam import beam_search
from zoo.decoding.greedy import greedy

NORMALISATIONS = ["none", "length", "gnmt"]


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
@pytest.mark.parametrize("stop", ["exact", "current_length", "beam_finished"])
def test_equals_the_reference_with_every_option(normalisation, stop):
    model = ToyModel(seed=11 + NORMALISATIONS.index(normalisation), end_bonus=1.0)
    search = graph(model, normalisation=normalisation, stop=stop)
    sizes = [(1, 1, 0), (2, 1, 0), (3, 3, 2), (5, 2, 0), (4, 6, 1), (2, 5, 5)]
    for width, n_best, minimum in sizes:
        for forbid, coverage in itertools.product([False, True], [0.0, 0.7]):
            others = {"minimum_length": minimum, "forbid_unknown": forbid}
            others["coverage_penalty"] = coverage
            found = fed(search, SOURCES, width, n_best=n_best, **others)
            rules = reference.Rules(
                LENGTH, normalisation=normalisation, length_penalty=ALPHA, **others
            )
            for row, source in enumerate(SOURCES):
                expected = reference.beam_search(model.twin(source), width, rules, n_best, stop)
                assert_equals(found, row, expected, rules)
    assert search.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
def test_a_beam_as_wide_as_the_tree_enumerates_it(normalisation):
    model = ToyModel(vocabulary_size=6, seed=3)
    search = graph(model, normalisation=normalisation)
    for coverage in (0.0, 0.7):
        rules = reference.Rules(4, 0, False, normalisation, ALPHA, coverage)
        everything = [reference.enumerate_all(model.twin(source), rules) for source in SOURCES]
        finished = sum(hypothesis.finished for hypothesis in everything[0])
        assert finished == 1 + 3 + 9 + 27
        assert len(everything[0]) == finished + 81
        for n_best in (1, finished, finished + 85):
            found = fed(search, SOURCES, 6**4, 4, n_best=n_best, coverage_penalty=coverage)
            for row, expected in enumerate(everything):
                assert_equals(found, row, expected[:n_best], rules)


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
@pytest.mark.parametrize("width", [1, tf.constant(1)], ids=["number", "tensor"])
def test_a_beam_of_one_is_the_greedy_search(normalisation, width):
    for seed, minimum in enumerate((0, 0, 3, 3)):
        model = ToyModel(seed=seed, end_bonus=1.0)
        memory = model.encode(SOURCES)
        limits = {"maximum_length": LENGTH, "minimum_length": minimum, "forbid_unknown": True}
        found = beam_search(model, memory, beam_width=width, normalisation=normalisation, **limits)
        expected = greedy(model, memory, **limits)
        np.testing.assert_array_equal(found.tokens, expected.tokens)
        np.testing.assert_array_equal(found.lengths, expected.lengths)
        np.testing.assert_allclose(found.log_probabilities, expected.log_probabilities, rtol=1e-5)
        np.testing.assert_allclose(found.alignment, expected.alignment, rtol=1e-5)


@pytest.mark.parametrize("width", [2, 3, 5])
def test_a_width_that_is_a_number_is_that_of_a_tensor(width):
    """A number of 1 has nothing to reorder, and is known when the graph is made."""
    model = ToyModel(seed=12, end_bonus=1.0)
    rules = reference.Rules(LENGTH, normalisation="length")
    options = {"maximum_length": LENGTH, "normalisation": "length", "n_best": width}
    found = beam_search(model, model.encode(SOURCES), beam_width=width, **options)
    tensor = beam_search(model, model.encode(SOURCES), beam_width=tf.constant(width), **options)
    for one, other in zip(found, tensor, strict=True):
        np.testing.assert_array_equal(one, other)
    for row, source in enumerate(SOURCES):
        expected = reference.beam_search(model.twin(source), width, rules, width, "exact")
        assert_equals(found, row, expected, rules)


def script(rows, vocabulary_size=7):
    """A table of logits from token -> {token: probability}; what is not named is impossible."""
    table = np.full((vocabulary_size, vocabulary_size), -100.0)
    for token, following in rows.items():
        for after, probability in following.items():
            table[token, after] = np.log(probability)
    return table


def test_the_first_to_finish_is_not_returned_by_mistake():
    """</s> ends first with log(0.4) / 1; 4 5 6 </s>, with log(0.6 ** 3) / 4, is better by far."""
    steps = {2: {3: 0.4, 4: 0.6}, 4: {5: 0.6, 6: 0.4}, 5: {6: 0.6, 3: 0.4}, 6: {3: 1.0}}
    model = ScriptedModel(script(steps))
    options = {"beam_width": 2, "maximum_length": 10}
    found = beam_search(model, model.encode(1), normalisation="length", **options)
    assert found.tokens.numpy().tolist() == [[[4, 5, 6, 3]]]
    np.testing.assert_allclose(found.scores, [[np.log(0.6**3) / 4]], rtol=1e-5)
    shortest = beam_search(model, model.encode(1), **options)
    assert shortest.tokens.numpy().tolist() == [[[3]]]


def test_stopping_by_the_current_length_is_sooner_and_may_miss_the_best():
    """Only its length lifts 4 6 5 1 </s>, log(0.2) / 5, above </s>, log(0.7) / 1."""
    chain = {4: {6: 1.0}, 6: {5: 1.0}, 5: {1: 1.0}, 1: {3: 1.0}}
    table = script({2: {3: 0.7, 4: 0.2, 5: 0.1}} | chain)
    model = ScriptedModel(table)
    found = {}
    for stop in ("exact", "current_length", "beam_finished"):
        model.steps = 0
        options = {"beam_width": 2, "maximum_length": 50, "normalisation": "length", "stop": stop}
        tokens = beam_search(model, model.encode(1), **options).tokens
        found[stop] = tokens.numpy().tolist(), model.steps
    longer = ([[[4, 6, 5, 1, 3]]], 5)  # with which a second hypothesis has ended
    assert found == {"exact": longer, "current_length": ([[[3]]], 1), "beam_finished": longer}


@pytest.mark.parametrize("width", [4, tf.constant(4)], ids=["number", "tensor"])
def test_the_best_one_does_not_depend_on_how_many_are_wanted(width):
    """As in a SavedModel, one of whose signatures returns the whole beam."""
    model = ToyModel(seed=5, end_bonus=1.0)
    options = {"maximum_length": LENGTH, "normalisation": "gnmt", "stop": "beam_finished"}
    every = beam_search(model, model.encode(SOURCES), beam_width=width, n_best=width, **options)
    for n_best in (1, tf.constant(2)):
        some = beam_search(model, model.encode(SOURCES), beam_width=width, n_best=n_best, **options)
        np.testing.assert_array_equal(some.scores, every.scores[:, :n_best])
        length = some.tokens.shape[2]
        np.testing.assert_array_equal(some.tokens, every.tokens[:, :n_best, :length])


@pytest.mark.parametrize("stop", ["exact", "current_length"])
def test_the_search_ends_as_soon_as_nothing_can_change(stop):
    """</s> has 0.6 and the open hypotheses share 0.4, each step certain: no need for step two."""
    table = script({2: {3: 0.6, 4: 0.4}, 4: {4: 1.0}})
    model = ScriptedModel(table)
    found = beam_search(model, model.encode(3), beam_width=2, maximum_length=50, stop=stop)
    assert model.steps == 1
    assert found.tokens.numpy().tolist() == [[[3]]] * 3
    both = beam_search(model, model.encode(1), beam_width=2, maximum_length=20, n_best=2, stop=stop)
    assert model.steps == 1 + 20  # a second one is wanted, and never ends
    assert both.lengths.numpy().tolist() == [[1, 20]]


def test_a_search_without_an_open_hypothesis_ends():
    model = ScriptedModel(script({2: {3: 1.0}}))
    found = beam_search(model, model.encode(2), beam_width=1, maximum_length=30, n_best=3)
    assert model.steps == 1
    assert found.lengths.numpy().tolist() == [[1, 0, 0]] * 2
    assert found.scores.numpy()[:, 1:].tolist() == [[-np.inf, -np.inf]] * 2


def test_unfinished_hypotheses_rank_after_all_finished_ones():
    table = script({2: {4: 0.9, 5: 0.1}, 4: {4: 1.0}, 5: {3: 1.0}})
    model = ScriptedModel(table)
    found = beam_search(model, model.encode(1), beam_width=2, maximum_length=3, n_best=2)
    assert found.tokens.numpy().tolist() == [[[5, 3, 0], [4, 4, 4]]]
    assert found.log_probabilities[0, 0] < found.log_probabilities[0, 1]


def test_of_equals_the_lowest_index_comes_first():
    """All words equally likely: hypotheses in the order of slot and token; </s> is id 3."""
    table = np.zeros((6, 6))
    model = ScriptedModel(table)
    found = beam_search(model, model.encode(1), beam_width=3, maximum_length=2, n_best=5)
    expected = reference.beam_search(model.twin(), 3, reference.Rules(2), 5)
    assert [h.tokens for h in expected] == [(3,), (1, 3), (1, 1), (1, 4)]
    assert_equals(found, 0, expected, reference.Rules(2))


def test_every_sentence_has_its_own_limits():
    model = ToyModel(seed=1)
    maximum, minimum = [1, 6, 3, 4], [0, 5, 1, 2]
    for options in ({}, {"normalisation": "length", "coverage_penalty": 0.2}):
        found = beam_search(
            model,
            model.encode(SOURCES),
            beam_width=3,
            maximum_length=tf.constant(maximum),
            minimum_length=tf.constant(minimum),
            n_best=3,
            **options,
        )
        for row, source in enumerate(SOURCES):
            rules = reference.Rules(maximum[row], minimum[row], **options)
            expected = reference.beam_search(model.twin(source), 3, rules, 3)
            assert_equals(found, row, expected, rules)


def test_a_sentence_without_room_for_a_token_gets_an_empty_translation():
    model = ToyModel(seed=1)
    limits = tf.constant([0, 4, 0, 0])
    found = beam_search(model, model.encode(SOURCES), beam_width=3, maximum_length=limits)
    assert found.lengths.numpy()[:, 0].tolist()[::2] == [0, 0]
    assert found.tokens.numpy()[[0, 2, 3]].any() == 0
    rules = reference.Rules(4)
    expected = reference.beam_search(model.twin(SOURCES[1]), 3, rules)
    assert_equals(found, 1, expected, rules)
    nothing = beam_search(model, model.encode(SOURCES), beam_width=3, maximum_length=limits[:1])
    assert nothing.tokens.shape == (4, 1, 0)
    assert nothing.alignment.shape == (4, 1, 0, 4)


def test_a_sentence_alone_equals_itself_in_a_padded_batch():
    model = ToyModel(seed=7)
    options = {"beam_width": 4, "maximum_length": 8, "n_best": 4, "normalisation": "gnmt"}
    together = beam_search(model, model.encode(SOURCES), **options, coverage_penalty=0.3)
    for row, source in enumerate(SOURCES):
        real = [[token for token in source if token]]
        alone = beam_search(model, model.encode(real), **options, coverage_penalty=0.3)
        length, columns = alone.tokens.shape[2], len(real[0])
        np.testing.assert_array_equal(alone.tokens[0], together.tokens[row, :, :length])
        assert not together.tokens[row, :, length:].numpy().any()
        np.testing.assert_allclose(alone.scores[0], together.scores[row], rtol=1e-4)
        np.testing.assert_allclose(
            alone.alignment[0], together.alignment[row, :, :length, :columns], atol=1e-5
        )
        assert not together.alignment[row, :, :, columns:].numpy().any()


@pytest.mark.parametrize("coverage", [0.0, 0.5])
def test_a_source_of_padding_is_translated_like_any_other(coverage):
    model = ToyModel(seed=2)
    options = {"beam_width": 3, "maximum_length": 5, "coverage_penalty": coverage}
    found = beam_search(model, model.encode([[0, 0, 0], [5, 9, 3]]), **options)
    rules = reference.Rules(5, coverage_penalty=coverage)
    expected = reference.beam_search(model.twin([5, 9, 3]), 3, rules)
    assert_equals(found, 1, expected, rules)
    assert np.isfinite(found.scores.numpy()).all()
    assert not found.alignment[0].numpy().any()
    no_column = beam_search(model, model.encode(np.zeros((1, 0), int)), **options)
    np.testing.assert_array_equal(no_column.lengths[0], found.lengths[0])
    assert no_column.alignment.shape[3] == 0


@pytest.mark.parametrize("kind", [int, np.int64, np.array], ids=lambda kind: kind.__name__)
def test_numbers_of_numpy_are_those_of_python(kind):
    model = ToyModel()
    memory = model.encode(SOURCES)
    found = beam_search(
        model, memory, beam_width=kind(3), n_best=kind(2), maximum_length=kind(LENGTH)
    )
    expected = beam_search(model, memory, beam_width=3, n_best=2, maximum_length=LENGTH)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["beam_width", "n_best", "maximum_length"])
def test_numbers_of_numpy_out_of_range_are_refused(name):
    model = ToyModel()
    options = {"beam_width": 2, "maximum_length": 3}
    for number, message in ((np.int64(0), "at least 1, got 0"), (1.5, "a whole number, got 1.5")):
        with pytest.raises(ValueError, match=f"{name} must be {message}"):
            beam_search(model, model.encode(SOURCES), **options | {name: number})


def test_negative_lengths_are_those_of_the_greedy_search():
    model = ToyModel(seed=1)
    memory = model.encode(SOURCES[:3])
    lengths = {"maximum_length": tf.constant([0, -1, 2])}
    for found in (
        beam_search(model, memory, beam_width=2, **lengths),
        greedy(model, memory, **lengths),
    ):
        assert found.lengths.numpy().tolist() == [[0], [0], [2]]
