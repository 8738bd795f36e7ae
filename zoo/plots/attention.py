"""Pictures of attention maps, and of a reader's answer."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from zoo.models.core.axes import BEFORE, SENTINEL
from zoo.plots.colors import ENDS, PAPER, STARTS, WEIGHTS
from zoo.plots.figures import LONGEST_TITLE, add_title, pick_row, window_around
from zoo.plots.text import as_written, drawable_text, reads_right_to_left

_FONT_SIZE = 9.0  # points, of tokens
_TOKEN_INCHES = 0.19  # size of a token label across its writing direction
_WIDEST_INCHES = 14.0
_HIGHEST_INCHES = 9.0
_LONGEST_TOKEN = 20  # characters
_COLORS = {"start": STARTS, "end": ENDS}
_ESTIMATES = ("start_probabilities", "end_probabilities")
_ANSWER_COLOR = "crimson"


class Alignment(NamedTuple):
    """A map that `alignments` draws."""

    weights: np.ndarray
    """(queries, keys), without padding."""
    query_tokens: Sequence[str | bytes]
    """The tokens that attend; bytes are read as UTF-8."""
    key_tokens: Sequence[str | bytes]
    """The tokens attended to, with `SENTINEL` last if the map has such a column."""
    query_name: str = ""
    """Name of the rows, written beside them."""
    key_name: str = ""
    """Name of the columns, written below them."""


def alignment(
    weights: np.ndarray,
    query_tokens: Sequence[str | bytes],
    key_tokens: Sequence[str | bytes],
    *,
    title: str = "",
    query_name: str = "",
    key_name: str = "",
) -> Figure:
    """Draws an attention map: one row per query, one column per key token; darker is more.

    In long texts, tokens are labelled at even distances. Keys in a right-to-left script run from
    right to left.

    Args:
        weights: (queries, keys), without padding.
        query_tokens: The tokens that attend; bytes are read as UTF-8.
        key_tokens: The tokens attended to, with `SENTINEL` last if the map has such a column.
        title: Shown above.
        query_name: Name of the rows, written beside them.
        key_name: Name of the columns, written below them.

    Returns:
        A figure, for a notebook or `save_figure`.

    Raises:
        ValueError: No tokens on a side, weights of another shape, or weights that are not finite.
    """
    one = Alignment(weights, query_tokens, key_tokens, query_name, key_name)
    return alignments([one], title=title)


def alignments(
    maps: Sequence[Alignment], *, title: str = "", weight_name: str = "attention"
) -> Figure:
    """Draws attention maps side by side, each as `alignment` draws it.

    Args:
        maps: One at least.
        title: Shown above all.
        weight_name: Name of the weights, written beside their colours.

    Returns:
        A figure, for a notebook or `save_figure`.

    Raises:
        ValueError: No maps; or as `alignment`, for one of them.
    """
    if not maps:
        raise ValueError("maps must hold at least one, got none")
    maps = [one._replace(weights=checked_weights(*one[:3])) for one in maps]
    widths, heights = zip(*(inches_of(one) for one in maps), strict=True)
    height = max(heights)
    size = (sum(widths) + 2.2 * len(maps), height + 1.6)
    figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
    grid = figure.subplots(1, len(maps), squeeze=False, width_ratios=widths)
    for axes, one, width in zip(grid[0], maps, widths, strict=True):
        draw_alignment(figure, axes, one, (width, height), weight_name)
    add_title(figure, title)
    return figure


def inches_of(one: Alignment) -> tuple[float, float]:
    """Computes the width and the height of a map."""
    queries, keys = np.shape(one.weights)
    return _inches(keys, _WIDEST_INCHES), _inches(queries, _HIGHEST_INCHES)


def draw_alignment(
    figure: Figure,
    axes: Axes,
    one: Alignment,
    inches: tuple[float, float],
    weight_name: str = "attention",
) -> None:
    """Draws a map into axes of this width and height, and its colour bar beside them."""
    width, height = inches
    largest = _largest(one.weights)
    image = axes.imshow(one.weights, cmap=WEIGHTS, vmin=0, vmax=largest, aspect="auto")
    label_tokens(axes, "y", one.query_tokens, height)
    label_tokens(axes, "x", one.key_tokens, width)
    axes.set_ylabel(drawable_text(one.query_name, LONGEST_TITLE), **as_written([one[3]]))
    axes.set_xlabel(drawable_text(one.key_name, LONGEST_TITLE), **as_written([one[4]]))
    _color_bar(figure, image, width, height, weight_name)


def tape(weights: np.ndarray, tokens: Sequence[str | bytes], *, title: str = "") -> Figure:
    """Draws which earlier words each word of a text attends to.

    Args:
        weights: (T, T + 1), without padding; the last column is for everything before the text.
        tokens: The T tokens; bytes are read as UTF-8.
        title: Shown above.

    Returns:
        A figure.

    Raises:
        ValueError: As `alignment`.
    """
    names = {"query_name": "word read", "key_name": "words before it"}
    return alignment(weights, tokens, [*tokens, BEFORE], title=title, **names)


def reading(result: Mapping[str, Any], row: int = 0, *, maximum_tokens: int = 45) -> Figure:
    """Draws how a reader found its answer, in a window around the answer.

    Above, for each context word, the question words that it attends to; below, the probabilities of
    the answer's start and end at each iteration, the best one dotted; of a reader that answers at
    once there is nothing below. The answer is red.

    Args:
        result: Outputs of a reading servable, as NumPy arrays or tensors.
        row: Which question of the batch.
        maximum_tokens: Number of context tokens to draw.

    Returns:
        A figure.

    Raises:
        ValueError: `row` is not in the batch, or its context has no token.
    """
    picked, length = pick_row(result, row, "context")
    words = int(picked["question_length"])
    answer = answer_tokens(picked, length)
    estimates = [picked[name] for name in _ESTIMATES if name in picked]  # (I, m) each
    window = window_around(middle_of(picked, answer), length, maximum_tokens)
    tokens = list(picked["context_tokens"][window])
    asked = [*picked["question_tokens"][:words], SENTINEL]
    attention = picked["attention_context_to_question"][window]  # (columns, n + 1)
    attention = np.concatenate([attention[:, :words], attention[:, -1:]], axis=1).T

    width = _inches(len(tokens), _WIDEST_INCHES)
    heights = [_inches(len(asked), _HIGHEST_INCHES)]
    heights += [len(estimate) * _TOKEN_INCHES for estimate in estimates]
    figure = Figure(
        figsize=(width + 2.6, sum(heights) + 2.4), layout="constrained", facecolor=PAPER
    )
    grid = figure.subplots(len(heights), sharex=True, height_ratios=heights, squeeze=False)
    above, *below = panels = [*grid[:, 0]]
    image = above.imshow(attention, cmap=WEIGHTS, vmin=0, vmax=_largest(attention), aspect="auto")
    label_tokens(above, "y", asked, heights[0])
    above.set_ylabel("question")
    _color_bar(figure, image, width, heights[0], "attention")
    for axes, estimate, side in zip(below, estimates, ("start", "end"), strict=False):
        image = _draw_iterations(axes, side, estimate[:, window])
        _color_bar(figure, image, width, heights[1], "")
    label_tokens(panels[-1], "x", tokens, width)
    panels[-1].set_xlabel("text")
    _mark_answer(panels, answer, window)
    for axes in panels[:-1]:  # the last one's tokens are meant for all
        axes.tick_params(axis="x", length=0)
    figure.align_ylabels()
    question = drawable_text(b" ".join(picked["question_tokens"][:words]), LONGEST_TITLE)
    answer_text = drawable_text(picked["answer"], LONGEST_TITLE)
    add_title(figure, f"{question}\n→ {answer_text} ({picked['score']:.2f})")
    return figure


def checked_weights(
    weights: np.ndarray, query_tokens: Sequence[Any], key_tokens: Sequence[Any]
) -> np.ndarray:
    """Returns weights (queries, keys) as float64.

    Raises:
        ValueError: No tokens on a side, weights of another shape, or weights that are not finite.
    """
    weights = np.asarray(weights, np.float64)
    for name, tokens in (("query_tokens", query_tokens), ("key_tokens", key_tokens)):
        if not len(tokens):
            raise ValueError(f"{name} must not be empty")
    expected = (len(query_tokens), len(key_tokens))
    if weights.shape != expected:
        raise ValueError(
            f"weights must have a row a query token and a column a key token, {expected},"
            f" got {weights.shape}"
        )
    if not np.isfinite(weights).all():
        raise ValueError("weights must be finite")
    return weights


def answer_tokens(picked: Mapping[str, Any], length: int) -> tuple[int, int] | None:
    """First and last token of the answer: of all runs with its text, the most probable one.

    The iterations whose own estimate is the answer decide, or all if there is none: an earlier one
    may have been surer of another place. Without estimates it is the first run.
    """
    wanted = _squeezed(picked["answer"])
    tokens = [_squeezed(token) for token in picked["context_tokens"][:length]]
    runs = []
    for first in range(length):
        text = ""
        for last in range(first, length):
            text += tokens[last]
            if text == wanted:
                runs.append((first, last))
            if len(text) >= len(wanted):
                break
    if not runs or _ESTIMATES[0] not in picked:
        return runs[0] if runs else None
    starts, ends = (picked[name] for name in _ESTIMATES)  # (I, m)
    if "start_per_iteration" in picked:
        deciding = picked["start_per_iteration"] == picked["start"]
        deciding &= picked["end_per_iteration"] == picked["end"]
        if deciding.any():
            starts, ends = starts[deciding], ends[deciding]
    return max(runs, key=lambda run: (starts[:, run[0]] * ends[:, run[1]]).max())


def middle_of(picked: Mapping[str, Any], answer: tuple[int, int] | None) -> int:
    """The token to draw in the middle; where the answer is not found, the likeliest start."""
    if answer:
        return sum(answer) // 2
    return int(picked[_ESTIMATES[0]][-1].argmax()) if _ESTIMATES[0] in picked else 0


def _draw_iterations(axes: Axes, side: str, probabilities: np.ndarray) -> AxesImage:
    """Draws probabilities (I, columns) with a dot on the best column of each iteration."""
    image = axes.imshow(probabilities, cmap=_COLORS[side], vmin=0, vmax=1, aspect="auto")
    iterations = len(probabilities)
    axes.scatter(probabilities.argmax(axis=1), range(iterations), s=12, color="black")
    axes.set_yticks(range(iterations), [str(1 + index) for index in range(iterations)])
    axes.tick_params(axis="y", labelsize=_FONT_SIZE, length=2)
    axes.set_ylabel(side)
    return image


def _mark_answer(all_axes: Sequence[Axes], answer: tuple[int, int] | None, window: slice) -> None:
    """Frames the answer's columns and colours its words like the frame."""
    if answer is None:
        return
    first, last = (position - window.start for position in answer)
    for axes in all_axes:
        bottom, top = axes.get_ylim()
        frame = Rectangle((first - 0.5, top), last - first + 1, bottom - top, fill=False)
        frame.set(edgecolor=_ANSWER_COLOR, linewidth=1.2, clip_on=False)
        axes.add_patch(frame)
    axes = all_axes[-1]
    for position, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True):
        if first <= position <= last:
            label.set_color(_ANSWER_COLOR)


def _inches(tokens: int, most: float) -> float:
    """Computes the length of an axis for a number of tokens."""
    return min(most, max(tokens, 6) * _TOKEN_INCHES)


def label_tokens(axes: Axes, side: str, tokens: Sequence[str | bytes], inches: float) -> None:
    """Labels an axis with as many of the tokens as fit."""
    step = max(1, int(np.ceil(len(tokens) * _TOKEN_INCHES / inches - 1e-6)))
    labels = [drawable_text(token, _LONGEST_TOKEN) for token in tokens[::step]]
    set_ticks = axes.set_xticks if side == "x" else axes.set_yticks
    style = as_written(tokens[::step])
    set_ticks(range(0, len(tokens), step), labels, fontsize=_FONT_SIZE, **style)
    axes.tick_params(axis="x", rotation=90, length=2)
    axes.tick_params(axis="y", length=2)
    if side == "x" and reads_right_to_left(tokens):
        axes.invert_xaxis()


def _color_bar(figure: Figure, image: AxesImage, width: float, height: float, label: str) -> None:
    """Adds a colour bar of constant thickness; width and height are the axes', in inches."""
    thickness = 0.8 * _TOKEN_INCHES
    bar = figure.colorbar(
        image,
        ax=image.axes,
        fraction=thickness / width,
        pad=0.08 / width,
        aspect=height / thickness,
    )
    bar.outline.set_visible(False)
    bar.locator = MaxNLocator(4)
    bar.ax.tick_params(labelsize=_FONT_SIZE - 1, length=2)
    bar.set_label(label, fontsize=_FONT_SIZE)


def _largest(weights: np.ndarray) -> float:
    """Returns the upper end of the colour scale, also for a map of zeros."""
    return float(weights.max(initial=0)) or 1.0


def _squeezed(text: str | bytes) -> str:
    """Removes token separators, spaces and invisible marks, from text."""
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return "".join(c for c in decoded if unicodedata.category(c)[0] not in "ZC")
