"""Stacks of blocks by themselves: an encoder, and a language model that writes with a cache."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.layers.embedding import WordEmbedding
from zoo.models.transformer.positions import SinusoidalPositions
from zoo.models.transformer.transformer_stacks import DecoderStack, EncoderStack, own_columns

SIZES = {"depth": 2, "model_dim": 6, "feed_forward_dim": 8, "num_heads": 2}
NORMS = pytest.mark.parametrize("norm", ["post", "pre"])


def make(cls=EncoderStack, seed=2, **options):
    stack = cls(**SIZES, **options, dtype="float64")
    stack.build()
    generator = np.random.default_rng(seed)
    for weight in stack.weights:
        weight.assign(generator.normal(0.0, 0.6, weight.shape))
    return stack


@pytest.fixture
def values():
    return np.random.default_rng(3).normal(size=(2, 5, 6))


@NORMS
def test_an_encoder_without_positions_is_equivariant_to_permutations(norm, values):
    stack, order = make(norm=norm), np.array([3, 0, 4, 1, 2])
    mask = np.arange(5) < np.array([[5], [3]])
    plain, maps = (x.numpy() for x in stack(values, mask))
    permuted, permuted_maps = stack(values[:, order], mask[:, order])
    np.testing.assert_allclose(permuted, plain[:, order], rtol=1e-9, atol=1e-12)
    expected = maps[:, :, :, order][..., order]
    np.testing.assert_allclose(permuted_maps, expected, rtol=1e-9, atol=1e-12)
    placed = values + SinusoidalPositions(6, dtype="float64")(np.arange(5)).numpy()
    moved = values[:, order] + SinusoidalPositions(6, dtype="float64")(np.arange(5)).numpy()
    assert np.abs(stack(moved, mask)[0] - stack(placed, mask)[0].numpy()[:, order]).max() > 1e-2


@NORMS
def test_the_first_position_of_an_encoder_classifies(norm, values):
    """A classifier depends on all real positions and on no padding."""
    stack = make(norm=norm)
    mask = np.arange(5) < np.array([[5], [3]])
    first = stack(values, mask)[0].numpy()[:, 0]
    changed = values.copy()
    changed[:, 4, 0] += 1.0  # real in the first row only
    other = stack(changed, mask)[0].numpy()[:, 0]
    assert np.abs(other[0] - first[0]).max() > 1e-3
    np.testing.assert_array_equal(other[1], first[1])


@NORMS
def test_a_language_model_sees_no_later_word_and_writes_with_a_cache(norm):
    embedding, stack = WordEmbedding(11, 6, dtype="float64"), make(norm=norm)
    embedding.build()
    positions = SinusoidalPositions(6, dtype="float64")
    ids = np.random.default_rng(4).integers(1, 11, (3, 5))

    def logits(values):
        return tf.matmul(values, embedding.table, transpose_b=True).numpy()

    def read(ids):
        values, _ = stack(embedding(ids) + positions(np.arange(5)), causal=True)
        return np.stack([logits(values[:, t]) for t in range(5)], axis=1)

    expected, changed = read(ids), ids.copy()
    changed[:, 3:] = changed[:, 3:] % 10 + 1
    np.testing.assert_array_equal(read(changed)[:, :3], expected[:, :3])
    assert np.abs(read(changed)[:, 3:] - expected[:, 3:]).max() > 1e-5
    cache, seen = stack.empty_cache(3), tf.zeros((3, 0), "bool")
    assert set(cache) == set(stack.cache_names)
    for t in range(5):
        seen = tf.concat([seen, own_columns(3, 1)], axis=1)
        words = embedding(ids[:, t]) + positions(np.array([t]))
        values, cache = stack.advance(words, cache, seen[:, None])
        np.testing.assert_allclose(logits(values), expected[:, t], rtol=1e-9, atol=1e-12)


def test_a_causal_language_model_learns_with_keras_alone():
    """As a user would write it, on sequences that count."""
    ids = (np.arange(9) + np.arange(8)[:, None]) % 8 + 1
    words = keras.Input((None,), dtype="int32")
    embedded = keras.layers.Embedding(9, 16)(words)
    values, _ = EncoderStack(1, model_dim=16, feed_forward_dim=16, num_heads=2)(
        embedded, causal=True
    )
    model = keras.Model(words, keras.layers.Dense(9)(values))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.02), loss, jit_compile=False)
    model.fit(ids[:, :-1], ids[:, 1:], epochs=30, verbose=0)
    assert (model.predict(ids[:, :-1], verbose=0).argmax(axis=-1) == ids[:, 1:]).all()


def test_only_before_sublayers_a_norm_ends_the_stack():
    post, pre = make(), make(norm="pre")
    assert post.norm is None
    assert len(pre.weights) == len(post.weights) + 2
    values = np.random.default_rng(5).normal(size=(1, 3, 6))
    gain, bias = pre.norm.gamma.numpy(), pre.norm.beta.numpy()
    normalised = (pre(values)[0].numpy() - bias) / gain
    np.testing.assert_allclose(normalised.mean(axis=-1), 0.0, atol=1e-9)


@pytest.mark.parametrize("cls", [EncoderStack, DecoderStack])
def test_a_configuration_makes_the_same_stack(cls):
    stack = make(cls, norm="pre", key_dim=2, dropout=0.1)
    copy = cls.from_config(stack.get_config())
    assert copy.get_config() == stack.get_config()
    copy.build()
    assert [w.shape for w in copy.weights] == [w.shape for w in stack.weights]


@pytest.mark.parametrize(("rows", "beam"), [(4, 1), (4, 2), (3, 3), (0, 0)])
def test_a_row_sees_its_own_new_column_only(rows, beam):
    expected = np.tile(np.eye(beam, dtype=bool), (rows // max(beam, 1), 1))
    np.testing.assert_array_equal(own_columns(rows, beam), expected.reshape(rows, beam))


@pytest.mark.parametrize("cls", [EncoderStack, DecoderStack])
def test_sizes_that_do_not_fit_are_refused(cls):
    for depth in (0, -1, 2.0):
        with pytest.raises(ValueError, match=f"^depth must be a positive integer, got {depth}"):
            cls(**SIZES | {"depth": depth})
    with pytest.raises(ValueError, match=r"^inputs must have the size model_dim 6, got 4"):
        cls(**SIZES).build((None, None, 4))
