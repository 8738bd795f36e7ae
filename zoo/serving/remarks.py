"""Remarks that TensorFlow makes once, where it first computes: made early, and dropped.

oneDNN cannot transpose truth values on some processors, which TensorFlow reports as an error and
does itself.
"""

import functools

from zoo.quiet import without_greetings


@functools.cache
def spend_remarks() -> None:
    """Has them made now. Computes, so devices must have been chosen."""
    import tensorflow as tf

    with without_greetings():
        tf.transpose(tf.constant([[True, False]]))
