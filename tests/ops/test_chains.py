"""Forward-backward of chains, against the enumeration of all sequences of states."""

import numpy as np
import pytest
import tensorflow as tf

from tests.references.structured import enumerate_chain
from zoo.ops.chains import (
    chain_log_marginals,
    chain_log_partition,
    chain_marginals,
    chain_pair_marginals,
)
from zoo.ops.masking import MASKED_SCORE

LENGTHS = np.array([5, 3, 2, 1, 0], "int32")
BATCH, LENGTH = len(LENGTHS), int(LENGTHS.max())
REAL = np.arange(LENGTH) < LENGTHS[:, None]
EXACT = {"rtol": 0.0, "atol": 1e-10}
ROUNDING = {"rtol": 1e-12, "atol": 1e-14}
STATES = (2, 3)
each_kind = pytest.mark.parametrize("own", [False, True], ids=["shared", "per position"])
each_count = pytest.mark.parametrize("states", STATES)


def potentials(states, own, seed=1, scale=2.0, garbage=1e3):
    """Unary and pairwise scores; garbage stands where one of a pair's positions is padding."""
    generator = np.random.default_rng(seed)
    unary = generator.normal(0.0, scale, (BATCH, LENGTH, states))
    unary[~REAL] *= garbage
    if not own:
        return unary, generator.normal(0.0, scale, (states, states))
    pairwise = generator.normal(0.0, scale, (BATCH, LENGTH - 1, states, states))
    pairwise[~REAL[:, 1:]] *= garbage
    return unary, pairwise


def expected(unary, pairwise):
    """Marginals, pair marginals and log Z of each chain at its own length, padded with zeros."""
    states = unary.shape[-1]
    marginals, joint = np.zeros(unary.shape), np.zeros((BATCH, LENGTH - 1, states, states))
    log_partition = np.zeros(BATCH)
    for row, length in enumerate(LENGTHS):
        if length == 0:
            continue
        pairs = pairwise if pairwise.ndim == 2 else pairwise[row, : length - 1]
        found = enumerate_chain(unary[row, :length], pairs)
        marginals[row, :length], joint[row, : length - 1], log_partition[row] = found
    return marginals, joint, log_partition


def gradients(function, *inputs):
    tensors = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        total = tf.reduce_sum(function(*tensors))
    return [tf.convert_to_tensor(x).numpy() for x in tape.gradient(total, tensors)]


@each_count
@each_kind
def test_marginals_and_log_partition_are_those_of_the_enumeration(states, own):
    unary, pairwise = potentials(states, own)
    marginals, joint, log_partition = expected(unary, pairwise)
    found = chain_marginals(unary, pairwise, LENGTHS)
    np.testing.assert_allclose(found, marginals, **EXACT)
    assert not found.numpy()[~REAL].any()
    logs = chain_log_marginals(unary, pairwise, LENGTHS).numpy()
    np.testing.assert_allclose(np.exp(logs), marginals, **EXACT)
    assert (logs[~REAL] == MASKED_SCORE).all()
    np.testing.assert_allclose(chain_pair_marginals(unary, pairwise, LENGTHS), joint, **EXACT)
    found = chain_log_partition(unary, pairwise, LENGTHS)
    np.testing.assert_allclose(found, log_partition, **EXACT)


@each_count
@each_kind
def test_marginals_are_the_derivatives_of_the_log_partition(states, own):
    unary, pairwise = potentials(states, own)
    marginals, joint, _ = expected(unary, pairwise)
    into_unary, into_pairwise = gradients(
        lambda *scores: chain_log_partition(*scores, LENGTHS), unary, pairwise
    )
    np.testing.assert_allclose(into_unary, marginals, **EXACT)
    wanted = joint if own else joint.sum(axis=(0, 1))
    np.testing.assert_allclose(into_pairwise, wanted, **EXACT)


@each_kind
def test_gradients_of_marginals_are_finite_differences(own):
    unary, pairwise = potentials(3, own, garbage=1.0)
    upstream = np.random.default_rng(4).normal(size=unary.shape)

    def loss(*scores):
        return tf.reduce_sum(upstream * chain_marginals(*scores, LENGTHS))

    found = gradients(loss, unary, pairwise)
    assert not found[0][~REAL].any()
    for which, scores in enumerate((unary, pairwise)):
        direction = np.random.default_rng(5).normal(size=scores.shape)
        ends = []
        for step in (1e-5, -1e-5):
            inputs = [unary, pairwise]
            inputs[which] = scores + step * direction
            ends.append(loss(*inputs).numpy())
        slope = np.sum(found[which] * direction)
        np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-5, rtol=1e-7, atol=1e-9)


def test_a_second_order_gradient_of_the_log_partition_is_the_gradient_of_the_marginals():
    unary, pairwise = potentials(2, own=False)
    upstream = np.random.default_rng(4).normal(size=unary.shape)

    def derivative(unary, pairwise):
        with tf.GradientTape() as tape:
            tape.watch(unary)
            total = tf.reduce_sum(chain_log_partition(unary, pairwise, LENGTHS))
        return upstream * tape.gradient(total, unary)

    twice = gradients(derivative, unary, pairwise)
    once = gradients(lambda *scores: upstream * chain_marginals(*scores, LENGTHS), unary, pairwise)
    for first, second in zip(once, twice, strict=True):
        np.testing.assert_allclose(second, first, **EXACT)


def test_a_chain_alone_is_that_in_a_padded_batch():
    unary, pairwise = potentials(3, own=True)
    whole = chain_marginals(unary, pairwise, LENGTHS).numpy()
    for row, length in enumerate(LENGTHS[:-1]):
        alone = chain_marginals(
            unary[row : row + 1, :length], pairwise[row : row + 1, : length - 1]
        )
        np.testing.assert_allclose(alone[0], whole[row, :length], **ROUNDING)


def test_without_pairwise_scores_positions_are_independent():
    unary, pairwise = potentials(2, own=False)
    found = chain_marginals(unary, 0.0 * pairwise, LENGTHS).numpy()[:, :, 1]
    sigmoids = 1 / (1 + np.exp(unary[:, :, 0] - unary[:, :, 1]))
    np.testing.assert_allclose(found[REAL], sigmoids[REAL], **EXACT)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scores_of_size_1e4_are_finite_and_so_are_their_gradients(dtype):
    unary, pairwise = (x.astype(dtype) for x in potentials(3, own=False, scale=1e4, garbage=1.0))
    marginals, _, log_partition = expected(unary.astype("float64"), pairwise.astype("float64"))
    tolerance = {"rtol": 1e-6, "atol": 1e-2 if dtype == "float32" else 1e-6}
    np.testing.assert_allclose(chain_marginals(unary, pairwise, LENGTHS), marginals, **tolerance)
    found = chain_log_partition(unary, pairwise, LENGTHS)
    np.testing.assert_allclose(found, log_partition, **tolerance)
    upstream = np.random.default_rng(4).normal(size=unary.shape).astype(dtype)
    found = gradients(lambda *x: upstream * chain_marginals(*x, LENGTHS), unary, pairwise)
    assert all(np.isfinite(x).all() for x in found)


def test_logs_of_marginals_are_finite_where_marginals_underflow():
    unary = np.array([[[0.0, -2e3], [0.0, -1e3]]])
    pairwise = np.zeros((2, 2))
    assert not chain_marginals(unary, pairwise).numpy()[:, :, 1].any()
    found = chain_log_marginals(unary, pairwise)
    np.testing.assert_allclose(found[:, :, 1], [[-2e3, -1e3]], rtol=1e-12)


def test_impossible_transitions_get_no_probability():
    unary, pairwise = potentials(3, own=False)
    pairwise[0, 1] = MASKED_SCORE
    found = chain_pair_marginals(unary, pairwise, LENGTHS).numpy()
    assert not found[:, :, 0, 1].any()
    np.testing.assert_allclose(found.sum(axis=(2, 3)), REAL[:, 1:], **EXACT)


def test_half_precision_is_computed_in_single_precision():
    unary, pairwise = (x.astype("float16") for x in potentials(2, own=False, garbage=1.0))
    found = chain_marginals(unary, pairwise, LENGTHS)
    assert found.dtype == "float32"
    wanted = chain_marginals(unary.astype("float32"), pairwise.astype("float32"), LENGTHS)
    np.testing.assert_array_equal(found, wanted)


def test_a_graph_of_any_length_gives_the_same_values_and_gradients():
    shapes = ((None, None, 3), (None, None, 3, 3), (None,))
    types = ("float64", "float64", "int32")

    @tf.function(
        input_signature=[tf.TensorSpec(*x) for x in zip(shapes, types, strict=True)],
        autograph=False,
    )
    def run(unary, pairwise, lengths):
        with tf.GradientTape() as tape:
            tape.watch([unary, pairwise])
            marginals = chain_marginals(unary, pairwise, lengths)
            total = tf.reduce_sum(marginals**2)
        return marginals, tape.gradient(total, [unary, pairwise])

    unary, pairwise = potentials(3, own=True)
    eager = gradients(lambda *x: chain_marginals(*x, LENGTHS) ** 2, unary, pairwise)
    marginals, graph = run(unary, pairwise, LENGTHS)
    np.testing.assert_allclose(marginals, chain_marginals(unary, pairwise, LENGTHS), **EXACT)
    for first, second in zip(eager, graph, strict=True):
        np.testing.assert_allclose(second, first, **EXACT)
    marginals, _ = run(unary[:, :2], pairwise[:, :1], np.minimum(LENGTHS, 2))
    wanted = chain_marginals(unary[:, :2], pairwise[:, :1], np.minimum(LENGTHS, 2))
    np.testing.assert_allclose(marginals, wanted, **EXACT)


@pytest.mark.parametrize(
    ("unary", "pairwise", "message"),
    [
        ((2, 3), (3, 3), "unary must have the shape"),
        ((2, 4, 3), (2, 2), "pairwise must have the shape"),
        ((2, 4, 3), (2, 4, 3, 3), "pairwise must have the shape"),
        ((2, 4, 3), (3, 3, 3), "pairwise must have the shape"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(unary, pairwise, message):
    with pytest.raises(ValueError, match=message):
        chain_marginals(np.zeros(unary), np.zeros(pairwise))


@each_kind
@pytest.mark.parametrize("static", [True, False])
def test_chains_may_have_no_positions(static, own):
    unary = tf.zeros((2, 0, 3), "float64")
    pairwise = tf.zeros((2, 0, 3, 3) if own else (3, 3), "float64")

    def compute(unary):
        found = chain_marginals(unary, pairwise), chain_log_marginals(unary, pairwise)
        pairs = chain_pair_marginals(unary, pairwise)
        return (*found, pairs, chain_log_partition(unary, pairwise))

    if not static:
        compute = tf.function(compute, [tf.TensorSpec((None, None, 3), "float64")])
    marginals, logs, pairs, totals = compute(unary)
    assert marginals.shape == logs.shape == (2, 0, 3)
    assert pairs.shape == (2, 0, 3, 3)
    assert totals.numpy().tolist() == [0.0, 0.0]


IMPOSSIBLE = ([LENGTH + 1, 3], [3, -1])
COMPUTED = {
    "marginals": chain_marginals,
    "log marginals": chain_log_marginals,
    "pairs": chain_pair_marginals,
    "log partition": chain_log_partition,
}


@pytest.mark.parametrize("compute", COMPUTED.values(), ids=COMPUTED)
def test_impossible_lengths_are_not_believed(compute):
    unary, pairwise = potentials(2, own=False)
    unary = tf.constant(unary[:2])
    for lengths in IMPOSSIBLE:
        with pytest.raises(ValueError, match=rf"lengths must be from 0 to the {LENGTH} positions"):
            compute(unary, pairwise, tf.constant(lengths))
        found = tf.function(lambda given: compute(unary, pairwise, given))(tf.constant(lengths))
        right = lengths.index(3)
        assert np.isnan(found[1 - right]).all()
        expected = compute(unary, pairwise, tf.constant([3, 3]))[right]
        np.testing.assert_allclose(found[right], expected, **EXACT)
    with pytest.raises(
        ValueError, match=r"lengths must be whole numbers of shape \(2,\), got bool"
    ):
        compute(unary, pairwise, tf.ones((2, LENGTH), "bool"))
