"""Restricted self-attention against NumPy and against full self-attention, alone and padded."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.references import restricted as reference
from zoo.attention.multi_head import SelfAttention
from zoo.attention.restricted import RestrictedSelfAttention
from zoo.ops.banded import scatter_band

LENGTHS = (19, 6, 1, 0)
LENGTH, DIM, HEADS = max(LENGTHS), 6, 2
MASK = np.arange(LENGTH) < np.array(LENGTHS)[:, None]
EXACT = {"rtol": 1e-9, "atol": 1e-12}
OPTIONS = {
    "plain": {},
    "sizes of its own": {"key_dim": 4, "value_dim": 5},
    "bias": {"use_bias": True, "key_dim": 2},
}
each_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
each_window = pytest.mark.parametrize("window", [1, 5, 37])


def make(window=5, seed=4, dtype="float64", cls=RestrictedSelfAttention, **options):
    """A layer all of whose weights are random."""
    options = {"window": window, **options} if cls is RestrictedSelfAttention else options
    layer = cls(DIM, HEADS, dtype=dtype, **options)
    layer.build((None, None, DIM))
    generator = np.random.default_rng(seed)
    for weight in layer.weights:
        weight.assign(generator.normal(0.0, 0.7, weight.shape))
    return layer


def sentences(length=LENGTH, garbage=1e3):
    inputs = np.random.default_rng(3).normal(size=(len(LENGTHS), LENGTH, DIM))
    inputs[~MASK] *= garbage
    return inputs[:, :length]


def letters(layer):
    """The weights under the names, and in the orientation, of the reference."""
    k, v = layer.key_dim, layer.value_dim
    found = {}
    for weight in layer.weights:
        value = weight.numpy().T  # (out, ...)
        name = "W" if value.ndim == 2 else "b"
        if "output" in weight.name:
            found[f"{name}_O"] = value
            continue
        by_head = value.reshape(HEADS, 2 * k + v, *value.shape[1:])
        for letter, part in zip("QKV", np.split(by_head, [k, 2 * k], axis=1), strict=True):
            found[f"{name}_{letter}"] = part.reshape(-1, *value.shape[1:])
    return found


@each_option
@each_window
def test_it_is_the_references(options, window):
    """The reference sees one sentence at its own length."""
    layer, inputs = make(window, **options), sentences()
    outputs, weights = layer(inputs, MASK)
    assert weights.shape == (len(LENGTHS), HEADS, LENGTH, window)
    spread = scatter_band(weights).numpy()
    for row, length in enumerate(LENGTHS[:-1]):
        expected = reference.self_attention(letters(layer), inputs[row, :length], HEADS, window)
        np.testing.assert_allclose(outputs[row, :length], expected[0], **EXACT)
        np.testing.assert_allclose(spread[row, :, :length, :length], expected[1], **EXACT)
        assert not spread[row, :, :, length:].any()


@each_option
@pytest.mark.parametrize("window", [2 * LENGTH - 1, 2 * LENGTH + 21])
def test_a_window_over_everything_is_full_attention_forward_and_backward(options, window):
    found = []
    for cls in (SelfAttention, RestrictedSelfAttention):
        layer, inputs = make(window, cls=cls, **options), tf.constant(sentences())
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            outputs, weights = layer(inputs, MASK)
            weights = weights if cls is SelfAttention else scatter_band(weights)
            loss = tf.reduce_sum(tf.where(MASK[:, :, None], outputs, 0.0) ** 2)
        targets = [inputs, *(weight.value for weight in layer.trainable_weights)]
        found.append([outputs, weights, *tape.gradient(loss, targets)])
    for full, banded in zip(*found, strict=True):
        np.testing.assert_allclose(banded, full, rtol=1e-9, atol=1e-9)


def test_a_window_of_one_returns_the_projected_values():
    layer, inputs = make(1), sentences(garbage=1.0)
    outputs, weights = layer(inputs, MASK)
    found = letters(layer)
    expected = np.where(MASK[:, :, None], inputs @ found["W_V"].T @ found["W_O"].T, 0.0)
    np.testing.assert_allclose(outputs, expected, **EXACT)
    np.testing.assert_array_equal(weights, np.broadcast_to(MASK[:, None, :, None], weights.shape))


@each_window
def test_a_sentence_of_padding_gives_zeros(window):
    outputs, weights = make(window)(sentences(), MASK)
    assert not outputs[-1].numpy().any()
    assert not weights[-1].numpy().any()


def test_no_mask_means_that_all_is_real():
    layer, inputs = make(), sentences()
    for actual, expected in zip(layer(inputs), layer(inputs, MASK | True), strict=True):
        np.testing.assert_array_equal(actual, expected)


@each_window
@pytest.mark.parametrize("padding", [1, 2, 40])
def test_padding_changes_nothing(window, padding):
    layer, inputs = make(window, use_bias=True), sentences()
    longer = np.concatenate([inputs, np.full((len(LENGTHS), padding, DIM), 1e3)], axis=1)
    expected, expected_weights = layer(inputs, MASK)
    outputs, weights = layer(longer, np.pad(MASK, [[0, 0], [0, padding]]))
    np.testing.assert_allclose(outputs[:, :LENGTH], expected, **EXACT)
    np.testing.assert_allclose(weights[:, :, :LENGTH], expected_weights, **EXACT)
    assert not scatter_band(weights)[..., LENGTH:].numpy().any()


def test_a_position_reads_its_window_and_nothing_else():
    """A change at one position affects exactly the positions within reach."""
    layer, sentence = make(5), sentences()[0]
    changed = np.repeat(sentence[None], LENGTH, axis=0)
    changed[np.arange(LENGTH), np.arange(LENGTH)] += 1.0  # in row j the position j
    outputs, _ = layer(changed)
    shows = (outputs != layer(sentence[None])[0]).numpy().any(axis=-1)
    positions = np.arange(LENGTH)
    np.testing.assert_array_equal(shows, np.abs(positions - positions[:, None]) <= 2)


def gradients(layer, inputs):
    inputs = tf.constant(inputs, layer.compute_dtype)
    weights = [weight.value for weight in layer.trainable_weights]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs, _ = layer(inputs, MASK)
        real = tf.cast(tf.where(MASK[:, :, None], outputs, 0.0), "float64")
        total = tf.reduce_sum(tf.square(real))
    return total, [*map(tf.convert_to_tensor, tape.gradient(total, [inputs, *weights]))]


@each_option
@each_window
def test_gradients_are_finite_and_do_not_see_padding(options, window):
    layer = make(window, **options)
    (_, found), (_, clean) = (gradients(layer, sentences(garbage=size)) for size in (1e3, 0.0))
    for gradient, expected in zip(found, clean, strict=True):
        assert np.isfinite(gradient).all()
        np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-9)
    assert not found[0].numpy()[~MASK].any()


@each_option
def test_gradients_of_the_weights_are_slopes(options):
    layer, inputs = make(5, **options), sentences(garbage=1.0)
    _, found = gradients(layer, inputs)
    generator, step = np.random.default_rng(6), 1e-6
    for weight, gradient in zip(layer.trainable_weights, found[1:], strict=True):
        value, way = weight.numpy(), generator.normal(size=weight.shape)
        ends = []
        for sign in (1.0, -1.0):
            weight.assign(value + sign * step * way)
            ends.append(gradients(layer, inputs)[0].numpy())
        weight.assign(value)
        slope = (ends[0] - ends[1]) / (2.0 * step)
        np.testing.assert_allclose(np.sum(gradient * way), slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_is_finite_and_near(policy):
    half, single = (make(dtype=dtype) for dtype in (policy, "float32"))
    inputs = sentences(garbage=1.0).astype("float32")
    outputs, weights = half(inputs, MASK)
    assert outputs.dtype == weights.dtype == half.compute_dtype
    expected, expected_weights = single(inputs, MASK)
    np.testing.assert_allclose(tf.cast(outputs, "float32"), expected, atol=0.15)
    np.testing.assert_allclose(tf.cast(weights, "float32"), expected_weights, atol=0.06)
    _, found = gradients(half, inputs)
    assert all(np.isfinite(tf.cast(gradient, "float32")).all() for gradient in found)


def test_dropout_is_on_in_training_and_leaves_the_weights_returned():
    layer, inputs = make(dropout=0.5), sentences()
    outputs, weights = layer(inputs, MASK)
    dropped, same = layer(inputs, MASK, training=True)
    np.testing.assert_array_equal(same, weights)
    assert np.abs(dropped - outputs).max() > 1e-3
    plain = make()
    np.testing.assert_array_equal(plain(inputs, MASK, training=True)[0], outputs)


def test_one_graph_serves_every_size_and_a_functional_model_is_made_of_it():
    inputs, mask = keras.Input((None, DIM), dtype="float64"), keras.Input((None,), dtype="bool")
    layer = make(5)
    model = keras.Model([inputs, mask], layer(inputs, mask))
    assert model.outputs[1].shape == (None, HEADS, None, 5)
    for rows, length in ((4, LENGTH), (2, 1), (1, 16), (3, 17)):
        given = sentences(length)[:rows], MASK[:rows, :length]
        found = model.predict_on_batch([*given])
        for actual, expected in zip(found, layer(*given), strict=True):
            np.testing.assert_allclose(actual, expected, **EXACT)


def test_a_configuration_gives_the_layer_back():
    layer = RestrictedSelfAttention(
        DIM,
        HEADS,
        window=9,
        key_dim=5,
        value_dim=4,
        use_bias=True,
        dropout=0.25,
        kernel_initializer="orthogonal",
        name="renamed",
        dtype="mixed_bfloat16",
    )
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert type(copy) is RestrictedSelfAttention
    assert copy.get_config() == layer.get_config()
    assert copy.window == 9


def test_it_can_take_over_the_weights_of_full_attention():
    full, banded = make(cls=SelfAttention, use_bias=True), make(2 * LENGTH - 1, 7, use_bias=True)
    assert [weight.name for weight in banded.weights] == [weight.name for weight in full.weights]
    banded.set_weights(full.get_weights())
    inputs = sentences()
    np.testing.assert_allclose(banded(inputs, MASK)[0], full(inputs, MASK)[0], **EXACT)


@pytest.mark.parametrize("window", [0, 4])
def test_a_window_without_a_middle_is_refused(window):
    with pytest.raises(ValueError, match=f"window must be an odd, positive integer, got {window}"):
        RestrictedSelfAttention(DIM, HEADS, window=window)


def test_inputs_of_another_size_are_refused_when_the_layer_is_built():
    with pytest.raises(ValueError, match=r"^inputs must have the size model_dim 6, got 4"):
        RestrictedSelfAttention(6, 2, window=3).build((None, None, 4))
