"""Bars of several measures of importance side by side, a panel each."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from zoo.plots.colors import PAPER
from zoo.plots.figures import add_note, add_title
from zoo.plots.text import drawable_text

_PANEL_INCHES, _BAR_INCHES, _LONGEST_NAME = 2.3, 0.24, 30
_COLORS = ("tab:blue", "tab:gray")


def importances(
    features: Sequence[str],
    groups: Mapping[str, Mapping[str, np.ndarray]],
    *,
    correlations: Mapping[str, Mapping[str, float]] | None = None,
    title: str = "",
    note: str = "",
) -> Figure:
    """Draws measures of the importance of features, the weights in colour and first.

    Args:
        features: their names.
        groups: a name, such as "one row" -> measure -> (features,); a line of panels each.
        correlations: name of a group -> measure -> rank correlation with the first one, for the
            panels' titles; NaN is left out.
        title: shown above.
        note: shown below.

    Returns:
        A figure.

    Raises:
        ValueError: there is nothing to draw, or a measure has not a finite number a feature.
    """
    if not features or not groups:
        raise ValueError(f"features and groups must not be empty, got {features!r}, {groups!r}")
    for measures in groups.values():
        for name, values in measures.items():
            if np.shape(values) != (len(features),) or not np.isfinite(values).all():
                raise ValueError(
                    f"{name} must be {len(features)} finite numbers, got {np.shape(values)}"
                )
    columns = max(len(measures) for measures in groups.values())
    height = (0.8 + _BAR_INCHES * len(features)) * len(groups) + 0.6
    size = (_PANEL_INCHES * columns + 1.2, height)
    figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
    panels = figure.subplots(len(groups), columns, squeeze=False, sharey=True)
    labels = [drawable_text(name, _LONGEST_NAME) for name in features]
    for line, (group, measures) in zip(panels, groups.items(), strict=True):
        told = (correlations or {}).get(group, {})
        for place, (name, values) in enumerate(measures.items()):
            panel = line[place]
            panel.barh(range(len(features)), values, color=_COLORS[place > 0])
            panel.axvline(0, color="black", linewidth=0.6)
            panel.set_yticks(range(len(features)), labels)
            panel.tick_params(labelsize=8)
            panel.xaxis.set_major_locator(MaxNLocator(4))
            panel.set_title(_titled(group, name, told.get(name)), fontsize=9)
        for panel in line[len(measures) :]:
            panel.set_axis_off()
    panels[0][0].invert_yaxis()
    add_title(figure, title)
    add_note(figure, note)
    return figure


def _titled(group: str, measure: str, correlation: float | None) -> str:
    """A panel's title, with the rank correlation where there is one."""
    text = f"{group}\n{measure}"
    if correlation is None or not np.isfinite(correlation):
        return text
    return f"{text}\nrank correlation {correlation:+.2f}"
