"""The weights inside a SavedModel, filed under their Keras paths.

TensorFlow's own names cannot tell weights apart: a variable that is made inside a traced function
loses the scopes around it, so that every kernel of a model may be called the same. The export
therefore adds one collection a weight, named by the weight's path below the model, which does not
depend on the model's name or on what else the process has built. Reading them back takes the
checkpoint inside the SavedModel alone, not its graph.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import trackable_object_graph_pb2

from zoo.serving.paths import without_patterns

_PREFIX = "weights/"
_FROZEN = "frozen/"
"""Begins the names of weights that belong to no trained model, such as those of an encoder."""


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


def frozen_collections(assets: Sequence[Any]) -> dict[str, tf.Variable]:
    """Names the variables that travel with a model and are not its own.

    Args:
        assets: Of an export; read are `named_weights` of those that have them.

    Returns:
        "frozen/" and the name -> variable.
    """
    named = (getattr(asset, "named_weights", {}) for asset in assets)
    return {_FROZEN + name: variable for one in named for name, variable in one.items()}


def read_frozen_weights(folder: str | Path) -> dict[str, np.ndarray]:
    """Reads the weights of a SavedModel that are not those of its model.

    Args:
        folder: Folder of the SavedModel.

    Returns:
        Name, as the asset's `named_weights` had it -> value; nothing if there are none.
    """
    with _checkpoint(folder) as (reader, graph):
        keys = _keys_of(graph, _FROZEN)
        return {name.removeprefix(_FROZEN): reader.get_tensor(key) for name, key in keys.items()}


def read_weights(folder: str | Path) -> dict[str, np.ndarray]:
    """Reads all weights of a SavedModel that this package has written.

    Args:
        folder: Folder of the SavedModel.

    Returns:
        Name, as in `collections` -> value.

    Raises:
        ValueError: The SavedModel files no weights under their paths, so another program wrote it.
    """
    with _checkpoint(folder) as (reader, graph):
        return {name: reader.get_tensor(key) for name, key in _keys(graph, folder).items()}


def declared_weights(folder: str | Path) -> dict[str, tf.TensorSpec]:
    """Shapes and types of all weights of a SavedModel; none of their values is read.

    Args:
        folder: Folder of the SavedModel.

    Returns:
        Name, as in `collections` -> shape and type.

    Raises:
        ValueError: As `read_weights`.
    """
    with _checkpoint(folder) as (reader, graph):
        shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
        keys = _keys(graph, folder)
        return {name: tf.TensorSpec(shapes[key], types[key]) for name, key in keys.items()}


def order_of_use(folder: str | Path) -> list[str]:
    """In which order a SavedModel lists the weights that its signatures use.

    Args:
        folder: Folder of the SavedModel.

    Returns:
        Names, as in `collections`.
    """
    with _checkpoint(folder) as (_, graph):
        names = {node: name for name, node in _named(graph).items()}
    (used,) = (c.node_id for c in graph.nodes[0].children if c.local_name == "_all_variables")
    return [names[child.node_id] for child in graph.nodes[used].children if child.node_id in names]


@contextmanager
def _checkpoint(
    folder: str | Path,
) -> Iterator[tuple[Any, trackable_object_graph_pb2.TrackableObjectGraph]]:
    """Opens the tensors inside a SavedModel, and the graph that says whose they are."""
    with without_patterns(folder) as plain:
        reader = tf.train.load_checkpoint(str(plain / "variables" / "variables"))
        graph = trackable_object_graph_pb2.TrackableObjectGraph()
        graph.ParseFromString(reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"))
        yield reader, graph


def _keys(
    graph: trackable_object_graph_pb2.TrackableObjectGraph, folder: str | Path
) -> dict[str, str]:
    """Name of a weight -> the key that its tensor is filed under."""
    keys = _keys_of(graph, _PREFIX)
    if not keys:
        raise ValueError(f"{folder}: holds no weights under their Keras paths")
    return keys


def _keys_of(graph: trackable_object_graph_pb2.TrackableObjectGraph, prefix: str) -> dict[str, str]:
    """Name that begins so -> the key that its tensor is filed under."""
    keys = {}
    for name, node in _named(graph, prefix).items():
        (attribute,) = graph.nodes[node].attributes
        keys[name] = attribute.checkpoint_key
    return keys


def _named(
    graph: trackable_object_graph_pb2.TrackableObjectGraph, prefix: str = _PREFIX
) -> dict[str, int]:
    """Name of a weight, as in `collections` -> number of its node."""
    named = {}
    for child in graph.nodes[0].children:
        if child.local_name.startswith(prefix):
            (entry,) = graph.nodes[child.node_id].children
            named[child.local_name] = entry.node_id
    return named


def check_weights(
    model: keras.Model,
    values: Mapping[str, np.ndarray] | Mapping[str, tf.TensorSpec],
    source: str | Path,
) -> None:
    """Compares the weights of a model with what a file has for them.

    Args:
        model: A built model, in a `tf.Graph` too, where no weight has memory.
        values: Name, as in `collections` -> value, or its shape and type.
        source: Where the values come from, for the error.

    Raises:
        ValueError: A weight without a value, a value without a weight, another shape or type; names
            each of them.
    """
    weights = collections(model)
    problems = [f"{name} is missing" for name in weights if name not in values]
    problems += [f"{name} is unknown to {type(model).__name__}" for name in values.keys() - weights]
    for name in weights.keys() & values.keys():
        weight, shape, dtype = weights[name], tuple(values[name].shape), values[name].dtype.name
        if tuple(weight.shape) != shape or str(weight.dtype) != dtype:
            expected = f"{weight.dtype} {tuple(weight.shape)}"
            problems.append(f"{name} must be {expected}, got {dtype} {shape}")
    if problems:
        raise ValueError(
            f"{source}: the weights do not fit the model: {'; '.join(sorted(problems))}"
        )


def assign_weights(
    model: keras.Model, values: Mapping[str, np.ndarray], source: str | Path
) -> None:
    """Gives every weight of a model its value; nothing is assigned unless all of it fits.

    Args:
        model: A built model.
        values: Name, as in `collections` -> value.
        source: Where the values come from, for the error.

    Raises:
        ValueError: As `check_weights`.
    """
    check_weights(model, values, source)
    for name, weight in collections(model).items():
        weight.assign(values[name])
