"""Learning curves: a score against the examples seen."""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from zoo.plots.figures import add_note, add_title
from zoo.plots.text import as_written, drawable_text, font_families

_STYLES = ("-", "--", ":", "-.")
_LONGEST_LABEL = 60

Curve = Sequence[tuple[float, float]]
"""Examples seen and score, in order."""


def learning_curves(
    curves: Mapping[str, Curve | Sequence[Curve]],
    *,
    score_name: str = "loss",
    seen_name: str = "sequences seen (thousands)",
    seen_in: float = 1000.0,
    title: str = "",
    note: str = "",
) -> Figure:
    """Draws one line per training; trainings of one model look alike.

    Args:
        curves: By model, the curve of its training, or those of several.
        score_name: Name of the vertical axis, which begins at 0.
        seen_name: Name of the horizontal axis.
        seen_in: Unit of the horizontal axis.
        title: Shown above.
        note: Shown below, small.

    Returns:
        A figure, for a notebook or `zoo.plots.save_figure`.

    Raises:
        ValueError: No model, or one without a point, or a number that is not finite.
    """
    if not curves:
        raise ValueError("curves must not be empty")
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for index, (model, of_model) in enumerate(curves.items()):
        label = drawable_text(model, _LONGEST_LABEL).lstrip("_")  # "_" would hide a line's name
        style = next(itertools.islice(itertools.cycle(_STYLES), index // 10, None))
        for number, points in enumerate(_checked(model, of_model)):
            axes.plot(
                points[:, 0] / seen_in,
                points[:, 1],
                style,
                color=f"C{index % 10}",
                linewidth=1.2,
                label=None if number else label,
            )
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.set_xlabel(drawable_text(seen_name, _LONGEST_LABEL), **as_written([seen_name]))
    axes.set_ylabel(drawable_text(score_name, _LONGEST_LABEL), **as_written([score_name]))
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    legend = axes.legend(frameon=False, prop={"family": font_families(curves)})
    for text in legend.get_texts():
        text.set_parse_math(False)
    add_title(figure, title)
    add_note(figure, note)
    return figure


def _checked(model: str, curves: Curve | Sequence[Curve]) -> list[np.ndarray]:
    """The points (n, 2) of each curve of a model; raises ValueError, see `learning_curves`."""
    listed = [*curves]
    several = bool(listed) and np.ndim(listed[0]) == 2
    found = [np.array(one, np.float64) for one in (listed if several else [listed])]
    if not all(one.ndim == 2 and one.shape[1] == 2 and np.isfinite(one).all() for one in found):
        raise ValueError(f"curves[{model!r}] must be pairs of finite numbers, got {listed}")
    return found
