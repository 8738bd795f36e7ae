"""Growth curves on logarithmic axes, where a power of n is a straight line."""

import itertools
import math
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from zoo.plots.figures import add_note, add_title
from zoo.plots.text import as_written, drawable_text, font_families

_MARKERS = "os^Dv*"
_LONGEST_LABEL = 60
_COLUMNS = 2
_INCHES = (5.2, 3.8)


def growth_by_size(
    panels: Mapping[str, Mapping[str, Mapping[int, float]]],
    *,
    size_name: str = "n",
    title: str = "",
    note: str = "",
) -> Figure:
    """Draws panels, two per row, with one line per quantity measured at several sizes.

    Args:
        panels: Figures by panel title, line name and size. Lines with the same name look alike in
            all panels; a line may lack sizes.
        size_name: Name of the horizontal axis.
        title: Shown above.
        note: Shown below, small.

    Returns:
        A figure, for a notebook or `zoo.plots.save_figure`.

    Raises:
        ValueError: No panel, a panel without figures, or a size or figure that is not positive and
            finite, which logarithmic axes need.
    """
    _check(panels)
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    looks = {
        name: {"color": f"C{index % 10}", "marker": marker}
        for index, (name, marker) in enumerate(zip(names, itertools.cycle(_MARKERS), strict=False))
    }
    columns = min(_COLUMNS, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(_INCHES[0] * columns, _INCHES[1] * rows + 0.6), layout="constrained")
    grid = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes, (name, lines) in zip(grid, panels.items(), strict=False):
        for line, figures in lines.items():
            label = drawable_text(line, _LONGEST_LABEL).lstrip("_")  # "_" would hide a line's name
            sizes = sorted(figures)
            axes.plot(sizes, [figures[size] for size in sizes], label=label, **looks[line])
        _dress(axes, name, size_name, {size for line in lines.values() for size in line})
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    add_title(figure, title)
    add_note(figure, note)
    return figure


def _dress(axes: Axes, name: str, size_name: str, sizes: set[int]) -> None:
    """Sets axes, grid, title and legend of a panel."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sorted(sizes), [f"{size:,}" for size in sorted(sizes)], fontsize=8)
    axes.minorticks_off()
    axes.set_xlabel(drawable_text(size_name, _LONGEST_LABEL), **as_written([size_name]))
    axes.set_title(drawable_text(name, _LONGEST_LABEL), fontsize=10, **as_written([name]))
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    families = font_families(map(str, axes.get_legend_handles_labels()[1]))
    legend = axes.legend(frameon=False, prop={"family": families, "size": 9})
    for text in legend.get_texts():
        text.set_parse_math(False)


def _check(panels: Mapping[str, Mapping[str, Mapping[int, float]]]) -> None:
    """Raises ValueError, see `growth_by_size`."""
    if not panels:
        raise ValueError("panels must not be empty")
    for panel, lines in panels.items():
        if not any(lines.values()):
            raise ValueError(f"panels[{panel!r}] must hold figures, got {dict(lines)}")
        for line, figures in lines.items():
            numbers = np.array([*figures.keys(), *figures.values()], np.float64)
            if not (np.isfinite(numbers) & (numbers > 0)).all():
                raise ValueError(
                    f"panels[{panel!r}][{line!r}] must be positive and finite, got {dict(figures)}"
                )
