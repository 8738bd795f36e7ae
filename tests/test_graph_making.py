"""Graphs that are made with less work are the same operation for operation."""

import tensorflow as tf
from tensorflow.python.framework import ops

from tests.graph_making import make_graphs_faster


def trace(wanted: bool) -> list[tuple]:
    """Traces the gradient of a loop and of a function, on two devices; lists all operations."""
    make_graphs_faster(wanted)
    try:
        weight = tf.Variable([[0.5, -0.5], [0.25, 1.0]])

        @tf.function
        def double(values):
            with tf.device("CPU:1"):
                return 2.0 * tf.matmul(values, weight)

        @tf.function
        def step(values):
            with tf.GradientTape() as tape, tf.name_scope("forward"):
                looped = tf.while_loop(
                    lambda number, _: number < 3,
                    lambda number, state: (number + 1, tf.tanh(state @ weight)),
                    (0, values),
                )[1]
                with tf.device("CPU:2"):
                    loss = tf.reduce_sum(double(looped) ** 2)
            (gradient,) = tape.gradient(loss, [weight])
            weight.assign_sub(gradient)
            return loss

        graph = step.get_concrete_function(tf.TensorSpec([None, 2])).graph
    finally:
        make_graphs_faster(True)  # as in every other test
    return [
        (
            operation.name,
            operation.type,
            operation.device,
            [value.name for value in operation.inputs],
            {other.name for other in operation.control_inputs},
            [value.shape.as_list() for value in operation.outputs if value.shape.rank is not None],
        )
        for operation in graph.get_operations()
    ]


def test_the_graphs_are_the_same() -> None:
    expected = trace(wanted=False)
    assert any(kind == "While" for _, kind, *_ in expected)
    assert trace(wanted=True) == expected


def test_a_graph_that_is_left_is_left() -> None:
    outer, seen = ops.get_default_graph(), []

    @tf.function
    def look() -> None:
        graph = ops.get_default_graph()
        with graph.as_default() as same:
            seen.append(same is graph)
        seen.append(ops.get_default_graph() is graph)

    look.get_concrete_function()
    assert seen == [True, True]
    assert ops.get_default_graph() is outer
    assert tf.executing_eagerly()
