"""Less work for each operation that is traced, of what has no bearing on the graph.

Every operation enters the graph that it is made in, though that is where the code is already, and
reads the version of the graph from a protocol buffer that never changes. Both together take 7 or
8 % of a trace. Python 3.11 lists the attributes of a protocol anew for every `isinstance` of it.
"""

import contextlib
import functools
import sys
import typing
from contextlib import AbstractContextManager

from tensorflow.python.eager import context
from tensorflow.python.framework import ops
from tensorflow.python.framework.func_graph import FuncGraph

_enter = FuncGraph.as_default
_read_versions = ops.Graph.graph_def_versions.fget


if sys.version_info < (3, 12):
    typing._get_protocol_attrs = functools.cache(typing._get_protocol_attrs)


def make_graphs_faster(wanted: bool) -> None:
    """Says whether graphs that are traced from now on are made with less work."""
    FuncGraph.as_default = _enter_unless_there if wanted else _enter
    read = _versions_read_once if wanted else _read_versions
    ops.Graph.graph_def_versions = property(read)


def _enter_unless_there(graph: FuncGraph) -> AbstractContextManager[FuncGraph]:
    if not context.executing_eagerly() and ops.get_default_graph() is graph:
        return contextlib.nullcontext(graph)
    return _enter(graph)


def _versions_read_once(graph: ops.Graph) -> object:
    try:
        return graph._versions_read
    except AttributeError:
        graph._versions_read = _read_versions(graph)
        return graph._versions_read
