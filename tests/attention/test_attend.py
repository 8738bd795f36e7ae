"""The place that masks and normalises, and the layer for models of one's own."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.attention.scoring import EXACT, KEYS, LENGTHS, MASK, QUERIES, make, randomise, sentences
from tests.references.recurrent import masked_softmax
from zoo.attention.attend import Attention, attend
from zoo.attention.scores import AdditiveScore, DotScore, GeneralScore, LocationScore
from zoo.ops.masking import attention_weights

SCORES = np.random.default_rng(1).normal(0.0, 3.0, (len(LENGTHS), QUERIES, KEYS))
VALUES = np.random.default_rng(2).normal(size=(len(LENGTHS), KEYS, 2))
PER_QUERY = np.random.default_rng(3).random(SCORES.shape) < 0.5


@pytest.mark.parametrize("mask", [MASK, PER_QUERY, None], ids=["row", "query", "none"])
def test_weights_are_the_masked_softmax_and_contexts_their_sums(mask):
    contexts, weights = attend(tf.constant(SCORES), tf.constant(VALUES), mask)
    whole = np.ones(SCORES.shape, bool) if mask is None else mask
    whole = whole[:, None] if whole.ndim == 2 else whole
    expected = masked_softmax(SCORES, np.broadcast_to(whole, SCORES.shape))
    np.testing.assert_allclose(weights, expected, **EXACT)  # 0 must be exactly 0
    np.testing.assert_allclose(contexts, np.einsum("bqs,bsd->bqd", expected, VALUES), **EXACT)


def test_a_mask_of_numbers_is_one_of_truth_values():
    expected = attention_weights(tf.constant(SCORES), MASK)
    np.testing.assert_array_equal(
        attention_weights(tf.constant(SCORES), MASK.astype("int32")), expected
    )


@pytest.mark.parametrize("shift", [-1e4, 1e4])
def test_adding_a_number_to_all_scores_changes_nothing(shift):
    expected = attention_weights(tf.constant(SCORES), MASK)
    np.testing.assert_allclose(attention_weights(SCORES + shift, MASK), expected, rtol=1e-9)


@pytest.mark.parametrize("unreached", [-np.inf, -1e30])
def test_what_the_score_does_not_reach_is_masked_too(unreached):
    scores = np.where(PER_QUERY, SCORES, unreached)
    scores[0, 0] = unreached
    with tf.GradientTape() as tape:
        tensor = tf.constant(scores)
        tape.watch(tensor)
        weights = attention_weights(tensor, MASK)
        total = tf.reduce_sum(weights * tf.range(KEYS, dtype=tf.float64))
    reached = PER_QUERY & MASK[:, None]
    reached[0, 0] = False
    np.testing.assert_allclose(weights, masked_softmax(SCORES, reached), **EXACT)
    gradient = tape.gradient(total, tensor).numpy()
    assert np.isfinite(gradient).all()
    assert not gradient[~reached].any()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_nan_is_passed_on_unless_it_is_padding(dtype):
    scores = SCORES.astype(dtype)
    expected = attention_weights(tf.constant(scores), MASK).numpy()
    scores[:, :, -1][~MASK[:, -1]] = np.nan
    np.testing.assert_array_equal(attention_weights(tf.constant(scores), MASK), expected)
    scores[0, 0, 0] = np.nan
    weights = attention_weights(tf.constant(scores), MASK).numpy()
    assert np.isnan(weights[0, 0, 0])
    np.testing.assert_array_equal(weights[1:], expected[1:])
    assert np.isnan(attention_weights(tf.constant(scores))[0, 0, 0])


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_a_query_that_is_not_finite_gives_no_context(broken):
    queries, keys = np.ones((2, QUERIES, 2), "float32"), np.ones((2, KEYS, 2), "float32")
    queries[0, 1, 0] = broken
    for result in Attention(DotScore())(queries, keys):
        finite = np.isfinite(result).all(axis=2)
        assert not finite[0, 1]
        assert finite.sum() == 2 * QUERIES - 1


def test_half_precision_scores_give_half_precision_weights_and_values_their_own_dtype():
    contexts, weights = attend(tf.cast(SCORES, "float16"), tf.cast(VALUES, "float32"), MASK)
    assert (weights.dtype, contexts.dtype) == ("float16", "float32")
    np.testing.assert_allclose(weights, masked_softmax(SCORES, MASK[:, None]), atol=0.01)


def attention(score=None, seed=4, **options):
    layer = Attention(score or AdditiveScore(3, dtype="float64"), dtype="float64", **options)
    layer.build((None, None, 5), (None, None, 4))
    randomise(layer, seed)
    return layer


def test_the_layer_is_its_score_and_attend():
    queries, keys, values = sentences("additive")
    layer = attention()
    score = layer.score
    expected = attend(score(queries, score.prepare(keys)), values, MASK)
    for actual, wanted in zip(layer(queries, values, MASK, keys), expected, strict=True):
        np.testing.assert_array_equal(actual, wanted)
    expected = attend(score(queries, score.prepare(keys)), keys, MASK)
    for actual, wanted in zip(layer(queries, keys, mask=MASK), expected, strict=True):
        np.testing.assert_array_equal(actual, wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64", "mixed_float16"])
def test_contexts_of_integers_are_not_integers(dtype):
    queries, _, _ = sentences("dot")
    values = np.random.default_rng(4).integers(0, 9, (len(LENGTHS), KEYS, queries.shape[-1]))
    layer = Attention(DotScore(dtype=dtype), dtype=dtype)
    contexts, weights = layer(queries, values, MASK)
    assert contexts.dtype == weights.dtype == layer.compute_dtype
    expected = layer(queries, values.astype(layer.compute_dtype), MASK)[0]
    np.testing.assert_array_equal(contexts, expected)
    for scores, expected in (("float16", "float32"), ("float64", "float64")):
        assert attend(tf.cast(SCORES, scores), tf.constant(values), MASK)[0].dtype == expected


def test_it_builds_itself_for_the_keys_or_else_the_values():
    queries, keys, values = sentences("general")
    with_keys, without = Attention(GeneralScore()), Attention(GeneralScore())
    with_keys(queries, values, keys=keys)
    without(queries, values)
    assert with_keys.score.kernel.shape == (keys.shape[-1], queries.shape[-1])
    assert without.score.kernel.shape == (values.shape[-1], queries.shape[-1])


@pytest.mark.filterwarnings("error")
def test_masks_are_arguments_and_one_that_keras_attached_is_not_overlooked():
    ids = np.array([[5, 3, 0], [2, 0, 0]])
    values = keras.layers.Embedding(6, 4, mask_zero=True)(ids)
    layer = Attention(DotScore())
    with pytest.raises(ValueError, match="mask must be the Keras mask of the values, got None"):
        layer(values, values)
    contexts, weights = layer(values, values, mask=ids > 0)
    assert not weights.numpy()[:, :, 2].any()
    assert getattr(contexts, "_keras_mask", None) is None


def test_two_layers_may_share_a_score():
    score = make("general")
    layers = [Attention(score, dtype="float64") for _ in range(2)]
    for layer in layers:
        layer.build((None, None, 5), (None, None, 4))
    assert layers[0].weights[0] is layers[1].weights[0]


@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision_is_finite_where_all_is_padding(dtype):
    layer = Attention(AdditiveScore(3, dtype=dtype), dtype=dtype)
    queries, keys, _ = (x.astype("float32") for x in sentences("additive", garbage=1.0))
    layer.build(queries.shape, keys.shape)
    with tf.GradientTape() as tape:
        contexts, weights = layer(queries, keys, MASK)
        total = tf.reduce_sum(tf.cast(contexts, "float32"))
    assert contexts.dtype == weights.dtype == layer.compute_dtype
    assert not contexts[-1].numpy().any()
    gradients = tape.gradient(total, [weight.value for weight in layer.weights])
    assert all(np.isfinite(gradient).all() for gradient in gradients)


def test_a_functional_model_with_attention_survives_saving(tmp_path):
    sides = [keras.Input((None, size), name=name) for name, size in (("q", 5), ("v", 4))]
    mask = keras.Input((None,), dtype="bool", name="mask")
    contexts, weights = attention(name="attention")(*sides, mask)
    model = keras.Model([*sides, mask], [contexts, weights])
    model.save(tmp_path / "model.keras")
    copy = keras.models.load_model(tmp_path / "model.keras")
    queries, keys, _ = sentences("additive")
    expected = model([queries, keys, MASK])
    for actual, wanted in zip(copy([queries, keys, MASK]), expected, strict=True):
        np.testing.assert_array_equal(actual, wanted)
    assert expected[1].shape == (len(LENGTHS), QUERIES, KEYS)


@pytest.mark.parametrize("built", [False, True])
def test_a_configuration_gives_the_layer_back(built):
    score = LocationScore(7, kernel_initializer="ones", name="where")
    layer = Attention(score, name="renamed", dtype="float64")
    if built:
        layer.build((None, None, 5), (None, None, 4))
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert type(copy) is Attention
    assert copy.get_config() == layer.get_config()
    assert (copy.score.maximum_length, copy.score.name) == (7, "where")
    assert copy.built == built
    assert [weight.path for weight in copy.weights] == [weight.path for weight in layer.weights]


@pytest.mark.parametrize("score", ["dot", DotScore, None])
def test_a_score_must_be_one(score):
    with pytest.raises(ValueError, match=r"score must be a Score, .*, got"):
        Attention(score)
