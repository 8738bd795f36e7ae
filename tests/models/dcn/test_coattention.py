"""Coattention against NumPy, its sentinels and its masks."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.references import dcn
from zoo.models.dcn.coattention import Coattention, append_sentinel, coattend

UNITS = 4
DOCUMENT_LENGTHS, QUESTION_LENGTHS = (6, 2, 3, 0), (1, 4, 0, 0)
EXACT = {"rtol": 1e-9, "atol": 1e-12}


def side(lengths, seed):
    """Random values, large where the mask says padding, and the mask."""
    mask = np.arange(max(lengths)) < np.array(lengths)[:, None]
    values = np.random.default_rng(seed).normal(size=(*mask.shape, UNITS))
    values[~mask] *= 1e2
    return values, mask


@pytest.fixture
def inputs():
    return *side(DOCUMENT_LENGTHS, 1), *side(QUESTION_LENGTHS, 2)


@pytest.fixture
def layer():
    layer = Coattention(dtype="float64", name="coattention")
    layer.build((None, None, UNITS))
    generator = np.random.default_rng(3)
    for weight in layer.weights:
        weight.assign(generator.normal(size=weight.shape))
    return layer


def assert_row_equals(result, row, document_length, question_length, expected, sentinels):
    """One example's real words against the reference, whose columns are words."""
    m, n = document_length, question_length
    question_summary, context = np.split(expected["CD"].T, 2, axis=1)
    np.testing.assert_allclose(result.question_summary[row, :m], question_summary[:m], **EXACT)
    np.testing.assert_allclose(result.context[row, :m], context[:m], **EXACT)
    np.testing.assert_allclose(result.document_summary[row, :n], expected["CQ"].T[:n], **EXACT)
    maps = (result.document_to_question[row], n, expected["AD"].T[:m])
    for weights, keys, reference in (
        maps,
        (result.question_to_document[row], m, expected["AQ"].T[:n]),
    ):
        kept = np.arange(weights.shape[1]) < keys
        if sentinels:
            kept[-1] = True
        weights = weights.numpy()[: len(reference)]
        np.testing.assert_allclose(weights[:, kept], reference, **EXACT)
        assert not weights[:, ~kept].any()


def test_without_sentinels_it_is_the_references(inputs):
    document, document_mask, question, question_mask = inputs
    result = coattend(document, document_mask, question, question_mask)
    lengths = zip(DOCUMENT_LENGTHS[:2], QUESTION_LENGTHS[:2], strict=True)
    for row, (m, n) in enumerate(lengths):
        expected = dcn.coattention(document[row, :m].T, question[row, :n].T)
        assert_row_equals(result, row, m, n, expected, sentinels=False)


def test_with_sentinels_it_is_the_references(inputs, layer):
    document, document_mask, question, question_mask = inputs
    values = {weight.path: weight.numpy() for weight in layer.weights}
    kernel = values["coattention/question_projection/kernel"]
    bias = values["coattention/question_projection/bias"]
    result = layer(document, document_mask, question, question_mask)
    assert result.document_to_question.shape == (4, 6, 4 + 1)
    assert result.question_to_document.shape == (4, 4, 6 + 1)
    for row, (m, n) in enumerate(zip(DOCUMENT_LENGTHS, QUESTION_LENGTHS, strict=True)):
        D = np.vstack([document[row, :m], values["coattention/document_sentinel"]])
        Q = np.vstack([question[row, :n], values["coattention/question_sentinel"]])
        expected = dcn.coattention(D.T, np.tanh(Q @ kernel + bias).T)
        assert_row_equals(result, row, m, n, expected, sentinels=True)


def test_every_word_spreads_one_over_the_other_side_and_its_sentinel(inputs, layer):
    result = layer(*inputs)
    for weights in (result.document_to_question, result.question_to_document):
        np.testing.assert_allclose(tf.reduce_sum(weights, axis=-1), np.ones(weights.shape[:2]))
        assert weights.numpy().min() >= 0.0
    nothing = result.document_to_question.numpy()[2]  # a question without a word
    np.testing.assert_array_equal(nothing, np.broadcast_to([0.0] * 4 + [1.0], nothing.shape))


def test_without_a_sentinel_an_empty_side_gives_zeros_and_finite_gradients(inputs):
    tensors = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch([tensors[0], tensors[2]])
        result = coattend(*tensors)
        loss = sum(tf.reduce_sum(tf.square(x)) for x in result)
    empty = 2
    for values in (result.question_summary, result.context, result.document_to_question):
        assert not values[empty].numpy().any()
    for gradient in tape.gradient(loss, [tensors[0], tensors[2]]):
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("position", [0, 2])
def test_it_does_not_matter_where_the_sentinel_stands(inputs, position):
    """The order of positions is none to coattention."""
    document, document_mask, question, question_mask = inputs
    order = np.insert(np.arange(5), position, 5)  # the last one moves to `position`
    document_mask[:, -1] = True
    plain = coattend(document, document_mask, question, question_mask)
    moved = coattend(document[:, order], document_mask[:, order], question, question_mask)
    for name in ("question_summary", "context", "document_to_question"):
        expected = getattr(plain, name).numpy()[:, order]
        np.testing.assert_allclose(getattr(moved, name), expected, **EXACT, err_msg=name)
    np.testing.assert_allclose(moved.document_summary, plain.document_summary, **EXACT)
    expected = plain.question_to_document.numpy()[:, :, order]
    np.testing.assert_allclose(moved.question_to_document, expected, **EXACT)


def test_a_document_of_sentinels_is_attended_to_uniformly(inputs, layer):
    _, document_mask, question, question_mask = inputs
    document = np.broadcast_to(layer.document_sentinel.numpy(), (4, 6, UNITS))
    result = layer(document, document_mask, question, question_mask)
    for row, length in enumerate(DOCUMENT_LENGTHS):
        real = result.question_to_document[row].numpy()[:, [*range(length), -1]]
        np.testing.assert_allclose(real, np.full(real.shape, 1.0 / (length + 1)))


def test_the_two_sides_have_sentinels_of_their_own(layer):
    names = [weight.path for weight in layer.trainable_weights]
    assert sum("sentinel" in name for name in names) == 2
    assert not np.array_equal(layer.document_sentinel, layer.question_sentinel)
    fresh = Coattention()
    fresh.build((None, None, UNITS))
    assert not np.array_equal(fresh.document_sentinel, fresh.question_sentinel)


def test_append_sentinel_puts_it_after_the_padding_in_the_dtype_of_the_values():
    values = tf.ones((2, 3, UNITS), "float16")
    appended = append_sentinel(values, tf.range(UNITS, dtype="float32"))
    assert appended.dtype == "float16"
    np.testing.assert_array_equal(appended[:, :3], values)
    np.testing.assert_array_equal(appended[:, 3], [[0.0, 1.0, 2.0, 3.0]] * 2)


def test_a_configuration_gives_the_layer_back():
    layer = Coattention(name="renamed", dtype="mixed_float16")
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert type(copy) is Coattention
    assert copy.get_config() == layer.get_config()
