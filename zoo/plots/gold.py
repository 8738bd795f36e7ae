"""Attention beside the annotated alignment of the same words."""

from collections.abc import Collection, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from zoo.plots.attention import alignment

_COLOR = "crimson"


def gold_over_attention(
    weights: np.ndarray,
    query_tokens: Sequence[str | bytes],
    key_tokens: Sequence[str | bytes],
    sure: Collection[tuple[int, int]],
    possible: Collection[tuple[int, int]] = (),
    *,
    title: str = "",
    query_name: str = "",
    key_name: str = "",
) -> Figure:
    """Draws an attention map, and a frame around each cell that an annotator has linked.

    Args:
        weights: (queries, keys), without padding.
        query_tokens: The tokens that attend.
        key_tokens: The tokens attended to.
        sure: Annotated links (key, query), from 0, whose frames are whole.
        possible: Links that are possible only, whose frames are dashed; those that are sure too
            are drawn as sure ones.
        title: Shown above.
        query_name: Name of the rows.
        key_name: Name of the columns.

    Returns:
        A figure.

    Raises:
        ValueError: A link is outside of the map; or as `zoo.plots.alignment`.
    """
    names = {"query_name": query_name, "key_name": key_name}
    figure = alignment(weights, query_tokens, key_tokens, title=title, **names)
    axes = figure.axes[0]
    for links, style in ((set(sure), "solid"), (set(possible) - set(sure), "dashed")):
        for key, query in sorted(links):
            if not (0 <= key < len(key_tokens) and 0 <= query < len(query_tokens)):
                raise ValueError(
                    f"links must be inside of {len(key_tokens)} keys and {len(query_tokens)} "
                    f"queries, got {(key, query)}"
                )
            frame = Rectangle((key - 0.5, query - 0.5), 1, 1, fill=False)
            frame.set(edgecolor=_COLOR, linewidth=1.4, linestyle=style, clip_on=False)
            axes.add_patch(frame)
    return figure
