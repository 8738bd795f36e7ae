"""Fewer operations in traced graphs: an integer that stands in a graph twice is one constant there.

A third of a traced training step are constants, most of them the bounds of slices and the numbers
of axes, and making an operation is what takes time. TensorFlow's optimiser of graphs merges them
too, but only when all of them have been made. There is no gradient of an integer that could tell
two of them apart.
"""

from typing import Any

import numpy as np
from tensorflow.python.framework import dtypes, ops

_make_constant = ops._create_graph_constant


def share_constants(wanted: bool) -> None:
    """Says whether graphs that are traced from now on hold each small integer constant once."""
    ops._create_graph_constant = _shared_constant if wanted else _make_constant


def _shared_constant(
    value: Any, dtype: Any, shape: Any, name: Any, verify_shape: Any, allow_broadcast: Any
) -> Any:
    """Takes the place of TensorFlow's function that makes a constant in the default graph."""
    arguments = value, dtype, shape, name, verify_shape, allow_broadcast
    content = _content(value)
    if content is None or not (dtype is None or dtypes.as_dtype(dtype).is_integer):
        return _make_constant(*arguments)
    graph = ops.get_default_graph()
    devices = (device.display_name for device in graph._device_function_stack.peek_objs())
    key = content, str(dtype), str(shape), *devices
    try:
        known = graph._shared_constants
    except AttributeError:
        known = graph._shared_constants = {}
    if key not in known:
        known[key] = _make_constant(*arguments)
    return known[key]


def _content(value: Any) -> Any:
    """Something hashable that only equal values of one type have; None for what is not shared."""
    if type(value) is int:
        return value
    if isinstance(value, list | tuple):
        return tuple(value) if all(type(one) is int for one in value) else None
    # Arrays stay apart: they may be parts of ragged tensors, and a function that is given two of
    # them refuses the same tensor twice.
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "iu" and not value.ndim:
        return value.dtype.char, value.tobytes()
    return None
