"""Grid picture of all attention heads of all layers."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from zoo.plots.colors import PAPER, WEIGHTS
from zoo.plots.figures import add_title
from zoo.plots.text import as_written, drawable_text, reads_right_to_left

_TOKEN_INCHES = 0.085
_SMALLEST_CELL, _LARGEST_CELL = 0.6, 2.4  # inches, of one head's map
_FONT_SIZE = 5.0  # points
_LONGEST_TOKEN = 14  # characters


class Heads(NamedTuple):
    """Maps of one kind of attention."""

    weights: np.ndarray
    """(layers, heads, queries, keys), without padding."""
    query_tokens: Sequence[str | bytes]
    """The tokens that attend; bytes are read as UTF-8."""
    key_tokens: Sequence[str | bytes]
    """The tokens attended to."""
    query_name: str = ""
    """Name of the rows, written beside the grid."""
    key_name: str = ""
    """Name of the columns, written below the grid."""


def heads(maps: Mapping[str, Heads], *, title: str = "") -> Figure:
    """Draws a grid per kind of attention: one row per layer, one column per head; darker is more.

    All maps share one scale, from 0 to 1. In long texts, tokens are labelled at even distances.

    Args:
        maps: Maps by name, such as encoder, decoder and cross; the name is written above the grid.
        title: Shown above all.

    Returns:
        A figure, for a notebook or `save_figure`.

    Raises:
        ValueError: No maps, no tokens on a side, weights of another shape, or weights that are not
            finite.
    """
    if not maps:
        raise ValueError("maps must not be empty")
    checked = {name: _checked(name, kind) for name, kind in maps.items()}
    cells = [(_inches(one.key_tokens), _inches(one.query_tokens)) for one in checked.values()]
    shapes = [one.weights.shape for one in checked.values()]
    widths = [shape[1] * width + 1.5 for shape, (width, _) in zip(shapes, cells, strict=True)]
    heights = [shape[0] * height + 1.5 for shape, (_, height) in zip(shapes, cells, strict=True)]
    size = (sum(widths), max(heights))
    figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
    panels: Any = figure.subfigures(1, len(checked), squeeze=False, width_ratios=widths)
    for panel, (name, kind) in zip(panels[0], checked.items(), strict=True):
        _draw_panel(panel, name, kind)
    add_title(figure, title)
    return figure


def _checked(name: str, kind: Heads) -> Heads:
    weights = np.asarray(kind.weights, np.float64)
    for side in ("query_tokens", "key_tokens"):
        if not len(getattr(kind, side)):
            raise ValueError(f"{side} of {name!r} must not be empty")
    expected = (len(kind.query_tokens), len(kind.key_tokens))
    if weights.ndim != 4 or weights.shape[2:] != expected or 0 in weights.shape:
        raise ValueError(
            f"weights of {name!r} must have the shape (layers, heads, {expected[0]},"
            f" {expected[1]}), got {weights.shape}"
        )
    if not np.isfinite(weights).all():
        raise ValueError(f"weights of {name!r} must be finite")
    return kind._replace(weights=weights)


def _draw_panel(panel: Any, name: str, kind: Heads) -> None:
    layers, count = kind.weights.shape[:2]
    grid = panel.subplots(layers, count, sharex=True, sharey=True, squeeze=False)
    for layer, row in enumerate(grid):
        for head, axes in enumerate(row):
            weights = kind.weights[layer, head]
            axes.imshow(weights, cmap=WEIGHTS, vmin=0, vmax=1, aspect="auto")
            axes.tick_params(length=1, labelsize=_FONT_SIZE)
            if layer == 0:
                axes.set_title(f"head {head + 1}", fontsize=7)
        row[0].set_ylabel(f"layer {layer + 1}", fontsize=7)
    _label(grid[0, 0], "y", kind.query_tokens)
    _label(grid[0, 0], "x", kind.key_tokens)
    for axes in grid[-1]:
        axes.tick_params(axis="x", rotation=90)
    panel.set_facecolor(PAPER)
    panel.suptitle(drawable_text(name, 60), fontsize=9, **as_written([name]))
    for write, side in ((panel.supylabel, kind.query_name), (panel.supxlabel, kind.key_name)):
        if side:
            write(drawable_text(side, 60), fontsize=7, **as_written([side]))


def _label(axes: Axes, side: str, tokens: Sequence[str | bytes]) -> None:
    """Labels an axis, and those that share it, with as many of the tokens as fit."""
    step = max(1, int(np.ceil(len(tokens) * _TOKEN_INCHES / _inches(tokens) - 1e-6)))
    labels = [drawable_text(token, _LONGEST_TOKEN) for token in tokens[::step]]
    set_ticks = axes.set_xticks if side == "x" else axes.set_yticks
    set_ticks(range(0, len(tokens), step), labels, **as_written(tokens))
    if side == "x" and reads_right_to_left(tokens):
        axes.invert_xaxis()


def _inches(tokens: Sequence[Any]) -> float:
    """Computes the side length of one head's map."""
    return min(_LARGEST_CELL, max(_SMALLEST_CELL, len(tokens) * _TOKEN_INCHES))
