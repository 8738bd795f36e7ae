"""Attention within a band: equal to the whole, masked; linear in the length, gradient included."""

import numpy as np
import pytest
import tensorflow as tf

from tests.references import restricted
from zoo.ops.banded import banded_attention, scatter_band
from zoo.ops.masking import masked_softmax

LENGTHS = (23, 7, 1, 0)
BATCH, HEADS, LENGTH, KEY_DIM, VALUE_DIM = len(LENGTHS), 2, max(LENGTHS), 3, 5
MASK = np.arange(LENGTH) < np.array(LENGTHS)[:, None]
WINDOWS = (1, 3, 9, 17, 45, 101)
EXACT = {"rtol": 1e-9, "atol": 1e-12}

each_window = pytest.mark.parametrize("window", WINDOWS)


def sides(dtype="float64", length=LENGTH, garbage=1e3):
    """Queries, keys and values (B, h, T, .), large where padded."""
    generator = np.random.default_rng(5)
    found = []
    for dim in (KEY_DIM, KEY_DIM, VALUE_DIM):
        side = generator.normal(size=(BATCH, HEADS, LENGTH, dim))
        side[np.broadcast_to(~MASK[:, None], side.shape[:3])] *= garbage
        found.append(tf.constant(side[:, :, :length], dtype))
    return found


def whole(queries, keys, values, mask, window):
    """The same with all pairs: mixed values, and weights (B, h, T, T)."""
    positions = np.arange(queries.shape[2])
    near = np.abs(positions - positions[:, None]) <= (window - 1) // 2
    weights = masked_softmax(tf.matmul(queries, keys, transpose_b=True), mask[:, None, None] & near)
    return tf.matmul(weights, values), weights


@each_window
def test_it_is_the_references(window):
    """The reference sees one head of one sentence at its own length."""
    queries, keys, values = sides()
    mixed, weights = banded_attention(
        queries / np.sqrt(KEY_DIM), keys, values, tf.constant(MASK), window
    )
    assert weights.shape == (BATCH, HEADS, LENGTH, window)
    spread = scatter_band(weights).numpy()
    for row, length in enumerate(LENGTHS[:-1]):
        for head in range(HEADS):
            sentence = [side[row, head, :length].numpy() for side in (queries, keys, values)]
            expected, expected_weights = restricted.attend(*sentence, window)
            np.testing.assert_allclose(mixed[row, head, :length], expected, **EXACT)
            found = spread[row, head, :length]
            np.testing.assert_allclose(found[:, :length], expected_weights, **EXACT)
            assert not found[:, length:].any()


@each_window
@pytest.mark.parametrize("block_size", [1, 4, 7, 64])
def test_blocks_of_any_size_give_the_whole_and_its_gradients(window, block_size):
    found = []
    for function in (whole, banded_attention):
        options = {} if function is whole else {"block_size": block_size}
        tensors = sides(garbage=1.0)
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            mixed, weights = function(*tensors, tf.constant(MASK), window, **options)
            weights = weights if function is whole else scatter_band(weights)
            loss = tf.reduce_sum(mixed**3) + tf.reduce_sum(weights**2)
        found.append([mixed, weights, *tape.gradient(loss, tensors)])
    for expected, actual in zip(*found, strict=True):
        np.testing.assert_allclose(actual, expected, **EXACT)


@each_window
def test_padding_is_neither_seen_nor_learned_from(window):
    gradients = []
    for garbage in (1e3, 0.0):
        tensors = sides(garbage=garbage)
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            mixed, weights = banded_attention(*tensors, tf.constant(MASK), window)
            real = tf.constant(MASK)[:, None, :, None]
            loss = tf.reduce_sum(tf.where(real, mixed, 0.0) ** 2) + tf.reduce_sum(weights)
        gradients.append(tape.gradient(loss, tensors))
        sums = tf.reduce_sum(weights, axis=-1).numpy()
        reached = scatter_band(tf.ones_like(weights)).numpy().astype(bool) & MASK[:, None, None]
        np.testing.assert_allclose(sums, reached.any(axis=-1), **EXACT)
        assert not mixed.numpy()[~reached.any(axis=-1)].any()
        assert not mixed[-1].numpy().any()
    padded = np.broadcast_to(~MASK[:, None], (BATCH, HEADS, LENGTH))
    for dirty, clean in zip(*gradients, strict=True):
        assert np.isfinite(dirty).all()
        np.testing.assert_allclose(dirty, clean, **EXACT)
        assert not dirty.numpy()[padded].any()


def test_a_window_of_one_returns_the_values():
    queries, keys, values = sides()
    mixed, weights = banded_attention(queries, keys, values, tf.constant(MASK), 1)
    np.testing.assert_array_equal(mixed, np.where(MASK[:, None, :, None], values, 0.0))
    np.testing.assert_array_equal(weights, np.broadcast_to(MASK[:, None, :, None], weights.shape))


def test_dropout_acts_on_what_is_mixed_and_not_on_the_weights_returned():
    tensors = sides()
    expected, expected_weights = banded_attention(*tensors, tf.constant(MASK), 5)
    mixed, weights = banded_attention(*tensors, tf.constant(MASK), 5, lambda w: 2.0 * w)
    np.testing.assert_allclose(mixed, 2.0 * expected, **EXACT)
    np.testing.assert_array_equal(weights, expected_weights)


@pytest.mark.parametrize("window", [3, 33])
def test_one_graph_serves_every_size(window):
    shapes = [(None, HEADS, None, dim) for dim in (KEY_DIM, KEY_DIM, VALUE_DIM)]
    signature = [*(tf.TensorSpec(shape, tf.float64) for shape in shapes)]

    @tf.function(
        input_signature=[*signature, tf.TensorSpec((None, None), tf.bool)], autograph=False
    )
    def graph(*inputs):
        mixed, weights = banded_attention(*inputs, window)
        assert mixed.shape.as_list() == [None, HEADS, None, VALUE_DIM]
        assert weights.shape.as_list() == [None, HEADS, None, window]
        return mixed, scatter_band(weights)

    for rows, length in ((4, 23), (1, 1), (2, 16), (3, 17)):
        tensors = [side[:rows] for side in sides(length=length)]
        found = graph(*tensors, MASK[:rows, :length])
        for actual, expected in zip(
            found, whole(*tensors, MASK[:rows, :length], window), strict=True
        ):
            np.testing.assert_allclose(actual, expected, **EXACT)

    for rows, length in ((0, 5), (2, 0)):
        found = graph(*(side[:rows] for side in sides(length=length)), MASK[:rows, :length])
        shapes = [(rows, HEADS, length, size) for size in (VALUE_DIM, length)]
        assert [tuple(nothing.shape) for nothing in found] == shapes


def sizes_of_tensors(length, window):
    """The number of elements of every tensor of a graph of forward and backward."""
    shapes = [(1, HEADS, length, dim) for dim in (KEY_DIM, KEY_DIM, VALUE_DIM)]

    @tf.function(autograph=False)
    def graph(*inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs[:3])
            mixed, weights = banded_attention(*inputs, window)
        return tape.gradient([mixed, weights], inputs[:3]), mixed, weights

    specs = [*(tf.TensorSpec(shape) for shape in shapes), tf.TensorSpec((1, length), tf.bool)]
    operations = graph.get_concrete_function(*specs).graph.get_operations()
    return [
        (operation.type, tensor.shape.num_elements())
        for operation in operations
        for tensor in operation.outputs
    ]


@pytest.mark.parametrize("window", [1, 9, 101])
def test_every_tensor_grows_as_the_length_does_forward_and_backward(window):
    lengths = (1024, 4096)
    short, long = (sizes_of_tensors(length, window) for length in lengths)
    assert [kind for kind, _ in short] == [kind for kind, _ in long]
    assert {"BatchMatMulV2", "Einsum"} & {kind for kind, _ in short}
    for (kind, few), (_, many) in zip(short, long, strict=True):
        assert few is not None, kind
        assert many <= 4 * few
    assert max(many for _, many in long) < 4096 * 2 * HEADS * (64 + window)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_finite_and_near(dtype):
    tensors = sides(dtype, garbage=1.0)
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        mixed, weights = banded_attention(*tensors, tf.constant(MASK), 9)
        loss = tf.reduce_sum(tf.cast(mixed, "float32") ** 2)
    assert mixed.dtype == weights.dtype == dtype
    expected, expected_weights = banded_attention(*sides(garbage=1.0), tf.constant(MASK), 9)
    np.testing.assert_allclose(tf.cast(mixed, "float64"), expected, atol=0.06)
    np.testing.assert_allclose(tf.cast(weights, "float64"), expected_weights, atol=0.03)
    for gradient in tape.gradient(loss, tensors):
        assert np.isfinite(tf.cast(gradient, "float32")).all()


@pytest.mark.parametrize("window", [0, 4, -3, 2.5])
def test_a_window_without_a_middle_is_refused(window):
    with pytest.raises(ValueError, match=rf"window must be an odd, positive integer, got {window}"):
        banded_attention(*sides(), tf.constant(MASK), window)
