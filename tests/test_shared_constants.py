"""Integer constants are made once a graph, and stay apart where that would change anything."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.shared_constants import share_constants


def count(make: Callable[[], Any], wanted: bool) -> int:
    """Counts the constants that `make` leaves in a graph."""
    share_constants(wanted)
    try:
        with tf.Graph().as_default() as graph:
            make()
    finally:
        share_constants(True)  # as in every test without a marker
    return [operation.type for operation in graph.get_operations()].count("Const")


def slice_twice() -> None:
    values = tf.zeros([3, 4])
    assert values[:, 1:2].shape == values[:, 1:2].shape == (3, 1)


def test_the_bounds_of_equal_slices_are_the_same_constants() -> None:
    assert count(slice_twice, wanted=True) == 1 + 3
    assert count(slice_twice, wanted=False) == 1 + 2 * 3


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, 2),
        (1, [1]),
        (1, 1.0),
        (1, True),
        (1, np.int64(1)),
        ([1, 0], np.array([1, 0])),
        (np.array([1, 0], "int32"), np.array([[1, 0]], "int32")),
        (1.5, 1.5),
        (np.array([1, 0], "int32"), np.array([1, 0], "int32")),
    ],
    ids=str,
)
def test_others_stay_apart(first: Any, second: Any) -> None:
    assert count(lambda: (tf.constant(first), tf.constant(second)), wanted=True) == 2


def test_a_type_or_a_shape_of_its_own_makes_another_constant() -> None:
    def make() -> None:
        for _ in range(2):
            assert tf.constant(3).dtype == tf.int32
            assert tf.constant(3, tf.int64).dtype == tf.int64
            assert tf.constant(3, shape=(2,)).shape == (2,)
            assert tf.constant(3, tf.float32).dtype == tf.float32

    assert count(make, wanted=True) == 3 + 2


def test_each_device_and_each_graph_has_its_own(logical_cpus: list[str]) -> None:
    def make() -> None:
        for device in 2 * logical_cpus[:2]:
            with tf.device(device):
                assert tf.constant(3).device == device

    assert count(make, wanted=True) == 2

    @tf.function(autograph=False)
    def looped() -> tf.Tensor:
        return tf.while_loop(lambda n: n < 7, lambda n: (n + 7,), (tf.constant(7),))[0]

    assert looped() == 7


def test_a_small_tensor_that_a_graph_takes_over_is_one_constant() -> None:
    outside = tf.constant(5)

    @tf.function(autograph=False)
    def add() -> tf.Tensor:
        return outside + 5 + outside

    assert add() == 15
