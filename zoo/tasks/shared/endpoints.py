"""Helpers of the endpoints of several tasks."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from zoo.models.core.axes import Axes, Tokens
from zoo.models.core.base import BaseModel


def map_axes(model: BaseModel) -> dict[str, Axes]:
    """The axes of ``attention_<name>``, for each map that a model declares."""
    return {
        f"attention_{name}": (axes.queries, axes.keys) for name, axes in model.ATTENTION.items()
    }


def token_axes(*texts: str) -> dict[str, Axes]:
    """The axes of ``<text>_tokens``, for texts that are read."""
    return {f"{text}_tokens": (Tokens(text),) for text in texts}


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


def asking(
    serve: Callable[..., dict[str, tf.Tensor]], *texts: str
) -> Callable[[], dict[str, tf.Tensor]]:
    """A function that asks an endpoint the same question again and again, as a graph.

    Args:
        serve: batches of strings to named outputs.
        texts: one for each of its inputs.
    """
    function: Any = tf.function(serve, autograph=False)
    inputs = [tf.constant([text]) for text in texts]
    return lambda: function(*inputs)
