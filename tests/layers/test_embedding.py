"""Tables of word vectors."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.layers.embedding import WordEmbedding

IDS = np.array([[2, 0, 2], [5, 1, 0]], "int32")


def make(**arguments):
    layer = WordEmbedding(6, 3, **arguments)
    layer.build()
    return layer


@pytest.mark.parametrize("table_dtype", [None, "float16"])
def test_padding_starts_at_zero_and_words_apart(table_dtype):
    table = make(table_dtype=table_dtype).table.numpy()
    assert table.dtype == (table_dtype or "float32")
    assert not table[0].any()
    assert (np.abs(table[1:]) <= 0.05).all()
    assert len(np.unique(table[1:])) > 10


def test_ids_of_any_rank_get_their_rows():
    layer = make()
    for ids in (IDS, IDS[0], IDS[None]):
        np.testing.assert_array_equal(layer(ids), layer.table.numpy()[ids])


def test_loaded_vectors_replace_the_table():
    layer = make()
    matrix = np.random.default_rng(0).normal(size=(6, 3)).astype("float32")
    layer.load_vectors(matrix)
    np.testing.assert_array_equal(layer(IDS), matrix[IDS])


@pytest.mark.parametrize("shape", [(5, 3), (6, 4), (18,)])
def test_vectors_of_another_shape_are_refused(shape):
    layer = make()
    before = layer.table.numpy()
    with pytest.raises(ValueError, match=r"matrix must have the shape \(6, 3\), got"):
        layer.load_vectors(np.ones(shape))
    np.testing.assert_array_equal(layer.table, before)


def test_a_table_in_half_precision_is_cast_after_the_look_up():
    layer = make(table_dtype="float16")
    matrix = np.random.default_rng(0).normal(size=(6, 3)).astype("float32")
    layer.load_vectors(matrix)
    vectors = layer(IDS)
    assert layer.table.dtype == "float16"
    assert vectors.dtype == "float32"
    np.testing.assert_array_equal(vectors, matrix.astype("float16")[IDS])


def test_half_precision_of_the_model_keeps_the_table_in_single():
    layer = make(dtype="mixed_float16")
    assert layer.table.dtype == "float32"
    assert layer(IDS).dtype == "float16"


@pytest.mark.parametrize("trainable", [False, True])
def test_a_table_is_trained_only_where_asked(trainable):
    layer = make(trainable=trainable)
    assert len(layer.trainable_weights) == int(trainable)
    assert len(layer.weights) == 1


def test_gradients_of_a_word_add_up():
    layer = make()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(IDS))
    gradient = tf.convert_to_tensor(tape.gradient(loss, layer.table.value))
    counts = np.bincount(IDS.ravel(), minlength=6)
    np.testing.assert_array_equal(gradient, np.repeat(counts[:, None], 3, axis=1))


def test_a_configuration_gives_the_layer_back():
    layer = WordEmbedding(6, 3, table_dtype="float16", trainable=False, name="renamed")
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert copy.get_config() == layer.get_config()
    assert (copy.vocabulary_size, copy.embedding_dim) == (6, 3)
    assert (copy.table_dtype, copy.trainable) == ("float16", False)


def test_word_vectors_may_be_penalised_but_padding_is_not():
    layer = make(l2=0.25)
    matrix = np.random.default_rng(0).normal(size=(6, 3)).astype("float32")
    layer.load_vectors(matrix)
    with tf.GradientTape() as tape:
        (penalty,) = layer.losses
    np.testing.assert_allclose(penalty, 0.25 * (matrix[1:] ** 2).sum(), rtol=1e-6)
    gradient = tape.gradient(penalty, layer.table.value).numpy()
    np.testing.assert_allclose(gradient[1:], 0.5 * matrix[1:], rtol=1e-6)
    assert not gradient[0].any()
    assert not make().losses
    assert WordEmbedding.from_config(layer.get_config()).l2 == 0.25


def test_the_penalty_of_a_table_in_half_precision_is_finite():
    layer = make(l2=0.25, table_dtype="float16")
    layer.load_vectors(np.full((6, 3), 300.0))
    (penalty,) = layer.losses
    assert penalty.dtype == "float32"
    assert penalty == 0.25 * 5 * 3 * 300.0**2  # its square is above the largest float16


def test_ids_of_any_whole_type_are_the_same_and_floats_are_refused():
    layer = make()
    for ids in map(IDS.astype, ("int8", "uint8", "int64")):
        np.testing.assert_array_equal(layer(ids), layer(IDS))
    for dtype in ("float32", "bool"):
        with pytest.raises(ValueError, match=f"ids must be whole numbers.*got {dtype}"):
            layer(IDS.astype(dtype))
    with pytest.raises(ValueError, match=r"ids must be whole numbers.*got float32"):
        layer(keras.Input((None,)))
