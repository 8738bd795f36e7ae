"""Inside-outside of projective trees, against the enumeration of all trees."""

import numpy as np
import pytest
import tensorflow as tf

from tests.references.structured import enumerate_trees, projective_trees
from zoo.ops.trees import tree_log_partition, tree_marginals

LENGTHS = np.array([6, 4, 3, 2, 1, 0], "int32")  # with the root
BATCH, SIZE = len(LENGTHS), int(LENGTHS.max())
REAL = np.arange(SIZE) < LENGTHS[:, None]
EXACT = {"rtol": 0.0, "atol": 1e-10}
ROUNDING = {"rtol": 1e-12, "atol": 1e-14}
each_root = pytest.mark.parametrize("multi_root", [True, False], ids=["several", "one"])


def arcs(seed=1, scale=2.0, garbage=1e3):
    """Scores of all arcs; garbage multiplies those from and to padding."""
    scores = np.random.default_rng(seed).normal(0.0, scale, (BATCH, SIZE, SIZE))
    scores[~(REAL[:, :, None] & REAL[:, None])] *= garbage
    return scores


def expected(scores, multi_root):
    """Marginals and log Z of each sentence at its own length, padded with zeros."""
    marginals, log_partition = np.zeros(scores.shape), np.zeros(BATCH)
    for row, length in enumerate(LENGTHS):
        if length > 1:
            found = enumerate_trees(scores[row, :length, :length], multi_root)
            marginals[row, :length, :length], log_partition[row] = found
    return marginals, log_partition


def gradient(function, scores):
    tensor = tf.constant(scores)
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        total = tf.reduce_sum(function(tensor))
    return tf.convert_to_tensor(tape.gradient(total, tensor)).numpy()


@pytest.mark.parametrize(
    ("words", "several", "one"), [(1, 1, 1), (2, 3, 2), (3, 12, 7), (4, 55, 30), (5, 273, 143)]
)
def test_as_many_trees_are_counted_as_there_are(words, several, one):
    for multi_root, count in ((True, several), (False, one)):
        assert len(projective_trees(words, multi_root)) == count
        scores = np.zeros((1, words + 1, words + 1))
        found = tree_log_partition(scores, multi_root=multi_root)
        np.testing.assert_allclose(np.exp(found), count, rtol=1e-12)


@each_root
def test_marginals_and_log_partition_are_those_of_the_enumeration(multi_root):
    scores = arcs()
    marginals, log_partition = expected(scores, multi_root)
    found = tree_marginals(scores, LENGTHS, multi_root).numpy()
    np.testing.assert_allclose(found, marginals, **EXACT)
    assert not found[~(REAL[:, :, None] & REAL[:, None])].any()
    assert not found[:, :, 0].any()
    heads = found.sum(axis=1)[:, 1:]
    np.testing.assert_allclose(heads, REAL[:, 1:], **EXACT)  # one head for each real word
    found = tree_log_partition(scores, LENGTHS, multi_root)
    np.testing.assert_allclose(found, log_partition, **EXACT)


@each_root
def test_marginals_are_the_derivatives_of_the_log_partition(multi_root):
    scores = arcs()
    found = gradient(lambda x: tree_log_partition(x, LENGTHS, multi_root), scores)
    np.testing.assert_allclose(found, expected(scores, multi_root)[0], **EXACT)


@each_root
def test_gradients_of_marginals_are_finite_differences(multi_root):
    scores = arcs(garbage=1.0)
    upstream = np.random.default_rng(4).normal(size=scores.shape)

    def loss(scores):
        return tf.reduce_sum(upstream * tree_marginals(scores, LENGTHS, multi_root))

    found = gradient(loss, scores)
    assert not found[~(REAL[:, :, None] & REAL[:, None])].any()
    for seed in range(3):
        direction = np.random.default_rng(seed).normal(size=scores.shape)
        high, low = (loss(scores + step * direction).numpy() for step in (1e-5, -1e-5))
        slope = np.sum(found * direction)
        np.testing.assert_allclose(slope, (high - low) / 2e-5, rtol=1e-7, atol=1e-9)


@each_root
def test_a_second_order_gradient_of_the_log_partition_is_the_gradient_of_the_marginals(multi_root):
    scores = arcs()
    upstream = np.random.default_rng(4).normal(size=scores.shape)

    def derivative(scores):
        with tf.GradientTape() as tape:
            tape.watch(scores)
            total = tf.reduce_sum(tree_log_partition(scores, LENGTHS, multi_root))
        return upstream * tape.gradient(total, scores)

    once = gradient(lambda x: upstream * tree_marginals(x, LENGTHS, multi_root), scores)
    np.testing.assert_allclose(gradient(derivative, scores), once, **EXACT)


@each_root
def test_a_third_order_gradient_is_that_of_the_log_partition(multi_root):
    scores = arcs(garbage=1.0)[:4]
    lengths, upstream = LENGTHS[:4], np.random.default_rng(4).normal(size=scores.shape)

    def differentiate(function):
        def derivative(scores):
            with tf.GradientTape() as tape:
                tape.watch(scores)
                total = tf.reduce_sum(upstream * function(scores))
            return tf.convert_to_tensor(tape.gradient(total, scores))

        return derivative

    def marginals(scores):
        with tf.GradientTape() as tape:
            tape.watch(scores)
            total = tf.reduce_sum(tree_log_partition(scores, lengths, multi_root))
        return tape.gradient(total, scores)

    wanted = differentiate(differentiate(marginals))(tf.constant(scores))
    fast = differentiate(lambda scores: tree_marginals(scores, lengths, multi_root))
    np.testing.assert_allclose(gradient(lambda x: upstream * fast(x), scores), wanted, **EXACT)


def test_the_gradient_keeps_no_step_of_the_loops():
    """Automatic differentiation keeps all spans of every width, and takes five times as long."""

    def kept(function):
        def differentiate(scores):
            with tf.GradientTape() as tape:
                tape.watch(scores)
                total = tf.reduce_sum(function(scores))
            return tape.gradient(total, scores)

        spec = tf.TensorSpec((2, 5, 5), "float32")
        graph = tf.function(differentiate, autograph=False).get_concrete_function(spec).graph
        bodies = (f.node_def for f in graph.as_graph_def().library.function)
        return sum(node.op == "TensorListPushBack" for body in bodies for node in body)

    assert kept(lambda scores: tree_marginals(scores) ** 2) == 0
    assert kept(tree_log_partition) > 0  # the count finds what is kept


@each_root
def test_a_sentence_alone_is_that_in_a_padded_batch(multi_root):
    scores = arcs()
    whole = tree_marginals(scores, LENGTHS, multi_root).numpy()
    for row, length in enumerate(LENGTHS[:-1]):
        alone = tree_marginals(scores[row : row + 1, :length, :length], multi_root=multi_root)
        np.testing.assert_allclose(alone[0], whole[row, :length, :length], **ROUNDING)


@each_root
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scores_of_size_1e4_are_finite_and_so_are_their_gradients(dtype, multi_root):
    scores = arcs(scale=1e4, garbage=1.0).astype(dtype)
    marginals, log_partition = expected(scores.astype("float64"), multi_root)
    tolerance = {"rtol": 1e-6, "atol": 1e-2 if dtype == "float32" else 1e-6}
    found = tree_marginals(scores, LENGTHS, multi_root)
    np.testing.assert_allclose(found, marginals, **tolerance)
    found = tree_log_partition(scores, LENGTHS, multi_root)
    np.testing.assert_allclose(found, log_partition, **tolerance)
    upstream = np.random.default_rng(4).normal(size=scores.shape).astype(dtype)
    found = gradient(lambda x: upstream * tree_marginals(x, LENGTHS, multi_root), scores)
    assert np.isfinite(found).all()


def test_half_precision_is_computed_in_single_precision():
    scores = arcs(garbage=1.0).astype("float16")
    found = tree_marginals(scores, LENGTHS)
    assert found.dtype == "float32"
    np.testing.assert_array_equal(found, tree_marginals(scores.astype("float32"), LENGTHS))


def test_a_graph_of_any_length_gives_the_same_values_and_gradients():
    signature = [tf.TensorSpec((None, None, None), "float64"), tf.TensorSpec((None,), "int32")]

    @tf.function(input_signature=signature, autograph=False)
    def run(scores, lengths):
        with tf.GradientTape() as tape:
            tape.watch(scores)
            marginals = tree_marginals(scores, lengths)
            total = tf.reduce_sum(marginals**2)
        return marginals, tape.gradient(total, scores)

    scores = arcs()
    marginals, found = run(scores, LENGTHS)
    np.testing.assert_allclose(marginals, tree_marginals(scores, LENGTHS), **EXACT)
    eager = gradient(lambda x: tree_marginals(x, LENGTHS) ** 2, scores)
    np.testing.assert_allclose(found, eager, **EXACT)
    short = np.minimum(LENGTHS, 2)
    wanted = tree_marginals(scores[:, :2, :2], short)
    np.testing.assert_allclose(run(scores[:, :2, :2], short)[0], wanted, **EXACT)


@each_root
@pytest.mark.parametrize("size", [1, None])
def test_a_graph_of_the_root_alone_has_no_arc(size, multi_root):
    def run(scores):
        with tf.GradientTape() as tape:
            tape.watch(scores)
            total = tf.reduce_sum(tree_marginals(scores, multi_root=multi_root) ** 2)
        marginals = tree_marginals(scores, multi_root=multi_root)
        log_partition = tree_log_partition(scores, multi_root=multi_root)
        return marginals, tape.gradient(total, scores), log_partition

    spec = tf.TensorSpec((None, size, size), "float64")
    found = tf.function(run, input_signature=[spec], autograph=False)(np.full((3, 1, 1), 7.0))
    for values, shape in zip(found, [(3, 1, 1), (3, 1, 1), (3,)], strict=True):
        np.testing.assert_array_equal(values, np.zeros(shape), strict=True)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 4)])
def test_scores_that_are_no_matrices_are_refused(shape):
    with pytest.raises(ValueError, match="scores must have the shape"):
        tree_marginals(np.zeros(shape))


@pytest.mark.parametrize("function", [tree_marginals, tree_log_partition])
def test_graphs_for_xla_are_refused_by_name(function):
    scores = tf.zeros((2, 4, 4))
    compiled = tf.function(function, jit_compile=True, autograph=False)
    with pytest.raises(ValueError, match="trees must be compiled with jit_compile=False, got a"):
        compiled(scores)
    graph = tf.function(function, jit_compile=False, autograph=False)
    np.testing.assert_allclose(graph(scores), function(scores), rtol=1e-6)


@pytest.mark.parametrize("compute", [tree_marginals, tree_log_partition])
def test_impossible_lengths_are_not_believed(compute):
    scores = tf.constant(np.random.default_rng(1).normal(size=(2, 4, 4)))
    for lengths in ([5, 3], [3, -1]):
        with pytest.raises(ValueError, match="lengths must be from 0 to the 4 positions"):
            compute(scores, tf.constant(lengths))
        found = tf.function(lambda given: compute(scores, given))(tf.constant(lengths))
        right = lengths.index(3)
        assert np.isnan(found[1 - right]).any()
        expected = compute(scores, tf.constant([3, 3]))[right]
        np.testing.assert_allclose(found[right], expected, rtol=0.0, atol=1e-10)
