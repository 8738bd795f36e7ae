"""The beam search against a search over whole prefixes in NumPy, and against trying everything."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from tests.decoding.toy import SOURCES, BareModel, ScriptedModel, ToyModel, assert_equals
from tests.references import search as reference
from zoo.decoding.beam import beam_search
from zoo.decoding.greedy import greedy
from zoo.decoding.protocol import Hypotheses

NORMALISATIONS = ["none", "length", "gnmt"]
ALPHA = 1.3
LENGTH = 6


def graph(model, **options):
    """The search as a graph that is fed every number, and whether <unk> is forbidden."""

    @tf.function
    def search(source, fed):
        return beam_search(model, model.encode(source), **fed, **options)

    return search


def fed(search, sources, width, maximum=LENGTH, **others):
    """Calls the graph; what differs from call to call is fed to the same one."""
    numbers = {
        "beam_width": width,
        "maximum_length": maximum,
        "n_best": 1,
        "minimum_length": 0,
        "length_penalty": ALPHA,
        "coverage_penalty": 0.0,
        "forbid_unknown": False,
    }
    return search(
        tf.constant(sources),
        {name: tf.constant(number) for name, number in (numbers | others).items()},
    )


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
@pytest.mark.parametrize("stop", ["exact", "current_length"])
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
    for stop in ("exact", "current_length"):
        model.steps = 0
        options = {"beam_width": 2, "maximum_length": 50, "normalisation": "length", "stop": stop}
        tokens = beam_search(model, model.encode(1), **options).tokens
        found[stop] = tokens.numpy().tolist(), model.steps
    assert found == {"exact": ([[[4, 6, 5, 1, 3]]], 5), "current_length": ([[[3]]], 1)}


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
    with pytest.raises(tf.errors.InvalidArgumentError, match="beam_width, expected at least 1"):
        loaded(
            source=tf.constant(SOURCES),
            beam_width=tf.constant(0),
            length_penalty=tf.constant(1.0),
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_width": 0}, "beam_width is 0, expected at least 1"),
        ({"n_best": 0}, "n_best is 0, expected at least 1"),
        ({"maximum_length": 0}, "maximum_length is 0, expected at least 1"),
        ({"minimum_length": -1}, "minimum_length is -1, expected at least 0"),
        ({"coverage_penalty": -0.1}, "coverage_penalty is -0.1, expected at least 0"),
        ({"normalisation": "gmnt"}, "normalisation is 'gmnt', expected one of"),
        ({"stop": "early"}, "stop is 'early', expected one of"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    model = ToyModel()
    defaults = {"beam_width": 2, "maximum_length": 3}
    with pytest.raises(ValueError, match=message):
        beam_search(model, model.encode(SOURCES), **(defaults | options))


def test_coverage_needs_alignments():
    model = BareModel()
    with pytest.raises(ValueError, match=r"coverage_penalty is 0\.5, expected 0 for a model"):
        beam_search(
            model, model.encode(SOURCES), beam_width=2, maximum_length=3, coverage_penalty=0.5
        )


def test_a_vocabulary_without_a_word_is_refused():
    model = ScriptedModel(np.zeros((4, 4)))
    with pytest.raises(ValueError, match=r"logits have shape \(1, 4\), expected a known number"):
        beam_search(model, model.encode(1), beam_width=2, maximum_length=3)
