"""Arcs above a sentence, from heads to their dependents: trees, and distributions of trees."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc

from zoo.plots.attention import (
    Alignment,
    checked_weights,
    draw_alignment,
    inches_of,
    label_tokens,
)
from zoo.plots.colors import INK, PAPER, QUIET, WEIGHT
from zoo.plots.figures import add_note, add_title
from zoo.plots.text import drawable_text

FAINTEST = 0.05
"""Smallest probability of an arc that is drawn."""
_INCHES = 2.2
_NOTE = "Arcs go from parents to children, whose end is marked; darker is more probable."


class Arcs(NamedTuple):
    """Probabilities of the heads of words."""

    weights: np.ndarray
    """(words, words), without padding: row j holds the probabilities of the heads of word j."""
    tokens: Sequence[str | bytes]
    """The words; bytes are read as UTF-8."""
    name: str = ""
    """Name of the arcs, written beside them."""


def arcs(
    weights: np.ndarray, tokens: Sequence[str | bytes], *, title: str = "", name: str = ""
) -> Figure:
    """Draws the heads of words as arcs above a sentence; darker and thicker is more probable.

    Arcs end in a mark at the dependent. Those less probable than `FAINTEST` are left out.

    Args:
        weights: (words, words), without padding: row j holds the probabilities of the heads of
            word j.
        tokens: The words; bytes are read as UTF-8.
        title: Shown above.
        name: Name of the arcs, written beside them.

    Returns:
        A figure, for a notebook or `save_figure`.

    Raises:
        ValueError: No tokens, weights of another shape, or weights that are not finite.
    """
    one = Arcs(checked_weights(weights, tokens, tokens), tokens, name)
    width, _ = inches_of(Alignment(*one[:2], tokens))
    size = (width + 1.2, _INCHES + 1.6)
    figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
    panel = figure.subplots()
    draw_arcs(panel, one)
    label_tokens(panel, "x", tokens, width)
    add_title(figure, title)
    add_note(figure, _NOTE)
    return figure


def alignment_below_arcs(above: Arcs, below: Alignment, *, title: str = "") -> Figure:
    """Draws arcs above the words that an alignment attends to, each over its column.

    Args:
        above: Of the words that are attended to.
        below: The alignment.
        title: Shown above both.

    Returns:
        A figure.

    Raises:
        ValueError: As `arcs` and `zoo.plots.attention.alignment`; or the words are not the same.
    """
    if list(above.tokens) != list(below.key_tokens):
        raise ValueError(
            f"tokens must be those attended to, {list(below.key_tokens)}, got {list(above.tokens)}"
        )
    above = above._replace(weights=checked_weights(above.weights, above.tokens, above.tokens))
    below = below._replace(weights=checked_weights(*below[:3]))
    width, height = inches_of(below)
    size = (width + 2.2, _INCHES + height + 2.0)
    figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
    heights = (_INCHES, height)
    upper, lower = figure.subplots(2, sharex=True, height_ratios=heights)
    draw_arcs(upper, above)
    draw_alignment(figure, lower, below, (width, height))
    upper.tick_params(axis="x", length=0, labelbottom=False)
    add_title(figure, title)
    add_note(figure, _NOTE)
    return figure


def draw_arcs(panel: Axes, one: Arcs) -> None:
    """Draws arcs into axes whose columns are the words."""
    count = len(one.tokens)
    children, heads = np.nonzero(one.weights >= FAINTEST)
    spans = np.abs(children - heads)
    highest = float(spans.max(initial=1))
    # The least probable first: the others are drawn over them.
    for place in np.argsort(one.weights[children, heads]):
        child, head = int(children[place]), int(heads[place])
        chance = min(float(one.weights[child, head]), 1.0)  # marginals may round above one
        if head == child:  # what attends to itself
            panel.scatter([child], [0.06], s=26, facecolors="none", edgecolors=WEIGHT, alpha=chance)
            continue
        middle, width = (child + head) / 2, abs(child - head)
        # An ellipse is as high below the axis as above it.
        arc = Arc((middle, 0), width, 2 * width / highest, theta1=0, theta2=180)
        arc.set(color=WEIGHT, alpha=chance, linewidth=0.5 + 1.7 * chance)
        panel.add_patch(arc)
        panel.scatter([child], [0], marker="v", s=14, color=INK, alpha=chance, clip_on=False)
    panel.set_xlim(-0.5, count - 0.5)
    panel.set_ylim(0, 1.08)
    panel.set_yticks([])
    panel.set_ylabel(drawable_text(one.name, 40), color=QUIET)
    for side in ("left", "right", "top"):
        panel.spines[side].set_visible(False)
    panel.set_facecolor("none")
