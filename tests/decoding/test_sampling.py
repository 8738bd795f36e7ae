"""Samples and their frequencies, compared with the sampled distribution."""

import numpy as np
import pytest
import tensorflow as tf

from tests.decoding.toy import SOURCES, ScriptedModel, ToyModel
from tests.references import search as reference
from zoo.decoding.beam import beam_search
from zoo.decoding.greedy import greedy
from zoo.decoding.sampling import sample

DRAWS = 20_000
# Logits after any token; the special ids 0 and 2 would be by far the likeliest.
ROW = np.array([9.0, 0.3, 9.0, 0.0, 1.0, 1.0, -0.5, 2.0])


def frequencies(row=ROW, **options):
    """How often each id is the first token of 20,000 samples."""
    model = ScriptedModel(np.tile(row, (len(row), 1)))
    drawn = sample(model, model.encode(DRAWS), maximum_length=1, seed=1, **options)
    return np.bincount(drawn.tokens.numpy().reshape(-1), minlength=len(row)) / DRAWS


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": 0.5},
        {"temperature": 3.0},
        {"top_k": 1},
        {"top_k": 2},
        {"top_k": 4},
        {"top_k": 1000},
        {"top_p": 0.01},
        {"top_p": 0.6},
        {"top_p": 0.9},
        {"top_p": 1.0},
        {"temperature": 2.0, "top_k": 4, "top_p": 0.7},
        {"temperature": tf.constant(2.0), "top_k": tf.constant(4), "top_p": tf.constant(0.7)},
    ],
)
@pytest.mark.parametrize("forbid", [False, True])
def test_tokens_are_drawn_as_often_as_they_should(options, forbid):
    log_probabilities = ROW - np.log(np.exp(ROW).sum())
    allowed = [3, 4, 5, 6, 7] if forbid else [1, 3, 4, 5, 6, 7]
    plain = {name: float(value) for name, value in options.items()}
    if "top_k" in plain:
        plain["top_k"] = int(plain["top_k"])
    expected = reference.sampling_distribution(log_probabilities, allowed, **plain)
    found = frequencies(**options, forbid_unknown=forbid)
    assert not found[expected == 0].any()
    # Five standard deviations of the frequency of the most uncertain token.
    np.testing.assert_allclose(found, expected, atol=5 * 0.5 / np.sqrt(DRAWS))


def test_extreme_options_draw_from_what_is_allowed():
    """Padding and the start are forbidden, whose logits are minus infinity."""
    allowed = [1, 3, 4, 5, 6, 7]
    for temperature in (float("inf"), 3e38, tf.constant(float("inf"))):
        found = frequencies(temperature=temperature)
        assert not found[[0, 2]].any()
        np.testing.assert_allclose(found[allowed], 1 / 6, atol=0.02)
    for options in ({"shared": True}, {"top_k": 7}, {"top_p": 0.9}):
        assert not frequencies(temperature=float("inf"), **options)[[0, 2]].any()
    for top_p in (1e-50, 1e-40, tf.constant(1e-40)):
        assert frequencies(top_p=top_p)[7] == 1.0


def test_the_draws_of_two_steps_are_independent():
    row = np.full(6, -50.0)
    row[4:] = 0.0
    model = ScriptedModel(np.tile(row, (6, 1)))
    tokens = sample(model, model.encode(DRAWS), maximum_length=2, seed=3).tokens.numpy()[:, 0] - 4
    counts = np.bincount(2 * tokens[:, 0] + tokens[:, 1], minlength=4) / DRAWS
    np.testing.assert_allclose(counts, 0.25, atol=0.02)


def test_a_seed_draws_the_same_again():
    model = ToyModel(seed=1)
    memory = model.encode(SOURCES * 5)

    @tf.function(autograph=False)
    def graph(seed):
        return sample(model, memory, maximum_length=8, seed=seed)

    first = graph(tf.constant(4))
    np.testing.assert_array_equal(first.tokens, graph(tf.constant(4)).tokens)
    eager = sample(model, memory, maximum_length=8, seed=4)
    np.testing.assert_array_equal(first.tokens, eager.tokens)
    other = graph(tf.constant(5))
    assert first.log_probabilities.numpy().tolist() != other.log_probabilities.numpy().tolist()


def test_log_probabilities_are_the_models_own():
    """Neither temperature nor what was left out changes what the model thinks of the result."""
    model = ToyModel(seed=2, end_bonus=1.0)
    options = {"maximum_length": 6, "minimum_length": 2, "temperature": 2.0, "top_k": 3}
    drawn = sample(model, model.encode(SOURCES), seed=0, **options)
    for row, source in enumerate(SOURCES):
        hypothesis = reference.Hypothesis()
        for token in drawn.tokens[row, 0, : int(drawn.lengths[row, 0])].numpy().tolist():
            hypothesis = hypothesis.extended(model.twin(source), token)
        assert len(hypothesis.tokens) == 6 or hypothesis.finished
        assert len(hypothesis.tokens) > 2
        np.testing.assert_allclose(
            drawn.log_probabilities[row, 0], hypothesis.log_probability, atol=2e-5
        )
        np.testing.assert_allclose(
            drawn.alignment[row, 0, : len(hypothesis.tokens), : np.count_nonzero(source)],
            np.stack(hypothesis.alignment),
            atol=1e-5,
        )


@pytest.mark.parametrize(
    "options",
    [
        {"top_k": 1},
        {"top_p": 1e-6},
        {"temperature": 1e-3},
        {"temperature": 1e-38},
        {"temperature": tf.constant(1e-38)},
        {"temperature": tf.constant(1e-45)},
        {"temperature": tf.constant(1e-38), "top_k": tf.constant(3), "top_p": tf.constant(0.9)},
    ],
)
def test_with_nothing_to_choose_from_it_is_the_greedy_search(options):
    model = ToyModel(seed=3, end_bonus=1.0)
    memory = model.encode(SOURCES)
    drawn = sample(model, memory, maximum_length=7, seed=9, **options)
    graph = tf.function(
        lambda fed: sample(model, memory, maximum_length=7, seed=9, **fed), autograph=False
    )
    expected = greedy(model, memory, maximum_length=7)
    for found in (drawn, graph({name: tf.constant(value) for name, value in options.items()})):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)


def test_no_sentence_at_all():
    model = ToyModel()
    memory = model.encode(np.zeros((0, 3), int))
    assert sample(model, memory, maximum_length=3, seed=0, top_p=0.5).tokens.shape == (0, 1, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 0.0}, "temperature must be a number above 0 .*, got 0.0"),
        ({"temperature": -1}, "temperature must be a number above 0 .*, got -1"),
        ({"seed": 1.5}, "seed must be a whole number, got 1.5"),
        ({"seed": tf.constant(1.5)}, "seed must be a whole number, got float32"),
        ({"seed": 2**70}, f"seed must be at most {2**63 - 1}, got {2**70}"),
        ({"seed": -(2**70)}, f"seed must be at least {-(2**63)}, got {-(2**70)}"),
        ({"top_k": 2**40}, f"top_k must be at most {2**31 - 2}, got {2**40}"),
        ({"top_k": 0}, "top_k must be at least 1, got 0"),
        ({"top_k": np.int64(0)}, "top_k must be at least 1, got 0"),
        ({"top_k": 2.5}, "top_k must be a whole number, got 2.5"),
        ({"top_p": 0.0}, "top_p must be a number above 0 and at most 1.0, got 0.0"),
        ({"top_p": 1.5}, "top_p must be a number above 0 and at most 1.0, got 1.5"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    model = ToyModel()
    with pytest.raises(ValueError, match=message):
        sample(model, model.encode(SOURCES), maximum_length=3, **{"seed": 0} | options)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 0.0),
        ("temperature", -1.0),
        ("temperature", float("nan")),
        ("top_k", 0),
        ("top_p", 0.0),
        ("top_p", 1.5),
    ],
)
def test_tensors_out_of_range_are_refused_when_it_runs(name, value):
    model = ToyModel()

    @tf.function(autograph=False)
    def graph(number):
        return sample(model, model.encode(SOURCES), maximum_length=3, seed=0, **{name: number})

    for run in (graph, graph.python_function):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=f"{name} must be a number above 0"
        ):
            run(tf.constant(value))


def searches(model, memory):
    """All searches for one hypothesis."""
    options = {"maximum_length": 3}
    yield greedy(model, memory, **options)
    yield beam_search(model, memory, beam_width=1, **options)
    for more in ({}, {"shared": True}, {"top_k": 3}, {"top_p": 0.9}):
        yield sample(model, memory, seed=1, temperature=1e-3, **options, **more)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("after", [[2], [4], [2, 4]])
@pytest.mark.parametrize("columns", [[6], [*range(8)]])
def test_nothing_follows_logits_that_are_not_numbers(value, after, columns):
    table = np.tile([0.0, 0.0, 0.0, 1.0, 5.0, 0.0, 0.0, 0.0], (8, 1))
    table[np.ix_(after, columns)] = value
    model = ScriptedModel(table)
    memory = model.encode(2)
    sound = value == -np.inf and len(columns) == 1
    for found in searches(model, memory):
        assert found.lengths.numpy().tolist() == [[3 * sound]] * 2
        assert found.tokens.numpy().tolist() == [[[4, 4, 4] * sound]] * 2
        assert np.isfinite(found.scores).all() == sound
        assert not np.isnan(found.log_probabilities).any()
    several = beam_search(model, memory, beam_width=3, n_best=2, maximum_length=3)
    assert not np.isnan(several.scores).any()
    if after == [4] and not sound:  # other hypotheses than the one that is lost go on
        assert several.tokens.numpy()[:, :, :2].tolist() == [[[3, 0], [1, 3]]] * 2
