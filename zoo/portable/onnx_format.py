"""Graphs as ONNX, by `tf2onnx`, which converts TensorFlow's loops and lists too.

Of the operations of this package's models `tf2onnx` lacks two, for which there are handlers here:
the bits of a number, by which Keras tells -0 from 0, and the logarithm of one plus a number. A
third, the choice between two tensors, it converts wrongly where one holds NaN or infinity.
"""

import logging
from typing import Any

import tensorflow as tf

from zoo.portable.graphs import Graph, freeze

OPSET = 18
"""Version of the operations; the first that has those of bits."""


def to_onnx(graph: Graph) -> bytes:
    """Converts a graph.

    Returns:
        The content of the file.

    Raises:
        ValueError: `tf2onnx` is not installed, or cannot convert an operation; names it.
    """
    try:
        import onnx
        import tf2onnx
    except ImportError as error:
        raise ValueError(
            "format onnx needs the packages tf2onnx and onnx: install"
            f" attention-model-zoo[portable] ({error})"
        ) from error
    logging.getLogger("tf2onnx").setLevel(logging.CRITICAL)
    traced = graph.traced()
    frozen = freeze(traced)
    inputs = [tensor.name for tensor in frozen.inputs]
    outputs = [tensor.name for tensor in frozen.outputs]
    names = [spec.name for spec in graph.signature] + sorted(traced.structured_outputs)
    with tf.device("/cpu:0"):
        model, _ = tf2onnx.convert.from_graph_def(
            frozen.graph.as_graph_def(),
            name=graph.name,
            input_names=inputs,
            output_names=outputs,
            opset=OPSET,
            custom_op_handlers=_handlers(),
        )
    # A tensor within may have the name that an input or output gets.
    renamed = {name: f"{name}/within" for name in names}
    _rename(model.graph, renamed | dict(zip(inputs + outputs, names, strict=True)))
    _repair_pads(model.graph)
    if left := sorted(_foreign(model.graph)):
        raise ValueError(f"graph {graph.name} holds operations that ONNX lacks: {', '.join(left)}")
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString()
    return content


def _rename(graph: Any, names: dict[str, str]) -> None:
    """Renames inputs and outputs, wherever they are read, in loops too."""
    for value in (*graph.input, *graph.output):
        value.name = names.get(value.name, value.name)
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename(attribute.g, names)


def _repair_pads(graph: Any) -> None:
    """Makes numbers of the truth values that `Pad` fills with: `tf2onnx` makes them of the rest."""
    import onnx

    truths = {one.name: one for one in graph.initializer if one.data_type == onnx.TensorProto.BOOL}
    for node in graph.node:
        if node.op_type == "Pad" and len(node.input) > 2 and node.input[2] in truths:
            value = onnx.numpy_helper.to_array(truths[node.input[2]]).astype("float32")
            node.input[2] += "_number"
            if all(one.name != node.input[2] for one in graph.initializer):
                graph.initializer.append(onnx.numpy_helper.from_array(value, node.input[2]))


def _foreign(graph: Any) -> set[str]:
    """Operations of TensorFlow that were left in an ONNX graph and in its loops."""
    import onnx

    found = set()
    for node in graph.node:
        if node.domain or not onnx.defs.has(node.op_type):
            found.add(node.op_type)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                found |= _foreign(attribute.g)
    return found


def _handlers() -> dict[str, tuple[Any, list[Any]]]:
    """Maps the name of an operation to the function, and its arguments, that converts it."""
    return {
        "Bitcast": (_sign_bit, []),
        "Log1p": (_log_of_one_plus, []),
        "SelectV2": (_where, []),
    }


def _where(context: Any, node: Any, name: str, args: Any) -> None:
    """A choice. Of `tf2onnx`'s sum of products with 0 and 1, NaN comes where it is not chosen."""
    inputs, outputs = list(node.input), list(node.output)
    shapes, types = node.output_shapes, node.output_dtypes
    context.remove_node(node.name)
    context.make_node("Where", inputs, name=node.name, outputs=outputs, shapes=shapes, dtypes=types)


def _log_of_one_plus(context: Any, node: Any, name: str, args: Any) -> None:
    """``log(1 + x)``: near 0, where this loses digits, no model of this package asks."""
    import numpy as np

    (value,) = node.input
    one = context.make_const(name + "_one", np.array(1, np.float32)).output[0]
    total = context.make_node("Add", [value, one]).output[0]
    shapes, types = node.output_shapes, node.output_dtypes
    context.remove_node(node.name)
    context.make_node(
        "Log", [total], name=node.name, outputs=node.output, shapes=shapes, dtypes=types
    )


def _sign_bit(context: Any, node: Any, name: str, args: Any) -> None:
    """The bits of a float32 of which only the sign of zero is asked, as Keras does in `argmax`.

    One over -0 is minus infinity. Other bits are 0.
    """
    import numpy as np

    (value,) = node.input
    zero = context.make_const(name + "_zero", np.array(0, np.float32)).output[0]
    sign = context.make_const(name + "_sign", np.array(np.iinfo(np.int32).min, np.int32)).output[0]
    none = context.make_const(name + "_none", np.array(0, np.int32)).output[0]
    inverse = context.make_node("Reciprocal", [value]).output[0]
    negative = context.make_node("Less", [inverse, zero]).output[0]
    shapes, types = node.output_shapes, node.output_dtypes
    context.remove_node(node.name)
    context.make_node(
        "Where",
        [negative, sign, none],
        name=node.name,
        outputs=node.output,
        shapes=shapes,
        dtypes=types,
    )
