"""Pictures of hops of attention: running text, once for each hop and once for their sum."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from zoo.plots.documents import Shaded, document
from zoo.plots.figures import LONGEST_TITLE, pick_row, window_around
from zoo.plots.text import as_text, drawable_text

_END = "hops"  # of the names of their maps


def hops(
    result: Mapping[str, Any],
    row: int = 0,
    *,
    maximum_hops: int | None = 6,
    maximum_tokens: int = 140,
) -> Figure:
    """Draws a text as a heat map of the sum of all hops, and below of each hop.

    Each has its own scale. Of a pair, one text follows the other.

    Args:
        result: Outputs of a servable whose maps `attention_hops` or `attention_<text>_hops` are
            (batch, hops, tokens), as NumPy arrays or tensors.
        row: Which example of the batch.
        maximum_hops: How many hops to draw, those that overlap least with each other; None: all.
        maximum_tokens: Number of tokens to draw of a text, around the largest sum.

    Returns:
        A figure.

    Raises:
        ValueError: There are no hops, `row` is not in the batch, a text has no token, or
            `maximum_hops` is not positive.
    """
    if maximum_hops is not None and maximum_hops < 1:
        raise ValueError(f"maximum_hops must be positive, got {maximum_hops}")
    sides = {name: side_of(name) for name in result if side_of(name) is not None}
    if not sides:
        raise ValueError(f"result must have a map of hops, got {', '.join(sorted(result))}")
    panels: dict[str, Shaded] = {}
    for name, side in sides.items():
        picked, length = pick_row(result, row, str(side))
        weights = np.asarray(picked[name], np.float64)[:, :length]
        total = weights.sum(axis=0)
        window = window_around(int(total.argmax()), length, maximum_tokens)
        tokens, said = picked[f"{side}_tokens"][window], "" if len(sides) == 1 else f"{side}, "
        several = len(weights) > 1  # else it is a pooling
        name = f"{said}sum of {len(weights)} hops" if several else f"{said}weights"
        panels[name] = Shaded(total[window], tokens)
        for hop in apart(weights, maximum_hops or len(weights)) if several else ():
            panels[f"{said}hop {hop + 1}"] = Shaded(weights[hop, window], tokens)
    return document(panels, title=_said(picked))


def side_of(name: str) -> str | None:
    """Names the text of a map of hops: "text" of `attention_hops`; None if it is no such map."""
    first, *sides = name.split("_")
    if first != "attention" or not sides or sides.pop() != _END:
        return None
    return "_".join(sides) or "text"


def apart(weights: np.ndarray, count: int) -> list[int]:
    """Chooses hops (r, T) that look at different words, the most concentrated one first.

    Each further one has the least overlap with those that are chosen; all are in their order.
    """
    overlaps = weights @ weights.T  # (r, r)
    chosen = [int(overlaps.diagonal().argmax())]
    while len(chosen) < min(count, len(weights)):
        nearest = overlaps[:, chosen].max(axis=1)
        nearest[chosen] = np.inf
        chosen.append(int(nearest.argmin()))
    return sorted(chosen)


def _said(picked: Mapping[str, Any]) -> str:
    """Makes the title: the label and its probability, if any."""
    if "label" not in picked:
        return ""
    label = drawable_text(as_text(picked["label"]), LONGEST_TITLE)
    return f"→ {label} ({float(np.max(picked['probabilities'])):.2f})"
