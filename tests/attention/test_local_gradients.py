"""Local attention in training and in graphs: gradients, half precision, cost."""

import numpy as np
import pytest
import tensorflow as tf

from tests.attention.local import (
    DIM,
    LENGTHS,
    MASK,
    SOURCE,
    STEPS,
    TARGET,
    each_option,
    make,
    run,
    sentences,
)
from tests.attention.scoring import EXACT
from zoo.ops.windows import scatter_window


def gradients(layer, queries, values):
    tensors = [tf.constant(x, layer.compute_dtype) for x in (queries, values)]
    variables = [weight.value for weight in layer.trainable_weights]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        output, _ = run(layer, *tensors)
        total = tf.reduce_sum(tf.square(tf.cast(output.context, "float64")))
    found = tape.gradient(total, [*tensors, *variables])
    return total, [tf.convert_to_tensor(gradient).numpy() for gradient in found]


@each_option
def test_gradients_are_finite_and_do_not_see_padding(options):
    layer = make(**options)
    _, found = gradients(layer, *sentences())
    _, clean = gradients(layer, *sentences(garbage=0.0))
    for gradient, expected in zip(found, clean, strict=True):
        assert np.isfinite(gradient).all()
        assert gradient.any()
        np.testing.assert_allclose(gradient, expected, **EXACT)
    assert not found[1][~MASK].any()


@each_option
def test_gradients_of_the_weights_are_slopes(options):
    layer, (queries, values) = make(**options), sentences(garbage=1.0)
    _, found = gradients(layer, queries, values)
    generator, step = np.random.default_rng(6), 1e-6
    for weight, gradient in zip(layer.trainable_weights, found[2:], strict=True):
        value, way = weight.numpy(), generator.normal(size=weight.shape)
        ends = []
        for sign in (1.0, -1.0):
            weight.assign(value + sign * step * way)
            ends.append(gradients(layer, queries, values)[0].numpy())
        weight.assign(value)
        slope = (ends[0] - ends[1]) / (2.0 * step)
        np.testing.assert_allclose(np.sum(gradient * way), slope, rtol=1e-6, atol=1e-8)


@each_option
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_is_finite_and_near(options, policy):
    half, single = (make(dtype=dtype, **options) for dtype in (policy, "float32"))
    queries, values = (x.astype("float32") for x in sentences(garbage=1.0))
    actual, _ = run(half, queries.astype("float16"), values.astype("float16"))
    assert actual.context.dtype == actual.window_weights.dtype == half.compute_dtype
    assert actual.positions.dtype == "float32"
    expected, _ = run(single, queries, values)
    np.testing.assert_allclose(actual.positions, expected.positions, atol=0.15)
    _, found = gradients(half, queries, values)
    assert all(np.isfinite(gradient).all() for gradient in found)


def test_far_positions_are_exact_in_half_precision():
    layer = make("dot", dtype="mixed_float16", predictive=False)
    values = np.ones((1, 3000, DIM), "float16")
    output, _ = run(layer, np.ones((1, 1, DIM), "float16"), values, [3000], np.array([2999]))
    assert output.positions.numpy().tolist() == [[2999.0]]


@each_option
def test_one_graph_serves_every_size(options):
    layer, (queries, values) = make(**options), sentences()

    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None, DIM), tf.float64),
            tf.TensorSpec((None, None, DIM), tf.float64),
            tf.TensorSpec((None,), tf.int32),
            tf.TensorSpec((None,), tf.int32),
        ],
        autograph=False,
    )
    def graph(queries, values, lengths, steps):
        given = None if layer.predictive else steps
        output = layer(queries, layer.prepare(values), values, lengths, given)
        return *output, scatter_window(*output[1:3], tf.shape(values)[1])

    for rows, steps, length in ((4, TARGET, SOURCE), (1, 1, 3), (2, 2, 1)):
        lengths = np.minimum(LENGTHS[:rows], length).astype("int32")
        inputs = queries[:rows, :steps], values[:rows, :length]
        output, whole = run(layer, *inputs, lengths, STEPS[:steps])
        found = graph(*inputs, lengths, STEPS[:steps])
        for actual, expected in zip(found, (*output, whole), strict=True):
            np.testing.assert_allclose(actual, expected, **EXACT)
    nothing = graph(queries[:0], values[:0], np.zeros(0, "int32"), STEPS)
    assert [len(x) for x in nothing] == [0] * len(nothing)


@each_option
def test_no_tensor_of_a_step_is_as_long_as_the_source(options):
    """Only the flat view of the source is: the cost of a step does not depend on its length."""
    layer, length = make(**options), 997

    @tf.function(autograph=False)
    def graph(queries, prepared, values, lengths):
        return layer(queries, prepared, values, lengths, None if layer.predictive else STEPS[:1])

    values = tf.zeros((2, length, DIM), tf.float64)
    traced = graph.get_concrete_function(
        tf.zeros((2, 1, DIM), tf.float64), layer.prepare(values), values, tf.constant([997, 5])
    )
    inputs = {tensor.name for tensor in traced.inputs}
    long = {
        operation.type
        for operation in traced.graph.get_operations()
        for tensor in operation.outputs
        if tensor.name not in inputs and (tensor.shape.num_elements() or 0) >= length
    }
    assert long == {"Reshape"}
