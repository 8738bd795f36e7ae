"""Attention over attention against NumPy, its masks, and what must hold for any encoding."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.references import aoa_reader
from zoo.models.aoa.over_attention import attend_over, attend_sum
from zoo.ops.masking import MASKED_SCORE

DOCUMENT_LENGTHS, QUERY_LENGTHS = (6, 2, 1, 3, 0, 0), (1, 4, 2, 0, 2, 0)
EXACT = {"rtol": 1e-9, "atol": 1e-12}


def side(lengths, seed, padding=1e3):
    """Random values, large where the mask says padding, and the mask."""
    mask = np.arange(max(lengths)) < np.array(lengths)[:, None]
    values = np.random.default_rng(seed).normal(size=(*mask.shape, 4))
    values[~mask] *= padding
    return values, mask


@pytest.fixture
def inputs():
    return *side(DOCUMENT_LENGTHS, 1), *side(QUERY_LENGTHS, 2)


def test_it_is_the_references(inputs):
    document, _, query, _ = inputs
    result = attend_over(*inputs)
    for row, (n, m) in enumerate(zip(DOCUMENT_LENGTHS[:3], QUERY_LENGTHS[:3], strict=True)):
        expected = aoa_reader.attention_over_attention(document[row, :n], query[row, :m])
        np.testing.assert_allclose(result.document[row, :n], expected["s"], **EXACT)
        np.testing.assert_allclose(result.log_document[row, :n], np.log(expected["s"]), **EXACT)
        np.testing.assert_allclose(result.query[row, :m], expected["beta"], **EXACT)
        alpha, beta_rows = result.query_to_document[row], result.document_to_query[row]
        np.testing.assert_allclose(alpha[:m, :n], expected["alpha"], **EXACT)
        np.testing.assert_allclose(beta_rows[:n, :m], expected["beta_rows"], **EXACT)


def test_everything_is_a_distribution_over_real_words_and_exactly_zero_on_padding(inputs):
    _, document_mask, _, query_mask = inputs
    result = attend_over(*inputs)
    both = document_mask.any(axis=1) & query_mask.any(axis=1)
    for values, rows, keys in (
        (result.document, both, document_mask),
        (result.query, both, query_mask),
        (result.query_to_document, query_mask & both[:, None], document_mask[:, None]),
        (result.document_to_query, document_mask & both[:, None], query_mask[:, None]),
    ):
        values = values.numpy()
        assert values.min() >= 0
        np.testing.assert_allclose(values.sum(axis=-1), rows, atol=1e-12)
        assert not values[np.broadcast_to(~keys, values.shape)].any()
    nothing = ~(document_mask & both[:, None])
    np.testing.assert_allclose(result.log_document.numpy()[nothing], MASKED_SCORE)


def test_the_mean_of_beta_is_over_the_real_length():
    """The same document with more padding: a mean over all positions would shrink."""
    document, query = np.random.default_rng(3).normal(size=(2, 1, 3, 4))
    mask = np.ones((1, 3), bool)
    expected = attend_over(document, mask, query, mask).query
    longer = np.pad(document, [(0, 0), (0, 5), (0, 0)], constant_values=9.0)
    actual = attend_over(longer, np.pad(mask, [(0, 0), (0, 5)]), query, mask).query
    np.testing.assert_allclose(actual, expected, **EXACT)
    np.testing.assert_allclose(tf.reduce_sum(actual), 1.0)


def test_a_query_of_one_word_makes_it_the_attention_sum_reader(inputs):
    document, document_mask, query, query_mask = inputs
    over = attend_over(document, document_mask, query[:, :1], query_mask[:, :1])
    s, log_s = attend_sum(document, document_mask, query[:, 0])
    asked = query_mask[:, 0]
    np.testing.assert_allclose(over.document.numpy()[asked], s.numpy()[asked], **EXACT)
    np.testing.assert_allclose(over.log_document.numpy()[asked], log_s.numpy()[asked], **EXACT)


def test_the_attention_sum_is_the_references(inputs):
    document, document_mask, *_ = inputs
    query = np.random.default_rng(6).normal(size=(len(document), 4))
    s, log_s = attend_sum(document, document_mask, query)
    for row, n in enumerate(DOCUMENT_LENGTHS):
        expected = aoa_reader.attention_sum(document[row, :n], query[row]) if n else np.zeros(0)
        np.testing.assert_allclose(s[row, :n], expected, **EXACT)
        np.testing.assert_allclose(log_s[row, :n], np.log(expected), **EXACT)
        assert not s[row, n:].numpy().any()


def test_permuting_the_document_permutes_s_and_leaves_beta(inputs):
    document, document_mask, query, query_mask = inputs
    order = np.random.default_rng(4).permutation(document.shape[1])
    expected = attend_over(*inputs)
    moved = attend_over(document[:, order], document_mask[:, order], query, query_mask)
    np.testing.assert_allclose(moved.document, expected.document.numpy()[:, order], **EXACT)
    np.testing.assert_allclose(moved.query, expected.query, **EXACT)


def test_padding_and_sides_without_a_word_get_no_gradient_and_all_gradients_are_finite(inputs):
    document, document_mask, query, query_mask = inputs
    document, query = tf.constant(document), tf.constant(query)
    with tf.GradientTape() as tape:
        tape.watch([document, query])
        result = attend_over(document, document_mask, query, query_mask)
        real = tf.where(result.log_document > 0.5 * MASKED_SCORE, result.log_document, 0.0)
        loss = tf.reduce_sum(real) + tf.reduce_sum(tf.square(result.document))
    for gradient, mask in zip(
        tape.gradient(loss, [document, query]), (document_mask, query_mask), strict=True
    ):
        assert np.isfinite(gradient).all()
        assert not gradient.numpy()[~mask].any()
        assert gradient.numpy()[mask].any()


def test_weights_that_float32_cannot_hold_keep_their_logarithm():
    document = tf.constant([[[30.0], [-30.0], [0.0]]])
    mask = np.ones((1, 3), bool)
    result = attend_over(document, mask, tf.constant([[[10.0]]]), mask[:, :1])
    np.testing.assert_array_equal(result.document[0, 1:], [0.0, 0.0])
    np.testing.assert_allclose(result.log_document, [[0.0, -600.0, -300.0]], rtol=1e-6)


def test_half_precision_is_attended_to_in_float32():
    document, query = np.random.default_rng(5).normal(size=(2, 2, 3, 4)).astype("float16")
    mask = np.ones((2, 3), bool)
    for values in attend_over(document, mask, query, mask):
        assert values.dtype == "float32"
    assert {values.dtype for values in attend_sum(document, mask, query[:, 0])} == {tf.float32}


def test_it_is_a_part_of_a_functional_model(inputs):
    document, document_mask, query, query_mask = inputs
    values, mask = ((None, 4), "float32"), ((None,), "bool")
    symbols = [keras.Input(shape, dtype=dtype) for shape, dtype in (values, mask, values, mask)]
    model = keras.Model(symbols, attend_over(*symbols).document)
    actual = model([document, document_mask, query, query_mask])
    np.testing.assert_allclose(actual, attend_over(*inputs).document, rtol=1e-5, atol=1e-6)
