"""Pictures of running text as a heat map, and of a cloze reader's answer."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from zoo.plots.colors import LIGHT_TEXT_FROM, PAPER, WEIGHTS
from zoo.plots.figures import LONGEST_TITLE, add_title, pick_row, window_around
from zoo.plots.text import as_text, as_written, drawable_text, reads_right_to_left

_COLUMNS = 14  # tokens per line
_LONGEST_TOKEN = 12  # characters
_CELL_INCHES = (0.86, 0.24)
_FONT_SIZE = 8.0
_ANSWER_COLOR = "crimson"


class Shaded(NamedTuple):
    """Text with a weight for each token."""

    weights: np.ndarray
    """(T,), non-negative, without padding."""
    tokens: Sequence[str | bytes]
    """The T tokens; bytes are read as UTF-8."""


def document(texts: Mapping[str, Shaded], *, marked: str | bytes = "", title: str = "") -> Figure:
    """Draws texts in lines as in a book, each token on a background as dark as its weight.

    Each text has its own scale, named above it. Lines in a right-to-left script run from right to
    left.

    Args:
        texts: Tokens and weights by name; the name is written above the text.
        marked: A token to frame in red wherever it occurs; none if empty.
        title: Shown above all.

    Returns:
        A figure, for a notebook or `save_figure`.

    Raises:
        ValueError: No texts, a text without tokens, or weights of another length, negative or not
            finite.
    """
    if not texts:
        raise ValueError("texts must not be empty")
    checked = {name: _checked(name, text) for name, text in texts.items()}
    heights = [-(-len(text.tokens) // _COLUMNS) * _CELL_INCHES[1] for text in checked.values()]
    width = _COLUMNS * _CELL_INCHES[0]
    figure = Figure(
        figsize=(width + 0.6, sum(heights) + 1.6), layout="constrained", facecolor=PAPER
    )
    panels = np.atleast_1d(figure.subplots(len(checked), height_ratios=heights))
    for axes, (name, text) in zip(panels, checked.items(), strict=True):
        _draw_text(axes, name, text, as_text(marked))
    add_title(figure, title)
    return figure


def cloze(result: Mapping[str, Any], row: int = 0, *, maximum_tokens: int = 420) -> Figure:
    """Draws a cloze reader's attention: s over the document and, below, beta over the query.

    The text runs in lines as in a book; darker is more, and each side has its own scale. The answer
    is framed in red wherever it occurs.

    Args:
        result: Outputs of a cloze servable, as NumPy arrays or tensors.
        row: Which query of the batch.
        maximum_tokens: Number of document tokens to draw, around the largest weight.

    Returns:
        A figure.

    Raises:
        ValueError: `row` is not in the batch, or its document has no token.
    """
    picked, length = pick_row(result, row, "document")
    weights = picked["attention_document"][:length]
    window = window_around(int(weights.argmax()), length, maximum_tokens)
    texts = {"document": Shaded(weights[window], picked["document_tokens"][window])}
    asked = slice(0, int(picked["query_length"]))
    if "attention_query" in picked and asked.stop:
        texts["query"] = Shaded(picked["attention_query"][asked], picked["query_tokens"][asked])
    query = drawable_text(b" ".join(picked["query_tokens"][asked]), LONGEST_TITLE)
    answer = drawable_text(picked["answer"], LONGEST_TITLE)
    title = f"{query}\n→ {answer} ({float(picked['probabilities'][0]):.2f})"
    return document(texts, marked=picked["answer"], title=title)


def _checked(name: str, text: Shaded) -> Shaded:
    weights = np.asarray(text.weights, np.float64)
    if not len(text.tokens):
        raise ValueError(f"tokens of {name!r} must not be empty")
    if weights.shape != (len(text.tokens),):
        raise ValueError(
            f"weights of {name!r} must have the shape ({len(text.tokens)},), got {weights.shape}"
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"weights of {name!r} must be finite and not negative")
    return text._replace(weights=weights)


def _draw_text(axes: Axes, name: str, text: Shaded, marked: str) -> None:
    """Draws tokens in lines, each on a background as dark as its weight."""
    weights, tokens = text
    lines = -(-len(tokens) // _COLUMNS)
    grid = np.full(lines * _COLUMNS, np.nan)
    grid[: len(weights)] = weights
    largest = float(np.max(weights, initial=0.0)) or 1.0
    shown = grid.reshape(lines, _COLUMNS)
    axes.imshow(shown, cmap=WEIGHTS, vmin=0, vmax=largest, aspect="auto")
    axes.set_facecolor(PAPER)  # where the last line has no token
    style = as_written(tokens)
    for position, token in enumerate(tokens):
        dark = weights[position] > LIGHT_TEXT_FROM * largest
        found = bool(marked) and as_text(token) == marked
        axes.text(
            position % _COLUMNS,
            position // _COLUMNS,
            drawable_text(token, _LONGEST_TOKEN),
            color="white" if dark else "black",
            weight="bold" if found else "normal",
            fontsize=_FONT_SIZE,
            horizontalalignment="center",
            verticalalignment="center",
            **style,
        )
        if found:
            corner = (position % _COLUMNS - 0.48, position // _COLUMNS - 0.46)
            frame = Rectangle(corner, 0.96, 0.92, fill=False)
            frame.set(edgecolor=_ANSWER_COLOR, linewidth=1.2)
            axes.add_patch(frame)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(
        f"{drawable_text(name, 60)}: {largest:.2f} where darkest",
        loc="left",
        fontsize=_FONT_SIZE,
        **as_written([name]),
    )
    if reads_right_to_left(tokens):
        axes.invert_xaxis()
