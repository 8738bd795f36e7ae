"""The weights inside a SavedModel, filed under their Keras paths.

TensorFlow's own names cannot tell weights apart: a variable that is made inside a traced function
loses the scopes around it, so that every kernel of a model may be called the same. The export
therefore adds one collection a weight, named by the weight's path below the model, which does not
depend on the model's name or on what else the process has built. Reading them back takes the
checkpoint inside the SavedModel alone, not its graph.
"""

from collections.abc import Mapping
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import trackable_object_graph_pb2

_PREFIX = "weights/"


def collections(model: keras.Model) -> dict[str, keras.Variable]:
    """Names every weight of a model as its SavedModel files it.

    Args:
        model: A built model. Seed and metric states are no weights.

    Returns:
        "weights/" and the path below the model -> weight.

    Raises:
        ValueError: Two weights have the same path; names it.
    """
    named: dict[str, keras.Variable] = {}
    for weight in model.weights:
        name = _PREFIX + weight.path.removeprefix(f"{model.name}/")
        if name in named:
            raise ValueError(f"model {model.name}: two weights have the path {weight.path!r}")
        named[name] = weight
    return named


def read_weights(folder: str | Path) -> dict[str, np.ndarray]:
    """Reads all weights of a SavedModel that this package has written.

    Args:
        folder: Folder of the SavedModel.

    Returns:
        Name, as in `collections` -> value.

    Raises:
        ValueError: The SavedModel files no weights under their paths, so another program wrote it.
    """
    reader = tf.train.load_checkpoint(str(Path(folder) / "variables" / "variables"))
    graph = trackable_object_graph_pb2.TrackableObjectGraph()
    graph.ParseFromString(reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"))
    values = {}
    for child in graph.nodes[0].children:
        if child.local_name.startswith(_PREFIX):
            (entry,) = graph.nodes[child.node_id].children
            (attribute,) = graph.nodes[entry.node_id].attributes
            values[child.local_name] = reader.get_tensor(attribute.checkpoint_key)
    if not values:
        raise ValueError(f"{folder}: holds no weights under their Keras paths")
    return values


def assign_weights(
    model: keras.Model, values: Mapping[str, np.ndarray], source: str | Path
) -> None:
    """Gives every weight of a model its value; nothing is assigned unless all of it fits.

    Args:
        model: A built model.
        values: Name, as in `collections` -> value.
        source: Where the values come from, for the error.

    Raises:
        ValueError: A weight without a value, a value without a weight, another shape or type; names
            each of them.
    """
    weights = collections(model)
    problems = [f"{name} is missing" for name in weights if name not in values]
    problems += [f"{name} is unknown to {type(model).__name__}" for name in values.keys() - weights]
    for name in weights.keys() & values.keys():
        weight, value = weights[name], values[name]
        if tuple(weight.shape) != value.shape or str(weight.dtype) != value.dtype.name:
            expected = f"{weight.dtype} {tuple(weight.shape)}"
            problems.append(f"{name} is {value.dtype.name} {value.shape}, expected {expected}")
    if problems:
        raise ValueError(
            f"{source}: the weights do not fit the model: {'; '.join(sorted(problems))}"
        )
    for name, weight in weights.items():
        weight.assign(values[name])
