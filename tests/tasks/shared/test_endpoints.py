"""Batch sizes are checked, eagerly and in a graph, before anything else could fail."""

import pytest
import tensorflow as tf

from zoo.tasks.shared.endpoints import same_batch


@tf.function(
    input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None, None], tf.string)],
    autograph=False,
)
def graph(one, two):
    return same_batch(one=one, two=two)


def eager(one, two):
    return same_batch(one=one, two=two)


@pytest.mark.parametrize("check", [graph, eager])
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_inputs_of_one_size_come_back(check, rows):
    one, two = tf.fill([rows], "a"), tf.fill([rows, 2], "b")
    for actual, expected in zip(check(one, two), (one, two), strict=True):
        assert actual.numpy().tolist() == expected.numpy().tolist()


@pytest.mark.parametrize("check", [graph, eager])
@pytest.mark.parametrize("rows", [(0, 1), (1, 0), (2, 3)])
def test_inputs_of_different_sizes_are_an_error_that_names_them(check, rows):
    with pytest.raises(tf.errors.InvalidArgumentError, match="one and two must have the same"):
        check(tf.fill(rows[:1], "a"), tf.fill((rows[1], 2), "b"))
