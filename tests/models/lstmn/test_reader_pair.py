"""Two readers and their fusion: what shuts it, what it sees, which cells there are."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.models.lstmn.reader_pair import ReaderPair

N, D = 3, 4
GENERATOR = np.random.default_rng(0)
FIRST, SECOND = (GENERATOR.normal(size=(2, t, D)).astype("float32") for t in (5, 4))
FIRST_MASK = np.arange(5) < np.array([[5], [2]])
SECOND_MASK = np.arange(4) < np.array([[3], [4]])


def make(fusion, *, share_cells=True, **options):
    pair = ReaderPair(N, fusion, share_cells, **options)
    pair.build((None, None, D))
    generator = np.random.default_rng(1)
    for weight in pair.weights:
        weight.assign(generator.normal(size=weight.shape))
    return pair


def read(pair, first=FIRST, second=SECOND):
    tensors = (tf.constant(x) for x in (first, FIRST_MASK, second, SECOND_MASK))
    return pair(*tensors)


def test_deep_fusion_with_its_gate_shut_is_the_plain_reader():
    pair = make("deep")
    states = read(pair)
    tape = pair.first_tape(states.first, tf.constant(FIRST_MASK))
    plain = pair.second(tf.constant(SECOND), tf.constant(SECOND_MASK), tape=tape)
    assert np.abs(states.features - plain.hidden).max() > 1e-3
    for weight in (pair.fuse.gate_kernel, pair.fuse.gate_summary_kernel):
        weight.assign(tf.zeros_like(weight))
    pair.fuse.gate_bias.assign(np.full(N, -1e3))
    states = read(pair)
    np.testing.assert_allclose(states.features, plain.hidden, rtol=1e-6)
    np.testing.assert_allclose(states.second.weights, plain.weights, rtol=1e-6)


@pytest.mark.parametrize("fusion", ["shallow", "deep"])
def test_weights_are_a_distribution_over_the_real_words_of_the_first_text(fusion):
    weights = read(make(fusion)).weights.numpy()
    np.testing.assert_allclose(weights.sum(axis=-1), SECOND_MASK, atol=1e-6)
    assert not weights[1, :, 2:].any()


@pytest.mark.parametrize("fusion", ["none", "shallow", "deep"])
def test_only_fusion_sees_the_first_text(fusion):
    pair = make(fusion)
    other = FIRST.copy()
    other[:, 0] += 1.0
    difference = np.abs(read(pair).features - read(pair, other).features)
    assert (difference.max() > 1e-4) == (fusion != "none")
    garbage = np.where(FIRST_MASK[:, :, None], FIRST, 1e3).astype("float32")
    np.testing.assert_array_equal(read(pair).features, read(pair, garbage).features)


@pytest.mark.parametrize("fusion", ["none", "shallow", "deep"])
def test_two_cells_with_the_same_weights_are_a_shared_one(fusion):
    shared, two = make(fusion), make(fusion, share_cells=False)
    assert len(two.weights) == len(shared.weights) + 7
    two.first.set_weights(shared.first.get_weights())
    two.second.set_weights(shared.first.get_weights())
    if shared.fuse is not None:
        two.fuse.set_weights(shared.fuse.get_weights())
    np.testing.assert_array_equal(read(two).features, read(shared).features)
    two.second.bias.assign_add(np.ones(4 * N))
    assert np.abs(read(two).features - read(shared).features).max() > 1e-3


@pytest.mark.parametrize("fusion", ["none", "shallow"])
def test_without_deep_fusion_the_second_tape_begins_with_the_zero_state(fusion):
    pair = make(fusion)
    states = read(pair)
    alone = pair.second(tf.constant(SECOND), tf.constant(SECOND_MASK))
    np.testing.assert_array_equal(states.second.hidden, alone.hidden)
