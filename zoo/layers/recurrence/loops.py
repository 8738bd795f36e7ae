"""Building blocks of the fused loops. T steps, B batch, n hidden."""

from collections.abc import Callable

import tensorflow as tf

from zoo.ops.masking import Tensor


def states_before(states: Tensor, first: Tensor, reverse: bool) -> Tensor:
    """The state (T, B, n) that each step started from."""
    parts = (states[1:], first[None]) if reverse else (first[None], states[:-1])
    return tf.concat(parts, axis=0)


def product_over_time(values: Tensor, upstream: Tensor) -> Tensor:
    """Gradient (n, m) of a kernel from what it read (T, B, n) and what came back (T, B, m)."""
    flat = tf.reshape(values, (-1, values.shape[-1]))
    return tf.matmul(flat, tf.reshape(upstream, (-1, upstream.shape[-1])), transpose_a=True)


def new_store(like: Tensor, length: Tensor, size: int) -> tf.TensorArray:
    """An array for ``length`` values (B, size) of the dtype of ``like``."""
    return tf.TensorArray(like.dtype, length, element_shape=(None, size))


def writable(values: Tensor) -> Tensor:
    """A copy (S, ...) for ``put_row`` and ``add_rows``.

    TensorFlow's scattering operations copy what they change wherever it is read in the same step,
    whatever the order: a ring of S slots once a step. Those below change it in place. So all that
    reads a buffer has to come before what changes it, and what is read from it has to be a result
    of its own: ``tf.gather``, and not a slice, which may be the buffer's own memory.
    """
    return tf.raw_ops.DeepCopy(x=values)


def put_row(buffer: Tensor, place: Tensor, row: Tensor) -> Tensor:
    """The buffer (S, ...), in place, with another row (...)."""
    return tf.raw_ops.InplaceUpdate(x=buffer, i=[place], v=row[None])


def add_rows(buffer: Tensor, rows: Tensor) -> Tensor:
    """The buffer (S, ...), in place, with rows (R, ...) added to its first R."""
    return tf.raw_ops.InplaceAdd(x=buffer, i=tf.range(tf.shape(rows)[0]), v=rows)


def run_loop(length: Tensor, body: Callable, state: tuple) -> tuple:
    """Runs ``body`` ``length`` times; the state begins with the number of the step."""
    return tf.while_loop(lambda t, *_: t < length, body, state, maximum_iterations=length)


def unstack(time_major: Tensor) -> tf.TensorArray:
    """The steps of (T, B, ...) as an array, to read one at a time."""
    array = tf.TensorArray(
        time_major.dtype, tf.shape(time_major)[0], element_shape=time_major.shape[1:]
    )
    return array.unstack(time_major)
