"""What all pictures share: titles and notes, and files that appear whole."""

import os
import textwrap
import uuid
from pathlib import Path

from matplotlib.figure import Figure

from zoo.plots.text import drawable_text, font_families

LONGEST_TITLE = 160  # characters
_TITLE_CHARACTERS_PER_INCH = 11
_NOTE_CHARACTERS_PER_INCH = 15


def save_figure(figure: Figure, path: str | Path, *, dpi: int = 150) -> Path:
    """Writes a figure; the file appears, or is replaced, once it is complete.

    Args:
        figure: What to write.
        path: The file; its ending says the format, such as .png, .svg or .pdf.
        dpi: Pixels an inch, for formats that have pixels.

    Returns:
        The path.

    Raises:
        ValueError: Matplotlib does not know the ending.
    """
    path = Path(path)
    known = figure.canvas.get_supported_filetypes()
    ending = path.suffix.removeprefix(".").lower()
    if ending not in known:
        raise ValueError(f"path must end in one of {', '.join(sorted(known))}, got {str(path)!r}")
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        figure.savefig(partial, format=ending, dpi=dpi)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def add_title(figure: Figure, title: str) -> None:
    """Writes a title above everything, in lines no wider than the figure."""
    if title:
        text = _wrapped(figure, title, _TITLE_CHARACTERS_PER_INCH)
        figure.suptitle(text, fontsize=11, family=font_families(), parse_math=False)


def add_note(figure: Figure, note: str) -> None:
    """Writes what a reader of the picture must know below everything, small, in lines likewise."""
    if note:
        text = _wrapped(figure, note, _NOTE_CHARACTERS_PER_INCH)
        place = {"x": 0.01, "horizontalalignment": "left"}
        figure.supxlabel(text, fontsize=8, family=font_families(), parse_math=False, **place)


def _wrapped(figure: Figure, text: str, characters_per_inch: int) -> str:
    """Text in lines that fit the width of the figure."""
    fitting = int(figure.get_figwidth() * characters_per_inch)
    lines = [drawable_text(line, 4 * LONGEST_TITLE) for line in text.split("\n")]
    return "\n".join(textwrap.fill(line, fitting) for line in lines)
