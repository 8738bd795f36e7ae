"""Flowcharts of layers as HTML, which needs no script.

GitHub draws ``mermaid`` blocks. Of their language, this reads what a map of layers needs:
``subgraph name["title"]``, nodes ``name["text"]`` inside, and chains ``a --> b --> c`` from the
lowest layer to the highest.
"""

import re
from itertools import pairwise
from typing import Any

_SUBGRAPH = re.compile(r'subgraph (\w+)\["(.*)"\]')
_NODE = re.compile(r'(\w+)\["(.*)"\]')


def draw(source: str, language: str, css_class: str, options: Any, md: Any, **_: Any) -> str:
    """Draws a flowchart: a row per layer, the highest first."""
    boxes: dict[str, list[str]] = {}
    layer_of: dict[str, str] = {}
    titles: dict[str, str] = {}
    chains: list[list[str]] = []
    layer = ""
    for line in map(str.strip, source.splitlines()):
        if found := _SUBGRAPH.fullmatch(line):
            layer, titles[found[1]] = found.groups()
            boxes[layer] = []
        elif found := _NODE.fullmatch(line):
            layer_of[found[1]] = layer
            boxes[layer].append(found[2])
        elif "-->" in line:
            chains.append(line.split(" --> "))
        elif line not in ("", "end", "flowchart BT"):
            raise ValueError(f"a line of a flowchart must be a layer, node or chain, got {line!r}")
    edges = {
        (layer_of.get(low, low), layer_of.get(high, high))
        for chain in chains
        for low, high in pairwise(chain)
    }
    rows: dict[int, list[str]] = {}
    for name in boxes:
        rows.setdefault(_height(name, edges), []).append(_layer(titles[name], boxes[name]))
    drawn = (
        '<div class="layers">' + "".join(rows[height]) + "</div>"
        for height in sorted(rows, reverse=True)
    )
    return (
        f'<div class="{css_class}" role="img">'
        + '<div class="upwards">↑</div>'.join(drawn)
        + "</div>"
    )


def _height(layer: str, edges: set[tuple[str, str]]) -> int:
    """Counts the layers below a layer, along the longest chain."""
    below = [low for low, high in edges if high == layer and low != layer]
    return 1 + max((_height(low, edges) for low in below), default=-1)


def _layer(title: str, boxes: list[str]) -> str:
    """Draws a layer."""
    nodes = "".join(f'<div class="node">{box}</div>' for box in boxes)
    return f'<section><div class="title">{title}</div><div class="nodes">{nodes}</div></section>'
