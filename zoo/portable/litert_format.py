"""Graphs as LiteRT (TensorFlow Lite), with built-in operations alone."""

import re
import tempfile
from typing import Any

import tensorflow as tf

from zoo.portable.graphs import Graph, freeze


def to_litert(graph: Graph) -> bytes:
    """Converts a graph.

    Returns:
        The content of the file.

    Raises:
        ValueError: An operation has no built-in counterpart; names it.
    """
    traced = graph.traced()
    frozen, names = freeze(traced), sorted(traced.structured_outputs)

    def run(*inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        return dict(zip(names, frozen(*inputs), strict=True))

    function: Any = tf.function(run, input_signature=graph.signature, autograph=False)
    try:
        # Only a SavedModel's signatures give inputs and outputs their names.
        with tempfile.TemporaryDirectory() as folder:
            signature = function.get_concrete_function()
            options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
            tf.saved_model.save(tf.Module(), folder, signatures=signature, options=options)
            content: bytes = tf.lite.TFLiteConverter.from_saved_model(folder).convert()
    except Exception as error:  # of a class that TensorFlow does not make public
        reason = str(error)
        found = set(re.findall(r"'?tf\.(\w+)'? op", reason))
        found |= set(re.findall(r"^\ttf\.(\w+)\(", reason, re.MULTILINE))
        operations = ", ".join(sorted(found)) or reason.splitlines()[0]
        raise ValueError(
            f"graph {graph.name} holds operations that LiteRT lacks: {operations}"
        ) from error
    return content
