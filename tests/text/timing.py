"""How the time of a function grows with the length of a text."""

import time
from collections.abc import Callable

import tensorflow as tf


def growth(function: Callable[[tf.Tensor], object], unit: bytes | str, size: int) -> float:
    """How many times as long four times the text takes: 4 in linear time, 16 in quadratic.

    Args:
        function: of strings (1,).
        unit: what the texts repeat.
        size: bytes of the shorter text. It should take some milliseconds.
    """
    unit = unit if isinstance(unit, bytes) else unit.encode()
    graph = tf.function(function, input_signature=[tf.TensorSpec([None], tf.string)])
    graph(tf.constant([""]))
    return seconds(graph, unit, 4 * size) / (seconds(graph, unit, size) + 0.002)


def seconds(function: Callable[[tf.Tensor], object], unit: bytes, size: int) -> float:
    """The least time of three."""
    text = tf.constant([unit * (size // len(unit))])
    times = []
    for _ in range(3):
        start = time.perf_counter()
        function(text)
        times.append(time.perf_counter() - start)
    return min(times)
