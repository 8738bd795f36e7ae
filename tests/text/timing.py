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
    graph = tf.function(
        function, input_signature=[tf.TensorSpec([None], tf.string)], autograph=False
    )
    graph(tf.constant([""]))
    short, long = (tf.constant([unit * (n * size // len(unit))]) for n in (1, 4))
    # In turn, and the least of several: other tests run on the same processors.
    turns = [(seconds(graph, short), seconds(graph, long)) for _ in range(7)]
    least_short, least_long = map(min, zip(*turns, strict=True))
    return least_long / (least_short + 0.002)


def seconds(function: Callable[[tf.Tensor], object], text: tf.Tensor) -> float:
    """The processor time of a call, which hardly depends on what other processes do."""
    start = time.process_time()
    function(text)
    return time.process_time() - start
