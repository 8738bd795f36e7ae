"""What the endpoints of several tasks share."""

import tensorflow as tf


def same_batch(**inputs: tf.Tensor) -> list[tf.Tensor]:
    """Checks the batch sizes of named inputs before anything else could stumble over them.

    Returns:
        The inputs.

    Raises:
        tf.errors.InvalidArgumentError: They differ; when the graph is run.
    """
    sizes = tf.stack([tf.shape(one)[0] for one in inputs.values()])
    message = f"{' and '.join(inputs)} must have the same batch size"
    check = tf.debugging.assert_equal(sizes, sizes[0], message=message)
    with tf.control_dependencies([] if check is None else [check]):  # None: checked eagerly
        return [tf.identity(one) for one in inputs.values()]
