"""Pictures of a path of glimpses over an image: where, what was seen, and what was believed."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes as Panel
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.patches import Rectangle

from zoo.plots.colors import ANSWER, PAPER, WEIGHT
from zoo.plots.figures import LONGEST_TITLE, add_title
from zoo.plots.text import as_text, drawable_text

_IMAGE_INCHES, _PATCH_INCHES, _BELIEF_INCHES = 3.0, 1.1, 0.9
_LONGEST_LABEL = 12  # characters
_NEEDED = ("locations", "seen", "label_per_step", "probabilities_per_step")


def has_path(result: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    """Returns whether `glimpses` finds all that it draws."""
    return result.keys() >= {*_NEEDED} and "image" in inputs


def glimpses(result: Mapping[str, Any], inputs: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws an image with the path of the glimpses, and below them what each gave.

    Frames show the patches of the retina; the last one is red. Each column is a glimpse: what the
    retina saw, the finest scale first, and the probabilities of the classes after it.

    Args:
        result: Outputs of a servable that looks at images in steps: `locations` (batch, T, 2),
            `seen` (batch, T, scales, side, side, C), `label_per_step` (batch, T),
            `probabilities_per_step` (batch, T, classes), as NumPy arrays or tensors.
        inputs: What it was asked: `image` (batch, H, W, C), from 0 to 1. One of another size than
            the model reads, that of `attention_glimpses` (batch, T, H, W), is drawn as it was
            scaled for the model.
        row: Which example of the batch.

    Returns:
        A figure, for a notebook or `save_figure`.

    Raises:
        ValueError: An output or the image is missing, or `row` is not in the batch.
    """
    if not has_path(result, inputs):
        found = ", ".join(sorted([*result, *inputs]))
        raise ValueError(f"result must have {', '.join(_NEEDED)}, and inputs image, got {found}")
    batch = len(result["locations"])
    if not 0 <= row < batch:
        raise ValueError(f"row must be in a batch of {batch}, got {row}")
    picked = {name: np.asarray(result[name])[row] for name in _NEEDED}
    image = np.asarray(inputs["image"][row], np.float64)
    steps, scales, side = picked["seen"].shape[:3]
    figure, grid = _figure(steps, scales)
    sides = [side * 2**scale for scale in range(scales)]
    size = np.shape(result.get("attention_glimpses", image[None, None, ..., 0]))[2:]
    _draw_path(figure.add_subplot(grid[:, 0]), image, size, picked["locations"], sides)
    for step in range(steps):
        for scale in range(scales):
            panel = figure.add_subplot(grid[scale, step + 1])
            _show(panel, picked["seen"][step, scale])
            if not scale:
                panel.set_title(f"glimpse {step + 1}", fontsize=8)
        panel = figure.add_subplot(grid[scales, step + 1])
        _draw_belief(panel, picked["probabilities_per_step"][step], picked["label_per_step"][step])
    add_title(figure, _said(picked))
    return figure


def _figure(steps: int, scales: int) -> tuple[Figure, GridSpec]:
    """Makes a figure with a column for the image and one for each glimpse."""
    rows = [*[_PATCH_INCHES] * scales, _BELIEF_INCHES]
    size = (_IMAGE_INCHES + _PATCH_INCHES * steps + 0.4, max(sum(rows), _IMAGE_INCHES) + 0.8)
    figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
    widths = [_IMAGE_INCHES, *[_PATCH_INCHES] * steps]
    grid = figure.add_gridspec(scales + 1, steps + 1, width_ratios=widths, height_ratios=rows)
    return figure, grid


def _draw_path(
    panel: Panel, image: np.ndarray, size: tuple[int, ...], locations: np.ndarray, sides: list[int]
) -> None:
    """Draws the image, the patches of all glimpses, and a line through their centres.

    Places and sides of patches count the pixels of the image that the model read.
    """
    height, width = size
    _show(panel, image, extent=(0, width, height, 0))
    # As the retina rounds locations to pixels.
    centres = np.floor(0.5 * (locations + 1) * (height, width) + 0.5)  # (T, 2)
    for step, (y, x) in enumerate(centres):
        last = step == len(centres) - 1
        for side in sides:
            corner = (x - side // 2, y - side // 2)
            frame = Rectangle(corner, side, side, fill=False, color=ANSWER if last else WEIGHT)
            frame.set_linewidth(1.0 if side == sides[0] else 0.4)
            panel.add_patch(frame)
        panel.annotate(str(step + 1), (x, y), color=ANSWER, fontsize=8, ha="center", va="center")
    panel.plot(centres[:, 1], centres[:, 0], color=WEIGHT, linewidth=1.0)
    panel.set_xlim(0, width)
    panel.set_ylim(height, 0)


def _draw_belief(panel: Panel, probabilities: np.ndarray, label: Any) -> None:
    """Draws a bar for each class, the likeliest one red."""
    best = int(np.argmax(probabilities))
    colors = [ANSWER if number == best else WEIGHT for number in range(len(probabilities))]
    panel.bar(range(len(probabilities)), probabilities, color=colors)
    panel.set_ylim(0, 1)
    panel.set_xticks([])
    panel.set_yticks([])
    name = drawable_text(as_text(label), _LONGEST_LABEL)
    panel.set_xlabel(f"{name} ({float(probabilities[best]):.2f})", fontsize=8)


def _show(panel: Panel, image: np.ndarray, **options: Any) -> None:
    """Shows grey or coloured pixels (H, W, C) from 0 to 1."""
    grey = image.shape[-1] != 3
    pixels = np.clip(image[..., 0] if grey else image, 0, 1)
    panel.imshow(pixels, cmap="gray", vmin=0, vmax=1, **options)
    panel.set_axis_off()


def _said(picked: Mapping[str, Any]) -> str:
    """Makes the title: the last label and its probability."""
    label = drawable_text(as_text(picked["label_per_step"][-1]), LONGEST_TITLE)
    return f"→ {label} ({float(np.max(picked['probabilities_per_step'][-1])):.2f})"
