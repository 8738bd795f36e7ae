"""Multi-head attention: what it reduces to, whom it sees, and the cache of a search."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.attention.multi_head import CrossAttention, SelfAttention

BATCH, LENGTH, SOURCE, DIM, HEADS = 2, 5, 4, 6, 2
MASK = np.arange(LENGTH) < np.array([[5], [3]])
SOURCE_MASK = np.arange(SOURCE) < np.array([[2], [4]])


@pytest.fixture
def generator():
    return np.random.default_rng(4)


@pytest.fixture
def values(generator):
    return generator.normal(size=(BATCH, LENGTH, DIM))


def make(cls, generator=None, **options):
    layer = cls(**({"model_dim": DIM, "num_heads": HEADS} | options), dtype="float64")
    layer.build()
    for weight in layer.weights if generator is not None else ():
        weight.assign(generator.normal(0.0, 0.5, weight.shape))
    return layer


def scaled_dot_product(queries, keys, seen):
    scores = np.einsum("bqd,bsd->bqs", queries, keys) / np.sqrt(queries.shape[-1])
    exponentials = np.where(seen, np.exp(scores - scores.max(-1, keepdims=True)), 0.0)
    weights = exponentials / exponentials.sum(-1, keepdims=True)
    return weights @ keys, weights


def test_one_head_with_identities_is_scaled_dot_product_attention(generator, values):
    eye = np.eye(DIM)
    layer = make(SelfAttention, num_heads=1)
    layer.set_weights([np.concatenate([eye] * 3, axis=1), eye])
    expected, expected_weights = scaled_dot_product(values, values, MASK[:, None])
    outputs, weights = layer(values, MASK)
    np.testing.assert_allclose(outputs, expected, rtol=1e-9)
    np.testing.assert_allclose(weights[:, 0], expected_weights, rtol=1e-9)

    layer = make(CrossAttention, num_heads=1)
    layer.set_weights([eye, np.concatenate([eye] * 2, axis=1), eye])
    memory = generator.normal(size=(BATCH, SOURCE, DIM))
    expected, expected_weights = scaled_dot_product(values, memory, SOURCE_MASK[:, None])
    outputs, weights = layer(values, layer.prepare(tf.constant(memory)), SOURCE_MASK)
    np.testing.assert_allclose(outputs, expected, rtol=1e-9)
    np.testing.assert_allclose(weights[:, 0], expected_weights, rtol=1e-9)


@pytest.mark.parametrize("use_bias", [False, True])
def test_it_is_keras_attention_with_the_same_matrices(generator, values, use_bias):
    options = {"key_dim": 4, "value_dim": 5, "use_bias": use_bias}
    layer = make(SelfAttention, generator, **options)
    other = keras.layers.MultiHeadAttention(HEADS, dtype="float64", **options)
    other.build((None, None, DIM), (None, None, DIM))
    kernel = np.split(layer.weights[0].numpy().reshape(DIM, HEADS, 13), [4, 8], axis=2)
    q, k, v = kernel
    output = layer.output_projection[0].numpy().reshape(HEADS, 5, DIM)
    if use_bias:
        bias = np.split(layer.input_projection[1].numpy().reshape(HEADS, 13), [4, 8], axis=1)
        pairs = [q, bias[0], k, bias[1], v, bias[2], output, layer.output_projection[1].numpy()]
        other.set_weights(pairs)
    else:
        other.set_weights([q, k, v, output])
    expected, expected_weights = other(
        values, values, attention_mask=MASK[:, None], return_attention_scores=True
    )
    outputs, weights = layer(values, MASK)
    np.testing.assert_allclose(outputs, expected, rtol=1e-6)  # Keras rounds 1 / sqrt(k)
    np.testing.assert_allclose(weights, expected_weights, rtol=1e-6)


def test_weights_are_distributions_over_what_is_seen(generator, values):
    layer = make(SelfAttention, generator)
    for causal in (False, True):
        _, weights = layer(values, MASK, causal=causal)
        assert weights.shape == (BATCH, HEADS, LENGTH, LENGTH)
        np.testing.assert_allclose(tf.reduce_sum(weights, axis=-1), 1.0, rtol=1e-9)
        seen = MASK[:, None, None] & (np.tri(LENGTH, dtype=bool) if causal else True)
        seen = np.broadcast_to(seen, weights.shape)
        assert (weights.numpy() > 0)[seen].all()
        assert not weights.numpy()[~seen].any()


def test_a_mask_may_depend_on_the_query_and_no_mask_sees_all(generator, values):
    layer = make(SelfAttention, generator)
    causal = np.broadcast_to(np.tri(LENGTH, dtype=bool), (BATCH, LENGTH, LENGTH))
    for one, other in zip(layer(values, causal), layer(values, causal=True), strict=True):
        np.testing.assert_array_equal(one, other)
    everything = np.ones((BATCH, LENGTH), bool)
    for one, other in zip(layer(values), layer(values, everything), strict=True):
        np.testing.assert_array_equal(one, other)


def test_without_a_source_there_is_nothing_to_attend_to(generator, values):
    layer = make(CrossAttention, generator)
    memory = tf.constant(generator.normal(size=(BATCH, SOURCE, DIM)))
    nothing = np.zeros((BATCH, SOURCE), bool)
    outputs, weights = layer(values, layer.prepare(memory), nothing)
    assert not outputs.numpy().any()
    assert not weights.numpy().any()


def test_causal_attention_does_not_see_what_comes(generator, values):
    layer = make(SelfAttention, generator)
    changed = values.copy()
    changed[:, 3:] = generator.normal(size=changed[:, 3:].shape)
    before, after = (layer(x, causal=True)[0].numpy() for x in (values, changed))
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    assert np.abs(before[:, 3:] - after[:, 3:]).min() > 1e-6


@pytest.mark.parametrize("beam", [1, 3])
def test_with_a_cache_a_row_at_a_time_equals_all_at_once(generator, beam):
    """Rows follow others of their sentence, as in a search, and the cache stays where it is."""
    layer = make(SelfAttention, generator, key_dim=2, value_dim=5, use_bias=True)
    rows = BATCH * beam
    words = generator.normal(size=(rows, LENGTH, DIM))
    followed = words.copy()  # what each row has come by
    cache = layer.empty_cache(BATCH)
    seen = np.zeros((rows, 0), bool)
    own = np.tile(np.eye(beam, dtype=bool), (BATCH, 1))
    for t in range(LENGTH):
        parents = np.concatenate([generator.integers(0, beam, beam) + b * beam for b in (0, 1)])
        followed[:, :t], seen = followed[parents, :t], seen[parents]
        seen = np.concatenate([seen, own], axis=1)
        outputs, cache = layer.advance(
            tf.constant(words[:, t]), cache, tf.constant(seen.reshape(BATCH, beam, -1))
        )
        expected, _ = layer(followed[:, : t + 1], causal=True)
        np.testing.assert_allclose(outputs, expected[:, t], rtol=1e-9, atol=1e-12)
        assert [x.shape for x in cache] == [(BATCH, HEADS, (t + 1) * beam, size) for size in (2, 5)]


def test_dropout_falls_on_weights_in_training_only(generator, values):
    layer = make(SelfAttention, generator, dropout=0.5)
    plain = make(SelfAttention, dropout=0.0)
    plain.set_weights(layer.get_weights()[: len(plain.weights)])
    np.testing.assert_array_equal(layer(values, MASK)[0], plain(values, MASK)[0])
    outputs, weights = layer(values, MASK, training=True)
    assert np.abs(outputs - plain(values, MASK)[0]).max() > 1e-3
    np.testing.assert_allclose(weights.numpy().sum(-1), 1.0)  # those returned are whole


def test_each_matrix_is_drawn_by_itself():
    layer = make(SelfAttention, model_dim=40, num_heads=4, kernel_initializer="glorot_uniform")
    kernel, output = (weight.numpy() for weight in layer.weights)
    limit = np.sqrt(6.0 / 80)  # of (40, 40), not of (40, 120)
    blocks = np.split(kernel.reshape(40, 4, 30), 3, axis=2)
    for block in (*blocks, output):
        assert 0.97 * limit < np.abs(block).max() <= limit
    assert np.abs(blocks[0] - blocks[1]).max() > limit
    seeded = keras.initializers.GlorotUniform(seed=1)
    q, k, _ = np.split(
        make(SelfAttention, kernel_initializer=seeded).weights[0].numpy().reshape(6, 2, 9), 3, 2
    )
    assert not np.array_equal(q, k)


@pytest.mark.parametrize("cls", [SelfAttention, CrossAttention])
def test_a_configuration_makes_the_same_layer(cls):
    layer = make(cls, key_dim=3, value_dim=4, use_bias=True, dropout=0.25)
    copy = cls.from_config(layer.get_config())
    assert copy.get_config() == layer.get_config()
    copy.build()
    assert [w.shape for w in copy.weights] == [w.shape for w in layer.weights]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_heads": 4}, "^key_dim must be given, got None: num_heads, 4, does not divide"),
        ({"num_heads": 4, "key_dim": 2}, "^value_dim must be given, got None"),
        ({"num_heads": 0}, "^num_heads must be a positive integer, got 0"),
        ({"key_dim": -1}, "^key_dim must be a positive integer, got -1"),
        ({"num_heads": 2.0}, r"^num_heads must be a positive integer, got 2\.0"),
        ({"model_dim": 0}, "^model_dim must be a positive integer, got 0"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SelfAttention(**({"model_dim": DIM, "num_heads": HEADS} | options))


@pytest.mark.parametrize("cls", [SelfAttention, CrossAttention])
def test_inputs_of_another_size_are_refused_when_the_layer_is_built(cls):
    layer = cls(DIM, HEADS)
    message = f"^inputs must have the size model_dim {DIM}, got 4"
    with pytest.raises(ValueError, match=message):
        layer.build((None, None, 4))
    layer.build((None, None, None))
    with pytest.raises(ValueError, match=message):
        SelfAttention(DIM, HEADS)(np.ones((BATCH, LENGTH, 4)), MASK)


@pytest.mark.parametrize("cls", [SelfAttention, CrossAttention])
def test_integers_of_numpy_are_sizes_and_are_kept_as_plain_ones(cls):
    layer = cls(np.int64(DIM), np.int32(HEADS), key_dim=np.int64(3))
    assert json.loads(json.dumps(layer.get_config()))["model_dim"] == DIM
    assert layer.get_config() | {"name": ""} == cls(DIM, HEADS, key_dim=3, name="").get_config()
