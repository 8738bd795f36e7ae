"""Pictures of a machine with a memory at work: answers, vectors, and where its heads were."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from zoo.plots.colors import PAPER, WEIGHTS
from zoo.plots.figures import add_title
from zoo.plots.text import drawable_text

_INCHES_A_STEP, _INCHES_A_ROW = 0.14, 0.075
_NARROWEST, _WIDEST = 4.0, 16.0
_LEAST_ROWS, _MOST_ROWS = 10, 40  # of a panel's height
_NEEDED = ("probabilities", "reads", "adds", "attention_read", "attention_write")


def has_memory(result: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    """Returns whether `machine` finds all that it draws."""
    return result.keys() >= {*_NEEDED} and inputs.keys() >= {"vectors", "length"}


def machine(
    result: Mapping[str, Any], inputs: Mapping[str, Any], row: int = 0, *, title: str = ""
) -> Figure:
    """Draws what a machine was given, answered, added and read over time, and where.

    Time runs from left to right, as in figures 6 and 9 of Graves et al. 2014. On the left are the
    input, the vectors that were added, and the weights of the write heads; on the right the
    answers, the vectors that were read, and the weights of the read heads. Heads are one below the
    other.

    Args:
        result: Outputs of a servable: `probabilities` (batch, T, o), `adds` and `reads` (batch, T,
            heads, m), `attention_write` and `attention_read` (batch, heads, T, slots), as NumPy
            arrays or tensors.
        inputs: What it was asked: `vectors` (batch, T, d) and `length` (batch,).
        row: Which example of the batch.
        title: Shown above.

    Returns:
        A figure, for a notebook or `save_figure`.

    Raises:
        ValueError: An output or an input is missing, `row` is not in the batch, or its length is
            zero.
    """
    if not has_memory(result, inputs):
        found = ", ".join(sorted([*result, *inputs]))
        raise ValueError(
            f"result must have {', '.join(_NEEDED)}, and inputs vectors and length, got {found}"
        )
    batch = len(result["probabilities"])
    if not 0 <= row < batch:
        raise ValueError(f"row must be in a batch of {batch}, got {row}")
    steps = int(np.asarray(inputs["length"])[row])
    if not steps:
        raise ValueError(f"row {row}: its length must be positive, got 0")
    grids = _grids(result, inputs, row, steps)
    heights = [
        min(max(_LEAST_ROWS, *(grid.shape[0] for _, grid in pair)), _MOST_ROWS) for pair in grids
    ]
    width = min(max(_NARROWEST, _INCHES_A_STEP * steps), _WIDEST)
    size = (2 * width + 0.6, _INCHES_A_ROW * sum(heights) + 1.8)
    figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
    panels = figure.subplots(len(grids), 2, squeeze=False, sharex=True, height_ratios=heights)
    for pair, axes in zip(grids, panels, strict=True):
        for (name, grid), panel in zip(pair, axes, strict=True):
            panel.imshow(grid, aspect="auto", interpolation="nearest", cmap=WEIGHTS)
            panel.set_title(drawable_text(name, 40), fontsize=9)
            panel.set_yticks([])
    for panel in panels[-1]:
        panel.set_xlabel("step", fontsize=8)
    add_title(figure, title)
    return figure


def _grids(
    result: Mapping[str, Any], inputs: Mapping[str, Any], row: int, steps: int
) -> list[list[tuple[str, np.ndarray]]]:
    """Names and values (rows, T) of the panels, line by line."""
    picked = {name: np.asarray(result[name], np.float64)[row] for name in _NEEDED}
    vectors = np.asarray(inputs["vectors"], np.float64)[row]
    # Vectors of all heads one below the other: (T, heads, m) to (heads m, T).
    adds, reads = (picked[n].reshape(len(picked[n]), -1).T for n in ("adds", "reads"))
    # Weights likewise: (heads, T, slots) to (heads slots, T).
    writes, looks = (
        np.concatenate([head.T for head in picked[f"attention_{name}"]])
        for name in ("write", "read")
    )
    lines = [
        [("input", vectors.T), ("answers", picked["probabilities"].T)],
        [("added", adds), ("read", reads)],
        [("weights of the write heads", writes), ("weights of the read heads", looks)],
    ]
    return [[(name, grid[:, :steps]) for name, grid in line] for line in lines]
