"""Building blocks of the fused loops. T steps, B batch, n hidden."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import tensorflow as tf

from zoo.ops.masking import Tensor

_plain = ContextVar("plain_operations", default=False)


@contextmanager
def plain_operations() -> Iterator[None]:
    """Traces loops with operations that other runtimes than TensorFlow have too.

    Values are the same; it costs copies. A loop that runs backward reads and writes its steps in
    the order in which they run, because converters take that order for granted, and rows of a
    buffer are not replaced in place. Where the batch is static, so are the shapes of arrays.
    """
    token = _plain.set(True)
    try:
        yield
    finally:
        _plain.reset(token)


def must_flip(reverse: bool) -> bool:
    """Whether a loop that runs backward has to be a forward one over flipped steps."""
    return reverse and _plain.get()


def flip(values: Tensor, axis: int = 0) -> Tensor:
    """Reverses the order of steps."""
    return tf.reverse(values, [axis])


def states_before(states: Tensor, first: Tensor, reverse: bool) -> Tensor:
    """Shifts states (T, B, n) to those that each step started from."""
    parts = (states[1:], first[None]) if reverse else (first[None], states[:-1])
    return tf.concat(parts, axis=0)


def product_over_time(values: Tensor, upstream: Tensor) -> Tensor:
    """Computes a kernel's gradient (n, m) from inputs (T, B, n) and output gradients (T, B, m)."""
    flat = tf.reshape(values, (-1, values.shape[-1]))
    return tf.matmul(flat, tf.reshape(upstream, (-1, upstream.shape[-1])), transpose_a=True)


def new_store(like: Tensor, length: Tensor, size: int) -> tf.TensorArray:
    """Makes an array for ``length`` values (B, size) of the dtype of ``like``."""
    batch = like.shape[1] if _plain.get() and like.shape.rank > 1 else None
    return tf.TensorArray(like.dtype, length, element_shape=(batch, size))


def writable(values: Tensor) -> Tensor:
    """Copies ``values`` (S, ...) to a buffer for ``put_row`` and ``add_rows``.

    TensorFlow's scatter operations copy a tensor that is also read in the same step, in whatever
    order: a ring of S slots once per step. The functions below change it in place. So every read of
    a buffer must come before the write, and must make a result of its own: use ``tf.gather``,
    because a slice may share the buffer's memory.
    """
    return values if _plain.get() else tf.raw_ops.DeepCopy(x=values)


def put_row(buffer: Tensor, place: Tensor, row: Tensor) -> Tensor:
    """Replaces a row (...) of the buffer (S, ...) in place."""
    if _plain.get():
        return tf.tensor_scatter_nd_update(buffer, [[place]], row[None])
    return tf.raw_ops.InplaceUpdate(x=buffer, i=[place], v=row[None])


def add_rows(buffer: Tensor, rows: Tensor) -> Tensor:
    """Adds rows (R, ...) to the first R of the buffer (S, ...) in place."""
    return tf.raw_ops.InplaceAdd(x=buffer, i=tf.range(tf.shape(rows)[0]), v=rows)


def run_loop(length: Tensor, body: Callable, state: tuple) -> tuple:
    """Runs ``body`` ``length`` times; the first item of the state is the step number."""
    return tf.while_loop(lambda t, *_: t < length, body, state, maximum_iterations=length)


def unstack(time_major: Tensor, length: Tensor) -> tf.TensorArray:
    """Converts (T, B, ...) to an array of its ``length`` = T steps, to read one at a time."""
    array = tf.TensorArray(time_major.dtype, length, element_shape=time_major.shape[1:])
    return array.unstack(time_major)
