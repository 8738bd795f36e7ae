"""Helpers of all pictures: rows, titles, notes, and files written whole."""

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure

from zoo.files import whole_file
from zoo.plots.text import as_written, drawable_text

LONGEST_TITLE = 160  # characters
_TITLE_CHARACTERS_PER_INCH = 11
_NOTE_CHARACTERS_PER_INCH = 15


def save_figure(figure: Figure, path: str | Path, *, dpi: int = 150) -> Path:
    """Writes a figure; the file appears, or is replaced, once it is complete.

    Args:
        figure: The figure.
        path: The file; its ending selects the format, such as .png, .svg or .pdf.
        dpi: Pixels per inch, for pixel formats.

    Returns:
        The path.

    Raises:
        ValueError: Matplotlib does not know the ending.
    """
    path = Path(path)
    ending = check_ending(path)
    with whole_file(path) as file:
        figure.savefig(file, format=ending, dpi=dpi)
    return path


def check_ending(path: Path) -> str:
    """Returns the ending of a picture's file, without its dot.

    Raises:
        ValueError: Matplotlib does not know it.
    """
    known = FigureCanvasBase.get_supported_filetypes()
    ending = path.suffix.removeprefix(".").lower()
    if ending not in known:
        raise ValueError(f"path must end in one of {', '.join(sorted(known))}, got {str(path)!r}")
    return ending


def pick_row(result: Mapping[str, Any], row: int, side: str) -> tuple[dict[str, Any], int]:
    """Picks one example of a servable's outputs, as NumPy arrays, and a side's token count.

    Raises:
        ValueError: `row` is not in the batch, or that side has no token.
    """
    batch = len(result[f"{side}_length"])
    if not 0 <= row < batch:
        raise ValueError(f"row must be in a batch of {batch}, got {row}")
    picked = {name: np.asarray(value)[row] for name, value in result.items()}
    length = int(picked[f"{side}_length"])
    if not length:
        raise ValueError(f"row {row}: its {side} has no token to draw")
    return picked, length


def window_around(middle: int, length: int, maximum: int) -> slice:
    """Chooses up to ``maximum`` tokens around one of them."""
    first = max(0, min(middle - maximum // 2, length - maximum))
    return slice(first, min(first + maximum, length))


def add_title(figure: Figure, title: str) -> None:
    """Writes a title above everything, wrapped to the figure's width."""
    if title:
        text = _wrapped(figure, title, _TITLE_CHARACTERS_PER_INCH)
        figure.suptitle(text, fontsize=11, **as_written([text]))


def add_note(figure: Figure, note: str) -> None:
    """Writes a small note below everything, wrapped to the figure's width."""
    if note:
        text = _wrapped(figure, note, _NOTE_CHARACTERS_PER_INCH)
        place = {"x": 0.01, "horizontalalignment": "left"}
        figure.supxlabel(text, fontsize=8, **place, **as_written([text]))


def _wrapped(figure: Figure, text: str, characters_per_inch: int) -> str:
    """Wraps text to the width of the figure."""
    fitting = int(figure.get_figwidth() * characters_per_inch)
    lines = [drawable_text(line, 4 * LONGEST_TITLE) for line in text.split("\n")]
    return "\n".join(textwrap.fill(line, fitting) for line in lines)
