"""Weights of an ONNX graph as 8-bit integers; activations stay as they are.

Each row of an embedding table and each column of another matrix has a scale of its own, symmetric
about 0. Rows of a table are converted back when they are looked up, matrices by `DequantizeLinear`,
which the runtime does once, when it reads the file.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

LEAST_NUMBERS = 4096
"""Matrices of fewer numbers stay as they are."""


def quantise_weights(content: bytes) -> bytes:
    """Replaces the large float32 matrices of an ONNX file.

    Args:
        content: of the file, as `zoo.portable.onnx_format.to_onnx` returns it.

    Returns:
        The content of the smaller file.
    """
    import onnx

    model = onnx.load_from_string(content)
    graphs = list(_graphs(model.graph))
    tables = _table_names(graphs)
    new_nodes, new_weights = [], []
    for graph in graphs:
        for weight in [one for one in graph.initializer if _is_large(one)]:
            graph.initializer.remove(weight)
            by_row = weight.name in tables
            integers, scales = _quantised(onnx.numpy_helper.to_array(weight), int(not by_row))
            names = (f"{weight.name}/int8", f"{weight.name}/scale")
            new_weights.append(onnx.numpy_helper.from_array(integers, names[0]))
            new_weights.append(onnx.numpy_helper.from_array(scales, names[1]))
            if by_row:
                _look_up(graphs, weight.name, names)
            else:
                node = onnx.helper.make_node("DequantizeLinear", names, [weight.name], axis=1)
                new_nodes.append(node)
    # Loops see what the main graph holds.
    model.graph.initializer.extend(new_weights)
    nodes = new_nodes + list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    found: bytes = model.SerializeToString()
    return found


def _graphs(graph: Any) -> Iterator[Any]:
    """A graph and those of its loops."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


def _is_large(weight: Any) -> bool:
    """Whether a weight is a float32 matrix that is worth it."""
    float32 = 1
    shape = weight.dims
    return weight.data_type == float32 and len(shape) == 2 and np.prod(shape) >= LEAST_NUMBERS


def _table_names(graphs: list[Any]) -> set[str]:
    """Names of weights that are only looked up in, row by row."""
    looked_up, otherwise = set(), set()
    for graph in graphs:
        for node in graph.node:
            rows = node.op_type == "Gather" and _axis(node) == 0
            looked_up |= set(node.input[:1]) if rows else set()
            otherwise |= set(node.input[1:] if rows else node.input)
    return looked_up - otherwise


def _axis(node: Any) -> int:
    return next((one.i for one in node.attribute if one.name == "axis"), 0)


def _quantised(weight: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Integers, and scales along an axis."""
    largest = np.abs(weight).max(axis=1 - axis, keepdims=True)
    scales = np.where(largest > 0, largest / 127, 1).astype(np.float32)
    integers = np.rint(weight / scales).astype(np.int8)
    return integers, scales if axis == 0 else scales.ravel()


def _look_up(graphs: list[Any], table: str, names: tuple[str, str]) -> None:
    """Looks up integers and scales (V, 1) in place of a table, and multiplies them."""
    import onnx

    for graph in graphs:
        nodes = []
        for node in graph.node:
            if node.op_type != "Gather" or node.input[0] != table:
                nodes.append(node)
                continue
            places, found = node.input[1], node.output[0]
            parts = [f"{found}/{part}" for part in ("int8", "scale", "number")]
            make = onnx.helper.make_node
            nodes += [
                make("Gather", [names[0], places], [parts[0]], axis=0),
                make("Gather", [names[1], places], [parts[1]], axis=0),
                make("Cast", [parts[0]], [parts[2]], to=1),
                make("Mul", [parts[2], parts[1]], [found]),
            ]
        del graph.node[:]
        graph.node.extend(nodes)
