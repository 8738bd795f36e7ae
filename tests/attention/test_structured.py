"""Structured attention, against the enumeration of all segmentations and of all trees."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.attention.scoring import letters, randomise
from tests.references.scores import score
from tests.references.structured import segmentation_attention, syntactic_attention
from zoo.attention.scores import DotScore, GeneralScore
from zoo.attention.structured import SegmentationAttention, SyntacticAttention

LENGTHS = (5, 3, 2, 1, 0)
BATCH, QUERIES, KEYS, QUERY_DIM, KEY_DIM, DIM = len(LENGTHS), 2, max(LENGTHS), 4, 3, 2
MASK = np.arange(KEYS) < np.array(LENGTHS)[:, None]
EXACT = {"rtol": 0.0, "atol": 1e-10}


def segmentation(seed=3, dtype="float64", **options):
    layer = SegmentationAttention(dtype=dtype, **options)
    layer.build((None, None, QUERY_DIM), (None, None, DIM), (None, None, KEY_DIM))
    randomise(layer, seed)
    return layer


def syntactic(seed=3, dtype="float64", **options):
    layer = SyntacticAttention(3, dtype=dtype, **options)
    layer.build((None, None, KEY_DIM))
    randomise(layer, seed)
    return layer


def sentences(seed=2, garbage=1e3):
    """Queries, keys and values; `garbage` multiplies what stands in the padding."""
    generator = np.random.default_rng(seed)
    queries = generator.normal(size=(BATCH, QUERIES, QUERY_DIM))
    keys = generator.normal(size=(BATCH, KEYS, KEY_DIM))
    values = generator.normal(size=(BATCH, KEYS, DIM))
    keys[~MASK] *= garbage
    values[~MASK] *= garbage
    return queries, keys, values


def expected_segments(layer, queries, keys, values):
    contexts, weights = np.zeros((BATCH, QUERIES, DIM)), np.zeros((BATCH, QUERIES, KEYS))
    for row, length in enumerate(LENGTHS):
        for q in range(QUERIES if length else 0):
            fit = score("general", letters(layer.score), queries[row, q], keys[row, :length])
            contexts[row, q], weights[row, q, :length] = segmentation_attention(
                fit, layer.pairwise.numpy(), values[row, :length], layer.total, layer.double_count
            )
    return contexts, weights


def expected_parents(layer, states, values):
    parents, weights = np.zeros((BATCH, KEYS, values.shape[-1])), np.zeros((BATCH, KEYS, KEYS))
    for row, length in enumerate(LENGTHS):
        if length > 1:
            own = slice(length)
            parents[row, own], weights[row, own, own] = syntactic_attention(
                letters(layer.score),
                states[row, own],
                values[row, own],
                layer.bound,
                layer.multi_root,
            )
    return parents, weights


@pytest.mark.parametrize("double_count", [False, True])
@pytest.mark.parametrize("total", [2.0, 0.5])
def test_segments_are_those_of_the_enumeration(total, double_count):
    layer = segmentation(total=total, double_count=double_count)
    queries, keys, values = sentences()
    contexts, weights = layer(queries, values, MASK, keys)
    wanted = expected_segments(layer, queries, keys, values)
    np.testing.assert_allclose(contexts, wanted[0], **EXACT)
    np.testing.assert_allclose(weights, wanted[1], **EXACT)
    assert not weights.numpy().swapaxes(1, 2)[~MASK].any()
    sums = weights.numpy().sum(axis=2)
    np.testing.assert_allclose(sums[:-1], total, **EXACT)
    assert not sums[-1].any()


def test_counting_twice_is_another_function():
    once, twice = (segmentation(double_count=option) for option in (False, True))
    queries, keys, values = sentences()
    differs = abs(once(queries, values, MASK, keys)[1] - twice(queries, values, MASK, keys)[1])
    assert (differs.numpy().max(axis=(1, 2)) > 1e-3).tolist() == [True, True, False, False, False]


def test_without_pairwise_potentials_the_weights_are_those_of_sigmoids():
    layer = SegmentationAttention(dtype="float64")
    queries, keys, values = sentences(garbage=1.0)
    _, weights = layer(queries, values, MASK, keys)
    assert not layer.pairwise.numpy().any()
    scores = layer.score(queries, layer.score.prepare(keys)).numpy()
    selected = np.where(MASK[:, None], 1 / (1 + np.exp(-scores)), 0.0)[:-1]
    np.testing.assert_allclose(weights[:-1], 2 * selected / selected.sum(2, keepdims=True), **EXACT)


@pytest.mark.parametrize("options", [{}, {"bound": False}, {"multi_root": False}], ids=str)
def test_soft_parents_are_those_of_the_enumeration(options):
    layer = syntactic(**options)
    _, states, values = sentences()
    parents, weights = layer(states, MASK, values)
    wanted = expected_parents(layer, states, values)
    np.testing.assert_allclose(parents, wanted[0], **EXACT)
    np.testing.assert_allclose(weights, wanted[1], **EXACT)
    weights = weights.numpy()
    assert not weights[~MASK].any()
    assert not weights.swapaxes(1, 2)[~MASK].any()
    assert not weights[:, 0].any()
    np.testing.assert_allclose(weights.sum(axis=2)[:, 1:], MASK[:, 1:], **EXACT)
    alone = layer(states, MASK)[0]
    np.testing.assert_allclose(alone, expected_parents(layer, states, states)[0], **EXACT)


def run_segments(layer, queries, keys, values, mask):
    return layer(queries, values, mask, keys)


def run_parents(layer, _, states, values, mask):
    return layer(states, mask, values)


BOTH = pytest.mark.parametrize(
    ("make", "run"), [(segmentation, run_segments), (syntactic, run_parents)]
)


@BOTH
def test_each_example_alone_is_the_same_and_padding_has_no_gradient(make, run):
    layer, given = make(), sentences(garbage=10.0)
    contexts, weights = run(layer, *given, MASK)
    for row, length in enumerate(LENGTHS[:-1]):
        queries, keys, values = (x[row : row + 1] for x in given)
        alone = run(layer, queries, keys[:, :length], values[:, :length], None)
        rows = slice(length) if make is syntactic else slice(None)
        np.testing.assert_allclose(alone[0][0], contexts[row, rows], **EXACT)
        np.testing.assert_allclose(alone[1][0], weights[row, rows, :length], **EXACT)
    tensors = [tf.constant(x) for x in given]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        total = tf.reduce_sum(run(layer, *tensors, MASK)[0] ** 2)
    gradients = tape.gradient(total, [*tensors[1:], *(w.value for w in layer.weights)])
    assert all(np.isfinite(x).all() and np.any(x) for x in gradients)
    assert not any(x.numpy()[~MASK].any() for x in gradients[:2])


@BOTH
def test_gradients_of_weights_are_finite_differences(make, run):
    layer, given = make(), sentences(garbage=1.0)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(run(layer, *given, MASK)[0] ** 2)
    for weight, found in zip(
        layer.weights, tape.gradient(total, [w.value for w in layer.weights]), strict=True
    ):
        before = weight.numpy()
        direction = np.random.default_rng(5).normal(size=before.shape)
        ends = []
        for step in (1e-5, -1e-5):
            weight.assign(before + step * direction)
            ends.append(tf.reduce_sum(run(layer, *given, MASK)[0] ** 2).numpy())
        weight.assign(before)
        slope = np.sum(found * direction)
        np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-5, rtol=1e-6, atol=1e-9)


@BOTH
@pytest.mark.parametrize("dtype", ["float32", "mixed_float16", "mixed_bfloat16"])
def test_large_scores_are_finite_in_any_precision(make, run, dtype):
    layer = make(dtype=dtype, **({"bound": False} if make is syntactic else {}))
    layer.weights[-1].assign(1e4 * layer.weights[-1].numpy())
    given = [tf.constant(10 * x, layer.compute_dtype) for x in sentences(garbage=1.0)]
    with tf.GradientTape() as tape:
        tape.watch(given)
        contexts, weights = run(layer, *given, MASK)
        total = tf.reduce_sum(tf.cast(contexts, "float32"))
    assert contexts.dtype == weights.dtype == layer.compute_dtype
    assert np.isfinite(tf.cast(weights, "float32")).all()
    found = tape.gradient(total, [*given[1:], *(w.value for w in layer.weights)])
    assert all(np.isfinite(tf.cast(x, "float32")).all() for x in found)


def test_improbable_segments_still_have_weights():
    layer = SegmentationAttention(DotScore(), dtype="float32")
    values = np.array([[[-1e4], [-1.0001e4]]], "float32")
    _, weights = layer(np.ones((1, 1, 1), "float32"), values)
    ratio = np.exp([0.0, -1.0])
    np.testing.assert_allclose(weights[0, 0], 2.0 * ratio / ratio.sum(), rtol=2e-3)


def test_the_penalty_on_pairwise_potentials_is_a_loss_of_the_layer():
    layer = segmentation(pairwise_l2=0.25)
    np.testing.assert_allclose(layer.losses, [0.25 * np.sum(layer.pairwise.numpy() ** 2)])
    assert SegmentationAttention().pairwise_l2 == 0.005
    assert not segmentation(pairwise_l2=0.0).losses


@pytest.mark.parametrize(
    "layer",
    [
        SegmentationAttention(GeneralScore("zeros"), 3.0, True, 0.1, name="a", dtype="float64"),
        SyntacticAttention(3, False, False, "orthogonal", "zeros", name="b", dtype="float64"),
    ],
    ids=["segmentation", "syntactic"],
)
def test_the_configuration_gives_the_layer_back(layer):
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert type(copy) is type(layer)
    assert copy.get_config() == layer.get_config()
    for one in (layer, copy):
        one(np.ones((1, 2, 3)), np.ones((1, 2) if one.name == "b" else (1, 2, 3)) > 0)
    assert [weight.path for weight in copy.weights] == [weight.path for weight in layer.weights]


def test_a_functional_model_survives_saving(tmp_path):
    shapes = {"q": (None, QUERY_DIM), "k": (None, KEY_DIM), "v": (None, DIM)}
    inputs = [keras.Input(shape, name=name) for name, shape in shapes.items()]
    inputs.append(keras.Input((None,), dtype="bool", name="mask"))
    q, k, v, mask = inputs
    segments = segmentation(name="segments", dtype="float32")(q, v, mask, k)
    parents = syntactic(name="parents", dtype="float32")(k, mask, v)
    model = keras.Model(inputs, [*segments, *parents])
    model.save(tmp_path / "model.keras")
    copy = keras.models.load_model(tmp_path / "model.keras")
    queries, keys, values = (x.astype("float32") for x in sentences(garbage=1.0))
    given = dict(zip(("q", "k", "v", "mask"), (queries, keys, values, MASK), strict=True))
    wanted = [*expected_segments(model.get_layer("segments"), queries, keys, values)]
    wanted += expected_parents(model.get_layer("parents"), keys, values)
    for found, again, exact in zip(model(given), copy(given), wanted, strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(found, again)
    np.testing.assert_allclose(model.predict(given, verbose=0)[0], wanted[0], rtol=1e-4, atol=1e-5)


def test_keras_does_not_choose_xla_for_trees_alone():
    """XLA is its choice on a GPU, but the spans of each width have a shape of their own."""
    states = keras.Input((5, KEY_DIM))
    for layer, inputs, compiles in (
        (syntactic(dtype="float32"), (states,), False),
        (segmentation(dtype="float32"), (keras.Input((4, QUERY_DIM)), states), True),
    ):
        model = keras.Model(inputs, layer(*inputs)[0])
        assert keras.src.trainers.trainer.model_supports_jit(model) == compiles


@BOTH
def test_masks_that_keras_attached_are_not_overlooked(make, run):
    layer, ids = make(dtype="float32"), np.array([[5, 3, 0], [2, 0, 0]])
    queries, keys, values = (
        keras.layers.Embedding(6, size, mask_zero=True)(ids) for size in (QUERY_DIM, KEY_DIM, DIM)
    )
    with pytest.raises(ValueError, match=r"mask must be the Keras mask of the .*, got None"):
        run(layer, queries, keys, values, None)
    contexts, _ = run(layer, queries, keys, values, ids > 0)
    passed_on = getattr(contexts, "_keras_mask", None) is not None
    assert passed_on == (make is syntactic)  # its words are those of the states
    with pytest.raises(ValueError, match="mask must be bool of shape"):
        run(layer, queries, keys, values, np.ones((2, 3)))


@pytest.mark.parametrize(
    ("layer", "run"),
    [
        (SegmentationAttention(), lambda layer, x, mask: layer(x, x, mask=mask)),
        (SyntacticAttention(3), lambda layer, x, mask: layer(x, mask)),
    ],
)
def test_padding_before_words_is_not_taken_for_words(layer, run):
    """Keras pads before words by default; chains and trees would end too early."""
    values = np.random.default_rng(4).normal(size=(3, 4, 2)).astype("float32")
    mask = np.array([[1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 1, 1]], bool)
    expected = run(layer, values[:1], mask[:1])
    for row in (1, 2):
        with pytest.raises(ValueError, match="mask must be False behind all real positions alone"):
            run(layer, values, mask[[0, row, 0]])
    found = tf.function(lambda *given: run(layer, *given))(values, mask)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one[:1], other, atol=1e-6)
        assert np.isnan(one[1:]).all()


def test_of_a_single_input_keras_passes_the_mask():
    layer, ids = syntactic(dtype="float32"), np.array([[5, 3, 4], [2, 1, 0]])
    states = keras.layers.Embedding(6, KEY_DIM, mask_zero=True)(ids)
    found, expected = layer(states), layer(tf.identity(states), mask=ids > 0)
    np.testing.assert_array_equal(found[1], expected[1])
    assert not found[1].numpy()[1, :, 2].any()


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="total must be positive and finite, got 0"):
        SegmentationAttention(total=0)
    with pytest.raises(ValueError, match=r"pairwise_l2 must be at least 0 and finite, got -1\.0"):
        SegmentationAttention(pairwise_l2=-1.0)
    with pytest.raises(ValueError, match=r"score must be a Score, .*, got 'general'"):
        SegmentationAttention("general")
    with pytest.raises(ValueError, match="units must be a positive integer, got 0"):
        SyntacticAttention(0)


@pytest.mark.parametrize(
    "layer",
    [SegmentationAttention(), SegmentationAttention(double_count=True), SyntacticAttention(3)],
)
def test_there_may_be_no_positions(layer):
    queries, values = tf.ones((2, 3, 4)), tf.ones((2, 0, 4))
    segments = isinstance(layer, SegmentationAttention)
    contexts, weights = layer(queries, values) if segments else layer(values)
    rows = 3 if segments else 0
    assert contexts.shape == (2, rows, 4)
    assert weights.shape == (2, rows, 0)
    assert not contexts.numpy().any()
