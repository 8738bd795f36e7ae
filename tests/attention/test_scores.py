"""Every score function of the family: equal to NumPy, and fit for masks, batches and graphs."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.attention.scoring import (
    BATCH,
    EXACT,
    KEY_DIM,
    KEYS,
    LENGTHS,
    MASK,
    MAXIMUM_LENGTH,
    NAMES,
    QUERIES,
    UNITS,
    WITH_BIAS,
    letters,
    make,
    query_dim,
    sentences,
)
from tests.references import scores as reference
from zoo.attention.attend import attend
from zoo.attention.scores import SCORES, make_score

each_name = pytest.mark.parametrize("name", NAMES)
CASES = [*((name, {}) for name in NAMES), *((name, {"use_bias": True}) for name in WITH_BIAS)]
each_case = pytest.mark.parametrize(("name", "options"), CASES)

# Of the family's table: weights for queries of d_s, keys of d_h and a units.
NO_WEIGHTS = {"dot": 0, "scaled_dot": 0, "content": 0}
COUNTS = NO_WEIGHTS | {
    "general": 5 * 4,
    "concat": 3 * (5 + 4) + 3,
    "concat_identity": 5 * 4 + 4,
    "additive": 3 * (5 + 4) + 3,
    "concat_linear": 5 + 4,
    "linear_additive": 5 + 4,
    "location": 5 * 5,
}


def run(layer, queries, keys, values, mask=MASK):
    scores = layer(queries, layer.prepare(keys))
    return scores, *attend(scores, values, mask)


@each_case
def test_scores_weights_and_contexts_are_the_references(name, options):
    """The reference sees one query and one sentence, at its own length and without padding."""
    layer, inputs = make(name, **options), sentences(name)
    scores, contexts, weights = run(layer, *inputs)
    assert scores.shape == weights.shape == (BATCH, QUERIES, KEYS)
    for row, length in enumerate(LENGTHS):
        for q in range(QUERIES):
            queries, keys, values = (x[row] for x in inputs)
            expected = reference.score(name, letters(layer), queries[q], keys[:length])
            context, alpha = reference.attend(expected, values[:length])
            reached = np.isfinite(expected)
            np.testing.assert_allclose(scores[row, q, :length][reached], expected[reached], **EXACT)
            np.testing.assert_allclose(weights[row, q, :length], alpha, **EXACT)
            np.testing.assert_allclose(contexts[row, q], context, **EXACT)
            assert not weights[row, q, length:].numpy().any()


@each_name
def test_the_weights_are_as_many_as_the_table_says(name):
    assert make(name).count_params() == COUNTS[name]


@each_name
def test_rows_sum_to_one_and_an_empty_sentence_has_zeros(name):
    _, contexts, weights = run(make(name), *sentences(name))
    sums = weights.numpy().sum(axis=-1)
    np.testing.assert_allclose(sums[:-1], 1.0, rtol=1e-12)
    assert not sums[-1].any()
    assert not contexts[-1].numpy().any()


def gradients_of(layer, inputs, factor):
    tensors = [tf.constant(x, layer.compute_dtype) for x in inputs]
    variables = [weight.value for weight in layer.trainable_weights]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        _, contexts, weights = run(layer, *tensors)
        total = sum(
            tf.reduce_sum(tf.cast(x, tf.float64) * factor[..., : x.shape[-1]])
            for x in (contexts, weights)
        )
    gradients = tape.gradient(total, [*tensors, *variables])
    return gradients[: len(tensors)], gradients[len(tensors) :]


@each_case
def test_gradients_are_those_of_the_real_words_alone(name, options):
    """Garbage in padding, and a sentence of nothing but padding, change no gradient."""
    layer, factor = make(name, **options), np.random.default_rng(5).normal(size=(1, QUERIES, KEYS))
    into_inputs, into_weights = gradients_of(layer, sentences(name), factor)
    clean_inputs, clean_weights = gradients_of(layer, sentences(name, garbage=0.0), factor)
    for actual, expected in zip(
        [*into_inputs, *into_weights], [*clean_inputs, *clean_weights], strict=True
    ):
        if expected is not None:  # location does not read its keys
            np.testing.assert_allclose(actual, expected, **EXACT)
            assert np.isfinite(actual).all()
    for gradient in into_inputs[1:]:
        assert gradient is None or not gradient.numpy()[~MASK].any()


@each_case
def test_gradients_of_the_weights_are_the_slopes_of_the_result(name, options):
    layer, factor = make(name, **options), np.random.default_rng(5).normal(size=(1, QUERIES, KEYS))
    inputs, step = sentences(name, garbage=1.0), 1e-5
    _, into_weights = gradients_of(layer, inputs, factor)

    def total():
        _, contexts, weights = run(layer, *inputs)
        return sum(np.sum(x * factor[..., : x.shape[-1]]) for x in (contexts, weights))

    direction = np.random.default_rng(6)
    for weight, gradient in zip(layer.trainable_weights, into_weights, strict=True):
        value, way = weight.numpy(), direction.normal(size=weight.shape)
        ends = []
        for sign in (1.0, -1.0):
            weight.assign(value + sign * step * way)
            ends.append(total())
        weight.assign(value)
        slope = (ends[0] - ends[1]) / (2.0 * step)
        np.testing.assert_allclose(np.sum(gradient * way), slope, rtol=1e-6, atol=1e-8)


@each_name
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_is_finite_and_near(name, policy):
    half, single = make(name, dtype=policy), make(name, dtype="float32")
    inputs = [x.astype("float32") for x in sentences(name, garbage=1.0)]
    prepared = half.prepare(inputs[1])
    assert prepared.dtype == half.compute_dtype
    scores = half(inputs[0], prepared)
    assert scores.dtype == half.compute_dtype
    _, weights = attend(scores, inputs[2], MASK)
    _, _, expected = run(single, *inputs)
    tolerance = 0.01 if policy == "mixed_float16" else 0.06
    np.testing.assert_allclose(tf.cast(weights, "float32"), expected, atol=tolerance)
    _, gradients = gradients_of(half, inputs, np.ones((1, QUERIES, KEYS)))
    for gradient in gradients:
        assert gradient.dtype == "float32"
        assert np.isfinite(gradient).all()


@each_name
def test_permuting_keys_permutes_weights_but_for_location(name):
    layer, (queries, keys, values) = make(name), sentences(name)
    order = np.random.default_rng(7).permutation(KEYS)
    _, contexts, weights = run(layer, queries, keys, values)
    moved = run(layer, queries, keys[:, order], values[:, order], MASK[:, order])
    same = np.allclose(moved[2], weights.numpy()[:, :, order], rtol=1e-9)
    assert same == (name != "location")
    if same:
        np.testing.assert_allclose(moved[1], contexts, **EXACT)


@each_name
def test_windows_of_keys_have_the_scores_of_the_whole(name):
    layer, (queries, keys, _) = make(name), sentences(name)
    positions = np.random.default_rng(8).integers(0, KEYS, (BATCH, QUERIES, 4)).astype("int32")
    prepared = layer.prepare(keys)
    whole = layer(queries, prepared).numpy()
    windows = prepared.numpy()[np.arange(BATCH)[:, None, None], positions]
    actual = layer.score_windows(tf.constant(queries), tf.constant(windows), positions)
    np.testing.assert_allclose(actual, np.take_along_axis(whole, positions, axis=2), **EXACT)


@each_case
def test_a_configuration_gives_the_layer_back(name, options):
    layer = make(name, name="renamed", **options)
    config = keras.saving.serialize_keras_object(layer)
    copy = keras.saving.deserialize_keras_object(config)
    assert type(copy) is type(layer)
    assert copy.get_config() == layer.get_config()
    copy.set_weights(layer.get_weights())
    inputs = sentences(name)
    for actual, expected in zip(run(copy, *inputs), run(layer, *inputs), strict=True):
        np.testing.assert_array_equal(actual, expected)


@each_name
def test_one_graph_serves_every_batch_size_and_length(name):
    layer, inputs = make(name), sentences(name)
    signature = [tf.TensorSpec((None, None, x.shape[-1]), tf.float64) for x in inputs]
    traces = []

    @tf.function(
        input_signature=[*signature, tf.TensorSpec((None, None), tf.bool)], autograph=False
    )
    def graph(*arguments):
        traces.append(1)
        return run(layer, *arguments)

    for rows, count, length in ((BATCH, QUERIES, KEYS), (1, 1, 2), (2, 1, 1)):
        queries = inputs[0][:rows, :count]
        rest = [x[:rows, :length] for x in (*inputs[1:], MASK)]
        eager = run(layer, queries, *rest)
        for actual, expected in zip(graph(queries, *rest), eager, strict=True):
            np.testing.assert_allclose(actual, expected, **EXACT)
    _, contexts, weights = graph(*(x[:0] for x in (*inputs, MASK)))
    assert (len(contexts), weights.shape) == (0, (0, QUERIES, KEYS))
    assert traces == [1]


def test_initialisers_reach_the_weights_they_are_for():
    for name in NAMES:
        score = make_score(
            name,
            units=UNITS,
            maximum_length=MAXIMUM_LENGTH,
            kernel_initializer=keras.initializers.Constant(2.0),
            scale_initializer="ones",
        )
        score.build((None, None, query_dim(name)), (None, None, KEY_DIM))
        for weight in score.weights:
            expected = 1.0 if weight.name == "scale" else 2.0
            np.testing.assert_array_equal(weight, np.full(weight.shape, expected))


def test_matrices_of_one_score_do_not_start_alike():
    score = make_score("additive", units=UNITS)
    score.build((None, None, KEY_DIM), (None, None, KEY_DIM))
    assert not np.array_equal(score.query_kernel, score.key_kernel)


def test_make_score_names_the_layer_and_refuses_what_it_cannot_make():
    score = make_score("general", name="named", dtype="float64")
    assert type(score) is SCORES["general"]
    assert (score.name, score.compute_dtype) == ("named", "float64")
    with pytest.raises(ValueError, match=r"score must be one of .*, got 'dott'"):
        make_score("dott")
    with pytest.raises(ValueError, match="units must be a positive integer, got None"):
        make_score("concat", maximum_length=5)
    with pytest.raises(ValueError, match="units must be a positive integer, got 0"):
        make_score("additive", units=0)
    with pytest.raises(ValueError, match="maximum_length must be a positive integer, got None"):
        make_score("location", units=5)


def test_integers_of_numpy_are_sizes_and_are_saved_as_plain_ones():
    score = make_score("additive", units=np.int64(UNITS))
    config = json.loads(json.dumps(keras.saving.serialize_keras_object(score)))
    assert config["config"]["units"] == UNITS


@each_name
def test_sizes_must_be_known_and_fit(name):
    score = make_score(name, units=UNITS, maximum_length=MAXIMUM_LENGTH)
    with pytest.raises(ValueError, match=r"has no weights yet: call build"):
        score.prepare(np.zeros((1, 1, 4)))
    with pytest.raises(ValueError, match=r"queries_shape of .* must be \(batch"):
        score.build((None, None, None), (None, None, 4))
    with pytest.raises(ValueError, match=r"keys_shape of .* must be \(batch"):
        score.build((None, None, 4), (None, 4))
    if name in NO_WEIGHTS:
        with pytest.raises(
            ValueError, match=r"queries and keys .* must have equal sizes, got 5 and 4"
        ):
            score.build((None, None, 5), (None, None, 4))
