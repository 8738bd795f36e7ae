"""Properties of the additive scores: their relations, and queries that cancel."""

import keras
import numpy as np
import pytest

from tests.attention.scoring import (
    EXACT,
    KEY_DIM,
    KEYS,
    LENGTHS,
    MASK,
    QUERY_DIM,
    UNITS,
    WITH_BIAS,
    make,
    sentences,
)
from zoo.attention.attend import attend
from zoo.attention.scores import AdditiveScore, ConcatScore


def scores_of(layer, queries, keys):
    return layer(queries, layer.prepare(keys)).numpy()


@pytest.mark.parametrize("use_bias", [False, True])
def test_concat_is_additive_with_its_matrix_in_two(use_bias):
    queries, keys, _ = sentences("concat")
    concat, additive = make("concat", use_bias=use_bias), make("additive", use_bias=use_bias)
    additive.query_kernel.assign(concat.kernel[:QUERY_DIM])
    additive.key_kernel.assign(concat.kernel[QUERY_DIM:])
    additive.scale.assign(concat.scale)
    if use_bias:
        additive.bias.assign(concat.bias)
    expected = scores_of(concat, queries, keys)
    np.testing.assert_allclose(scores_of(additive, queries, keys), expected, **EXACT)


def test_concat_with_the_identity_for_the_key_is_concat_identity():
    queries, keys, _ = sentences("concat")
    identity, concat = make("concat_identity"), ConcatScore(KEY_DIM, dtype="float64")
    concat.build((None, None, QUERY_DIM), (None, None, KEY_DIM))
    concat.kernel.assign(np.vstack([identity.query_kernel.numpy(), np.eye(KEY_DIM)]))
    concat.scale.assign(identity.scale)
    expected = scores_of(identity, queries, keys)
    np.testing.assert_allclose(scores_of(concat, queries, keys), expected, **EXACT)


def test_concat_linear_is_linear_additive_with_its_weight_in_two():
    queries, keys, _ = sentences("concat_linear")
    concat, additive = make("concat_linear"), make("linear_additive")
    additive.query_kernel.assign(concat.kernel[:QUERY_DIM, 0])
    additive.key_kernel.assign(concat.kernel[QUERY_DIM:, 0])
    expected = scores_of(concat, queries, keys)
    np.testing.assert_allclose(scores_of(additive, queries, keys), expected, **EXACT)


@pytest.mark.parametrize("name", ["concat_linear", "linear_additive", "concat", "additive"])
def test_the_query_cancels_in_the_linear_scores_and_in_no_other(name):
    layer, (queries, keys, values) = make(name), sentences(name)
    scores, others = (scores_of(layer, q, keys) for q in (queries, queries[::-1] + 1.0))
    assert not np.allclose(scores[0], others[0])
    weights, other_weights = (attend(e, values, MASK)[1].numpy() for e in (scores, others))
    cancels = np.allclose(weights, other_weights, rtol=1e-9, atol=1e-12)
    assert cancels == (name in ("concat_linear", "linear_additive"))


@pytest.mark.parametrize("name", WITH_BIAS)
def test_a_scale_of_zeros_attends_uniformly(name):
    layer, (queries, keys, values) = make(name), sentences(name)
    layer.scale.assign(np.zeros(layer.scale.shape))
    _, weights = attend(scores_of(layer, queries, keys), values, MASK)
    for row, length in enumerate(LENGTHS[:-1]):
        expected = np.where(np.arange(KEYS) < length, 1.0 / length, 0.0)
        np.testing.assert_allclose(weights[row], np.tile(expected, (queries.shape[1], 1)), **EXACT)


@pytest.mark.parametrize("name", WITH_BIAS)
def test_the_bias_is_an_option_and_starts_at_zero(name):
    plain, biased = make(name), make(name, use_bias=True)
    assert "bias" not in [weight.name for weight in plain.weights]
    assert [weight.name for weight in biased.weights][-1] == "bias"
    fresh = type(biased).from_config(biased.get_config())
    fresh.build((None, None, QUERY_DIM), (None, None, KEY_DIM))
    assert fresh.bias.shape == ((KEY_DIM if name == "concat_identity" else UNITS),)
    assert not fresh.bias.numpy().any()


def test_units_must_be_positive():
    for cls in (AdditiveScore, ConcatScore):
        with pytest.raises(ValueError, match="units must be a positive integer, got -1"):
            cls(-1)


def test_matrices_of_one_seed_differ():
    layer = AdditiveScore(UNITS, kernel_initializer=keras.initializers.GlorotUniform(seed=7))
    layer.build((None, None, KEY_DIM), (None, None, KEY_DIM))
    assert not np.isin(layer.query_kernel.numpy(), layer.key_kernel.numpy()).any()
