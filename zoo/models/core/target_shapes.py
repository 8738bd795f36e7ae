"""Shapes of targets and weights: compared with those of the inputs, before a run or in it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from keras import ops

from zoo.ops.masking import Tensor

Shape = tuple[int | None, ...]


def fitted(name: str, values: Any, like: Any, axes: int, own: Shape = ()) -> Tensor:
    """Values with the first axes of another array, and then axes of their own sizes.

    One more axis of size one is dropped.

    Raises:
        ValueError: if the shape differs.
        tensorflow.errors.InvalidArgumentError: likewise, for sizes that are only known in a run.
    """
    values, like = with_axes(values, axes + len(own)), ops.convert_to_tensor(like)
    expected = (*shape_of(like)[:axes], *own)
    check_shape(name, values, [expected, (*expected, 1)])
    with tf.control_dependencies(_check_sizes(name, values, like, axes, own)):
        values = tf.identity(values)  # not to be used before its sizes are known to be right
    if len(values.shape) > len(expected):
        # Not that of Keras, which must know beforehand that there is one.
        values = tf.squeeze(values, axis=[len(expected)])
    return tf.ensure_shape(values, (*values.shape[:axes], *own)) if own else values


def with_axes(values: Any, axes: int) -> Tensor:
    """Values that have so many axes, if a graph does not know how many.

    A graph that is traced for steps with another number of axes does not.
    """
    values = ops.convert_to_tensor(values)
    if getattr(values.shape, "rank", axes) is not None:
        return values
    sizes = tf.concat([tf.shape(values), [1]], axis=0)[:axes]
    return tf.ensure_shape(tf.reshape(values, sizes), [None] * axes)


def shape_of(values: Any) -> Shape:
    """The shape of values, as far as it is known."""
    return tuple(np.shape(values))


def check_shape(name: str, values: Any, lawful: Sequence[Shape]) -> None:
    """Refuses a shape that can be none of the lawful ones, as far as sizes are known."""
    shape = shape_of(values)
    for one in lawful:
        sizes = zip(shape, one, strict=False)
        if len(shape) == len(one) and all(a == b or None in (a, b) for a, b in sizes):
            return
    *most, last = (str(one) for one in lawful)
    raise ValueError(f"{name} must have the shape {', '.join(most)} or {last}, got {shape}")


def _check_sizes(name: str, values: Tensor, like: Tensor, axes: int, own: Shape) -> list[Any]:
    """Compares those sizes that are not known before a run: as in ``fitted``."""
    wanted = [*like.shape[:axes], *own, 1][: len(values.shape)]
    any_size = {place for place, size in enumerate(own, axes) if size is None}
    compared = [place for place in range(len(wanted)) if place not in any_size]
    if all(None not in (values.shape[place], wanted[place]) for place in compared):
        return []
    found, sizes = tf.shape(values), tf.shape(like)
    expected = tf.stack(
        [
            found[place] if place in any_size else sizes[place] if place < axes else size
            for place, size in enumerate(wanted)
        ]
    )
    return [_assert_shape(name, tf.reduce_all(found == expected), expected, found)]


def check_spread(name: str, values: Tensor, like: Tensor) -> list[Any]:
    """Compares the sizes of values (B, 1) or (B, T) with those of others (B, T)."""
    if None not in (*values.shape, *like.shape):
        return []
    found, expected = tf.shape(values), tf.shape(like)
    lawful = tf.reduce_all((found == expected) | (found == [-1, 1]))
    return [_assert_shape(name, lawful, expected, found)]


def _assert_shape(name: str, lawful: Tensor, expected: Tensor, found: Tensor) -> Any:
    return tf.debugging.Assert(lawful, [f"{name} must have the shape", expected, "got", found])
