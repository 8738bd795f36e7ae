"""Sums of a step over replicas, and over parts of a batch that does not fit into memory.

A batch is the sum of its parts: sums of losses, numbers of units and gradients are added up. How
examples are padded does not change, so that the sums are those of the whole batch.
"""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from zoo.ops.masking import Tensor, at_least_float32

Gradients = tuple[Tensor, Tensor, Sequence[Tensor | None]]
"""Sum of the losses and number of their units, both (), and a gradient, or None, a weight."""


def sum_over_parts(
    gradients_of: Callable[[Any], Gradients], data: Any, parts: int, weights: Sequence[Any]
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Adds up losses, units, and the gradients of a mean times the units it is over.

    Args:
        gradients_of: of a part of the data: its losses and units, and the gradients of its mean.
        data: tensors, or None, in any structure, whose first axis are the examples.
        parts: in how many parts, of equal size but for the last; empty ones are left out.
        weights: of the gradients.

    Returns:
        Sums of the losses and of the units, and for each weight that of the gradients, in 32 bits
        at least; zeros where no part has a gradient.
    """
    rows = tf.shape(next(one for one in tf.nest.flatten(data) if one is not None))[0]
    size = tf.maximum(-(-rows // parts), 1)

    def add_part(first: Tensor, total: Tensor, count: Tensor, sums: list[Tensor]) -> Any:
        part = keras.tree.map_structure(
            lambda values: None if values is None else values[first : first + size], data
        )
        losses, units, means = gradients_of(part)
        losses, units = tf.cast(losses, total.dtype), tf.cast(units, count.dtype)
        sums = [
            one if mean is None else tf.ensure_shape(one + _times(units, mean, one), one.shape)
            for one, mean in zip(sums, means, strict=True)
        ]
        return first + size, total + losses, count + units, sums

    # Sums are too large for 16 bits, and weights may have several dtypes.
    sums = [at_least_float32(tf.zeros(weight.shape, weight.dtype)) for weight in weights]
    zero = tf.zeros((), "float64" if any(one.dtype == "float64" for one in sums) else "float32")
    # A loop of the graph, not of Python: no part may begin before the one before is forgotten.
    _, total, count, sums = tf.while_loop(
        lambda first, *_: first < rows,
        add_part,
        (tf.constant(0), zero, zero, sums),
        parallel_iterations=1,
    )
    return total, count, sums


def _times(units: Tensor, mean: Tensor, like: Tensor) -> Tensor:
    """The product, in the dtype of another tensor."""
    return tf.cast(units, like.dtype) * tf.cast(mean, like.dtype)


def sum_over_replicas(values: Any) -> Any:
    """Adds up what each replica has; there is no gradient through the sum.

    TensorFlow searches what is reduced for variables, back through the graphs of all other
    replicas, but not beyond what has no gradient: with three replicas that search took up to two
    fifths of the time that tracing a step took.

    Args:
        values: tensors in any structure; called in the context of a replica.

    Returns:
        Such a structure, the same on each replica.
    """
    stopped = keras.tree.map_structure(tf.stop_gradient, values)
    return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, stopped)
