"""Attention over other things than tokens: cells of an image, features of a row.

`declared` draws any map of them by the meaning of its axes, which the model card holds.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes as Panel
from matplotlib.figure import Figure

from zoo.models.core.axes import Axes, Features, Grid, Steps
from zoo.plots.colors import PAPER, WEIGHTS
from zoo.plots.figures import add_title
from zoo.plots.text import as_text, drawable_text

_PANEL_INCHES = 2.2
_BAR_INCHES = 0.3
_LONGEST_NAME = 30  # characters
_BAR_COLOR = "tab:blue"


def over_image(
    weights: np.ndarray, image: np.ndarray, *, names: Sequence[str] = (), title: str = ""
) -> Figure:
    """Draws an image, and for each query a heat map over it.

    Args:
        weights: (queries, rows, columns) of cells that cover the image.
        image: (H, W), (H, W, 1) or (H, W, 3), from 0 to 1.
        names: One for each query; none: they are numbered.
        title: Shown above.

    Returns:
        A figure, for a notebook or `save_figure`.

    Raises:
        ValueError: Shapes or numbers that are none of these.
    """
    weights, names = _checked(weights, names, 3)
    pixels = as_pixels(image)
    height, width = pixels.shape[:2]
    figure, panels = _panels(1 + len(weights), _PANEL_INCHES * height / width)
    largest = float(weights.max(initial=0)) or 1.0
    for panel, name in zip(panels, ("image", *names), strict=True):
        panel.imshow(pixels, cmap="gray", vmin=0, vmax=1, extent=(0, width, height, 0))
        panel.set_title(drawable_text(name, _LONGEST_NAME), fontsize=9)
        panel.set_axis_off()
    for panel, cells in zip(panels[1:], weights, strict=True):
        place = (0, width, height, 0)
        panel.imshow(cells, cmap=WEIGHTS, vmin=0, vmax=largest, alpha=0.7, extent=place)
    add_title(figure, title)
    return figure


def as_pixels(image: np.ndarray) -> np.ndarray:
    """Returns pixels from 0 to 1 in the shape that Matplotlib takes.

    Args:
        image: (H, W), (H, W, 1) or (H, W, 3).

    Returns:
        (H, W) or (H, W, 3).

    Raises:
        ValueError: Another shape.
    """
    image = np.asarray(image, np.float64)
    grey = image.ndim == 2 or image.shape[-1] == 1
    if image.ndim not in (2, 3) or not (grey or image.shape[-1] == 3):
        raise ValueError(f"image must be (H, W), (H, W, 1) or (H, W, 3), got {image.shape}")
    return np.clip(image.reshape(image.shape[:2]) if grey else image, 0, 1)


def over_features(
    weights: np.ndarray,
    features: Sequence[str] = (),
    *,
    names: Sequence[str] = (),
    title: str = "",
) -> Figure:
    """Draws a bar for each feature of a row, and a panel of bars for each query.

    Args:
        weights: (queries, features).
        features: Their names; none: they are numbered.
        names: One for each query; none: they are numbered.
        title: Shown above.

    Returns:
        A figure.

    Raises:
        ValueError: Shapes or numbers that are none of these.
    """
    weights, names = _checked(weights, names, 2)
    count = weights.shape[1]
    features = features or [f"feature {number}" for number in range(1, count + 1)]
    if len(features) != count:
        raise ValueError(f"features must be {count} names, got {len(features)}")
    figure, panels = _panels(len(weights), 0.6 + _BAR_INCHES * count)
    for panel, name, values in zip(panels, names, weights, strict=True):
        panel.barh(range(count), values, color=_BAR_COLOR)
        panel.set_yticks(range(count), [drawable_text(one, _LONGEST_NAME) for one in features])
        panel.set_xlim(0, float(weights.max(initial=0)) or 1.0)
        panel.set_title(drawable_text(name, _LONGEST_NAME), fontsize=9)
        panel.set_ylim(count - 0.5, -0.5)  # the panels share it: to invert it in each would not do
    add_title(figure, title)
    return figure


def declared(
    result: Mapping[str, Any],
    axes: Mapping[str, Axes],
    inputs: Mapping[str, Any],
    row: int = 0,
) -> Figure:
    """Draws the first map over an image or over features that a servable answered.

    Args:
        result: Its answer, as NumPy arrays or tensors.
        axes: Output -> the meaning of its last axes, as `Servable.axes` has them.
        inputs: What it was asked, for the image.
        row: Which example of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: There is no such map, its image is not among the inputs, or `row` is not in the
            batch.
    """
    for name in _drawable(result, axes):
        queries, keys = axes[name]
        values = np.asarray(result[name])
        if not 0 <= row < len(values):
            raise ValueError(f"row must be in a batch of {len(values)}, got {row}")
        kind = "step" if isinstance(queries, Steps) else "slot"
        names = [f"{kind} {number}" for number in range(1, values.shape[1] + 1)]
        if isinstance(keys, Grid):
            if keys.of not in inputs:
                raise ValueError(f"inputs must have {keys.of!r}, got {sorted(inputs)}")
            return over_image(values[row], np.asarray(inputs[keys.of])[row], names=names)
        return over_features(values[row], _names(result, keys, row), names=names)
    raise ValueError(f"result must have a map over an image or features, got {', '.join(result)}")


def features_of_row(result: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws the weights of the features of a row of a table.

    Args:
        result: A servable's answer with `attention_features` (batch, queries, features) and
            `row_features`, their names.
        row: Which example of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: `row` is not in the batch.
    """
    values = np.asarray(result["attention_features"])
    if not 0 <= row < len(values):
        raise ValueError(f"row must be in a batch of {len(values)}, got {row}")
    names = ["weights"] if values.shape[1] == 1 else ()
    return over_features(values[row], _names(result, Features("row"), row), names=names)


def _names(result: Mapping[str, Any], keys: Any, row: int) -> list[str]:
    """Names of the features, where the answer has them."""
    names = result.get(f"{keys.of}_features")
    return [] if names is None else [as_text(name) for name in np.asarray(names)[row]]


def has_declared(result: Mapping[str, Any], axes: Mapping[str, Axes]) -> bool:
    """Returns whether `declared` finds a map to draw."""
    return bool(_drawable(result, axes))


def _drawable(result: Mapping[str, Any], axes: Mapping[str, Axes]) -> list[str]:
    """Names the maps over an image or over features."""
    pairs = {name: listed for name, listed in axes.items() if len(listed) == 2 and name in result}
    return [name for name, (_, keys) in pairs.items() if isinstance(keys, Grid | Features)]


def _checked(weights: Any, names: Sequence[str], rank: int) -> tuple[np.ndarray, Sequence[str]]:
    weights = np.asarray(weights, np.float64)
    if weights.ndim != rank or not weights.size or not np.isfinite(weights).all():
        raise ValueError(f"weights must be finite and have {rank} axes, got {weights.shape}")
    names = names or [f"query {number}" for number in range(1, len(weights) + 1)]
    if len(names) != len(weights):
        raise ValueError(f"names must be {len(weights)}, one for each query, got {len(names)}")
    return weights, names


def _panels(count: int, height: float) -> tuple[Figure, list[Panel]]:
    """A figure with so many panels side by side."""
    size = (_PANEL_INCHES * count + 0.6, height + 0.8)
    figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
    return figure, list(figure.subplots(1, count, squeeze=False, sharey=True)[0])
