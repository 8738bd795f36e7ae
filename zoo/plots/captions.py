"""Pictures of captions: beside each word the image, lit where the model looked for it.

As in Xu et al. 2015 (arXiv 1502.03044, figures 2 to 5), maps are smoothed, and each is scaled to
its own largest weight.

Shape letters: T words, L = rows x columns cells, H and W pixels.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes as Panel
from matplotlib.figure import Figure

from zoo.plots.colors import PAPER
from zoo.plots.declared import as_pixels
from zoo.plots.figures import add_title, pick_row
from zoo.plots.text import as_text, as_written, drawable_text

_PANEL_INCHES = 1.8
_TITLE_INCHES = 0.3
_COLUMNS = 6  # panels side by side
_LONGEST_WORD = 18  # characters
_VEIL = 0.7  # opacity of the map over the image
_NEEDED = ("target_tokens", "target_length", "attention_alignment")


def words_over_image(
    image: np.ndarray,
    tokens: Sequence[str | bytes],
    weights: np.ndarray,
    grid: tuple[int, int],
    *,
    title: str = "",
) -> Figure:
    """Draws an image, and for each word the image again with the word's map over it.

    White is the most attended place, black is none.

    Args:
        image: (H, W), (H, W, 1) or (H, W, 3), from 0 to 1; cells divide it evenly.
        tokens: T words.
        weights: (T, L), cells row by row.
        grid: Rows and columns of cells.
        title: Shown above.

    Returns:
        A figure, for a notebook or `save_figure`.

    Raises:
        ValueError: Shapes or numbers that are none of these.
    """
    pixels, weights = as_pixels(image), np.asarray(weights, np.float64)
    rows, columns = grid
    expected = (len(tokens), rows * columns)
    if weights.shape != expected or not weights.size or not np.isfinite(weights).all():
        raise ValueError(f"weights must be finite and of shape {expected}, got {weights.shape}")
    height, width = pixels.shape[:2]
    figure, panels = _panels(1 + len(tokens), height / width)
    _show(panels[0], pixels, "")
    for panel, token, cells in zip(panels[1:], tokens, weights, strict=True):
        _show(panel, pixels, drawable_text(as_text(token), _LONGEST_WORD))
        veil = smoothed(cells.reshape(rows, columns), height, width)
        largest = float(veil.max()) or 1.0
        panel.imshow(
            veil, cmap="gray", vmin=0, vmax=largest, alpha=_VEIL, extent=(0, width, height, 0)
        )
    add_title(figure, title)
    return figure


def smoothed(cells: np.ndarray, height: int, width: int) -> np.ndarray:
    """Enlarges a map of cells to pixels, without edges between cells.

    A pixel is the mean of all cells, weighted by a bell curve of its distance from their centres,
    half a cell wide. So a map that is the same everywhere stays so.

    Args:
        cells: (rows, columns).
        height: H.
        width: W.

    Returns:
        (H, W).
    """
    rows, columns = cells.shape
    return _spread(height, rows) @ cells @ _spread(width, columns).T


def _spread(pixels: int, cells: int) -> np.ndarray:
    """Weights (pixels, cells) of the cells at each pixel along an axis; they sum to one."""
    places = (np.arange(pixels) + 0.5) * cells / pixels  # in cells
    distances = places[:, None] - (np.arange(cells) + 0.5)
    weights = np.exp(-0.5 * (distances / 0.5) ** 2)
    return weights / weights.sum(axis=1, keepdims=True)


def caption(result: Mapping[str, Any], inputs: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws the caption of an image that a servable wrote.

    Args:
        result: Its outputs, as NumPy arrays or tensors: `target_tokens` (batch, T),
            `target_length` (batch,), `attention_alignment` (batch, T, rows, columns).
        inputs: What it was asked: `image` (batch, H, W, C), from 0 to 1.
        row: Which example of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: An output or the image is missing, `row` is not in the batch, or nothing was
            written.
    """
    if not has_caption(result, inputs):
        found = ", ".join(sorted([*result, *inputs]))
        raise ValueError(f"result must have {', '.join(_NEEDED)}, and inputs image, got {found}")
    picked, length = pick_row({name: result[name] for name in _NEEDED}, row, "target")
    maps = picked["attention_alignment"][:length]  # (T, rows, columns)
    tokens = picked["target_tokens"][:length]
    grid = (maps.shape[1], maps.shape[2])
    image = np.asarray(inputs["image"])[row]
    title = as_text(np.asarray(result["caption"])[row]) if "caption" in result else ""
    return words_over_image(image, tokens, maps.reshape(length, -1), grid, title=title)


def has_caption(result: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    """Returns whether `caption` finds all that it draws."""
    return writes_over_cells(result) and "image" in inputs


def writes_over_cells(result: Mapping[str, Any]) -> bool:
    """Returns whether words were written that attend to cells."""
    return result.keys() >= {*_NEEDED} and np.ndim(result["attention_alignment"]) == 4


def _panels(count: int, ratio: float) -> tuple[Figure, list[Panel]]:
    """Makes so many panels of a ratio of height to width, several in a row."""
    columns = min(count, _COLUMNS)
    rows = math.ceil(count / columns)
    size = (_PANEL_INCHES * columns, rows * (_PANEL_INCHES * ratio + _TITLE_INCHES) + 0.4)
    figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
    every = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for panel in every[count:]:
        panel.remove()
    return figure, every[:count]


def _show(panel: Panel, pixels: np.ndarray, name: str) -> None:
    """Shows pixels (H, W) or (H, W, 3) below a name."""
    height, width = pixels.shape[:2]
    panel.imshow(pixels, cmap="gray", vmin=0, vmax=1, extent=(0, width, height, 0))
    panel.set_title(name, fontsize=9, **as_written([name]))
    panel.set_axis_off()
