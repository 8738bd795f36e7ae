"""Maxout layers in parts, mixtures of experts, and the Highway Maxout Network, against NumPy."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.references import dcn, dcn_plus
from zoo.models.dcn.maxout import (
    HighwayMaxoutNetwork,
    HighwayMixtureNetwork,
    Maxout,
    MixtureOfExperts,
)

UNITS = 4
DIMS = (3, 2)
EXACT = {"rtol": 1e-9, "atol": 1e-12}


def randomise(layer, seed=0):
    generator = np.random.default_rng(seed)
    for weight in layer.weights:
        weight.assign(generator.normal(0.0, 0.7, weight.shape))
    return layer


def make(cls, pool_size):
    layer = cls(UNITS, pool_size, dtype="float64")
    layer.build([(None, None, dim) for dim in DIMS])
    return randomise(layer)


def parts_of(layer, name):
    """The weights of all parts as one matrix (inputs, outputs)."""
    return np.concatenate([w.numpy() for w in layer.weights if w.name.startswith(name)])


def pieces_of(layer):
    """W (p, units, inputs) and b (p, units)."""
    kernels = np.split(parts_of(layer, "kernel"), layer.pool_size, axis=1)
    bias = layer.bias.numpy().reshape(layer.pool_size, -1)
    return np.stack([kernel.T for kernel in kernels]), bias


@pytest.fixture
def parts():
    generator = np.random.default_rng(1)
    return [generator.normal(size=(2, 5, dim)) for dim in DIMS]


@pytest.mark.parametrize("pool_size", [1, 2, 3])
def test_maxout_is_that_of_one_kernel_on_the_concatenated_parts(parts, pool_size):
    layer = make(Maxout, pool_size)
    kernel, bias = pieces_of(layer)
    inputs = np.concatenate(parts, axis=-1)
    expected = np.apply_along_axis(lambda x: dcn.maxout(kernel, bias, x), -1, inputs)
    np.testing.assert_allclose(layer(parts), expected, **EXACT)


@pytest.mark.parametrize("cls", [Maxout, MixtureOfExperts])
def test_fresh_kernels_are_drawn_each_by_itself_from_glorots_range(cls):
    """Glorot's limit is that of one piece; constant or equal kernels would make pieces equal."""
    layers = [cls(7, 3), cls(7, 3)]
    for layer in layers:
        layer.build([(None, 40), (None, 40)])
        assert not layer.bias.numpy().any()
    limit = np.sqrt(6 / (40 + 40 + 7))
    kernels = [kernel.numpy() for layer in layers for kernel in layer.kernels]
    for number, kernel in enumerate(kernels):
        assert 0.98 * limit < np.abs(kernel).max() <= limit
        np.testing.assert_allclose(kernel.std(), limit / np.sqrt(3), rtol=0.1)
        assert abs(kernel.mean()) < 0.1 * limit
        assert len(np.unique(kernel)) > 0.99 * kernel.size
        assert not any(np.array_equal(kernel, other) for other in kernels[:number])


@pytest.mark.parametrize("pool_size", [1, 2, 3, 5])
def test_a_mixture_weighs_the_two_best_experts(parts, pool_size):
    """With fewer than three it is the dense mixture: the reference then has no choice."""
    layer = make(MixtureOfExperts, pool_size)
    weights = dict(zip(("W_1", "b_1"), pieces_of(layer), strict=True))
    weights["W_g"] = parts_of(layer, "gate").T
    inputs = np.concatenate(parts, axis=-1)
    expected = np.apply_along_axis(lambda x: dcn_plus.mixture_of_experts(weights, x), -1, inputs)
    np.testing.assert_allclose(layer(parts), expected, **EXACT)
    if pool_size == 2:
        gate = np.exp(inputs @ weights["W_g"].T)
        experts = np.einsum("kui,bti->btku", weights["W_1"], inputs) + weights["b_1"]
        dense = np.sum((gate / gate.sum(-1, keepdims=True))[..., None] * experts, axis=-2)
        np.testing.assert_allclose(layer(parts), dense, **EXACT)


def test_experts_that_were_not_chosen_get_no_gradient():
    layer = MixtureOfExperts(1, 3, dtype="float64")
    layer.build([(None, 1)])
    randomise(layer)
    layer.gates[0].assign([[2.0, 1.0, 3.0]])
    with tf.GradientTape() as tape:
        outputs = layer([tf.ones((1, 1), tf.float64)])
    kernel, gate = tape.gradient(outputs, [layer.kernels[0].value, layer.gates[0].value])
    share = np.exp(2.0) / (np.exp(2.0) + np.exp(3.0))
    np.testing.assert_allclose(kernel, [[share, 0.0, 1.0 - share]])
    assert gate[0, 1] == 0.0
    np.testing.assert_allclose(gate[0, 0], -gate[0, 2], rtol=1e-12)
    assert gate[0, 0] != 0.0


@pytest.mark.parametrize("cls", [Maxout, MixtureOfExperts])
def test_what_is_projected_once_gives_the_same(parts, cls):
    layer = make(cls, 3)
    once = layer.add_bias(layer.project(0, parts[0]))
    np.testing.assert_allclose(layer.pool(once + layer.project(1, parts[1])), layer(parts), **EXACT)


NETWORKS = {
    HighwayMaxoutNetwork: dcn.highway_maxout,
    HighwayMixtureNetwork: dcn_plus.highway_mixture,
}


@pytest.mark.parametrize("cls", NETWORKS)
def test_scores_from_one_preparation_are_those_of_each_word_directly(cls):
    network = cls(UNITS, 3, dtype="float64", name="scorer")
    network.build((None, None, 2 * UNITS))
    randomise(network)
    values = {weight.path: weight.numpy() for weight in network.weights}
    weights = dcn.scorer_weights(values, "scorer")
    if cls is HighwayMixtureNetwork:
        gates = [values[f"scorer/first/gate_{part}"] for part in (0, 1)]
        weights["W_g"] = np.concatenate(gates).T
    generator = np.random.default_rng(2)
    encoding = generator.normal(size=(2, 5, 2 * UNITS))
    prepared = network.prepare(encoding)
    for start, end in ((0, 4), (3, 1)):
        hidden = generator.normal(size=(2, UNITS))
        scores = network.scores(prepared, hidden, encoding[:, start], encoding[:, end])
        for row in range(2):
            expected = [
                NETWORKS[cls](weights, word, hidden[row], encoding[row, start], encoding[row, end])
                for word in encoding[row]
            ]
            np.testing.assert_allclose(scores[row], expected, **EXACT)


@pytest.mark.parametrize("cls", NETWORKS)
def test_the_equations_and_what_is_prepared_have_the_same_values_and_gradients(cls):
    network = cls(UNITS, 3, dtype="float64")
    network.build((None, None, 2 * UNITS))
    randomise(network)
    generator = np.random.default_rng(2)
    encoding = tf.constant(generator.normal(size=(2, 5, 2 * UNITS)))
    hidden, start, end = (
        tf.constant(generator.normal(size=(2, size))) for size in (UNITS, 2 * UNITS, 2 * UNITS)
    )
    upstream = tf.constant(generator.normal(size=(2, 5)))
    sources = [encoding, hidden, start, end, *(weight.value for weight in network.weights)]
    results = []
    for prepared in (False, True):
        with tf.GradientTape() as tape:
            tape.watch(sources)
            first = network.prepare(encoding) if prepared else encoding
            score = network.scores if prepared else network
            scores = score(first, hidden, start, end)
        results.append([scores, *tape.gradient(scores, sources, output_gradients=upstream)])
    for plain, fast in zip(*results, strict=True):
        np.testing.assert_allclose(fast, plain, **EXACT)


@pytest.mark.parametrize("cls", [Maxout, MixtureOfExperts, *NETWORKS])
def test_a_configuration_gives_the_layer_back(cls):
    layer = cls(UNITS, 3, dtype="mixed_float16", name="renamed")
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert type(copy) is cls
    assert copy.get_config() == layer.get_config()
    assert (copy.units, copy.pool_size, copy.compute_dtype) == (UNITS, 3, "float16")


@pytest.mark.parametrize("cls", NETWORKS)
def test_half_precision_reaches_every_layer(cls):
    network = cls(UNITS, 3, dtype="mixed_float16")
    network.build((None, None, 2 * UNITS))
    encoding = np.ones((1, 2, 2 * UNITS), "float16")
    vector = encoding[:, 0]
    scores = network.scores(network.prepare(encoding), vector[:, :UNITS], vector, vector)
    assert scores.dtype == "float16"
    assert {weight.dtype for weight in network.weights} == {"float32"}
