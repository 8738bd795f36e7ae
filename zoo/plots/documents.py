"""A picture of how a cloze reader filled a blank: the document as a heat map, and the query."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from zoo.plots.figures import LONGEST_TITLE, add_title, pick_row, window_around
from zoo.plots.text import drawable_text, font_families

_COLUMNS = 14  # tokens a line
_LONGEST_TOKEN = 12  # characters
_CELL_INCHES = (0.86, 0.24)
_FONT_SIZE = 8.0
_COLORS = {"document": "Blues", "query": "Greens"}
_ANSWER_COLOR = "crimson"


def cloze(result: Mapping[str, Any], row: int = 0, *, maximum_tokens: int = 420) -> Figure:
    """Draws where a cloze reader looked: s over the document and, below, beta over the query.

    The text runs in lines as in a book; darker is more, each side on a scale of its own. The answer
    is framed in red wherever it stands.

    Args:
        result: What a cloze servable answers, as NumPy arrays or tensors.
        row: Which query of the batch.
        maximum_tokens: How many tokens of a document are drawn: those around the largest weight.

    Returns:
        A figure.

    Raises:
        ValueError: `row` is not in the batch, or its document has no token.
    """
    picked, length = pick_row(result, row, "document")
    weights = picked["attention_document"][:length]
    window = window_around(int(weights.argmax()), length, maximum_tokens)
    sides = [("document", picked["document_tokens"][window], weights[window])]
    asked = slice(0, int(picked["query_length"]))
    if "attention_query" in picked:
        sides.append(("query", picked["query_tokens"][asked], picked["attention_query"][asked]))
    heights = [-(-len(tokens) // _COLUMNS) * _CELL_INCHES[1] for _, tokens, _ in sides]
    width = _COLUMNS * _CELL_INCHES[0]
    figure = Figure(figsize=(width + 0.6, sum(heights) + 1.6), layout="constrained")
    panels = np.atleast_1d(figure.subplots(len(sides), height_ratios=heights))
    for axes, (side, tokens, values) in zip(panels, sides, strict=True):
        _draw_text(axes, side, tokens, values, picked["answer"])
    query = drawable_text(b" ".join(picked["query_tokens"][asked]), LONGEST_TITLE)
    answer = drawable_text(picked["answer"], LONGEST_TITLE)
    add_title(figure, f"{query}\n→ {answer} ({float(picked['probabilities'][0]):.2f})")
    return figure


def _draw_text(
    axes: Axes, side: str, tokens: Sequence[bytes], weights: np.ndarray, answer: bytes
) -> None:
    """Draws tokens in lines, each on a field as dark as its weight."""
    lines = -(-len(tokens) // _COLUMNS)
    grid = np.full(lines * _COLUMNS, np.nan)
    grid[: len(weights)] = weights
    largest = float(np.max(weights, initial=0.0)) or 1.0
    shown = grid.reshape(lines, _COLUMNS)
    axes.imshow(shown, cmap=_COLORS[side], vmin=0, vmax=largest, aspect="auto")
    families = list(font_families())
    for position, token in enumerate(tokens):
        dark = weights[position] > 0.6 * largest
        found = bool(answer) and token == answer
        axes.text(
            position % _COLUMNS,
            position // _COLUMNS,
            drawable_text(token, _LONGEST_TOKEN),
            color="white" if dark else "black",
            weight="bold" if found else "normal",
            fontsize=_FONT_SIZE,
            family=families,
            horizontalalignment="center",
            verticalalignment="center",
            parse_math=False,
        )
        if found:
            corner = (position % _COLUMNS - 0.48, position // _COLUMNS - 0.46)
            frame = Rectangle(corner, 0.96, 0.92, fill=False)
            frame.set(edgecolor=_ANSWER_COLOR, linewidth=1.2)
            axes.add_patch(frame)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(f"{side}: {largest:.2f} where darkest", loc="left", fontsize=_FONT_SIZE)
