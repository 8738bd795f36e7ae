"""Text of any script in a picture: what no installed font has becomes a box."""

import functools
import re
import unicodedata
from typing import Any

import matplotlib as mpl
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font

_BOX = "\N{WHITE SQUARE}"


def drawable_text(text: str | bytes, longest: int) -> str:
    """Text that can be drawn: shortened, and a box for what no font has."""
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    drawable = "".join(_drawable(character) for character in decoded)
    drawable = re.sub(f"{_BOX}+", _BOX, drawable)
    return drawable if len(drawable) <= longest else drawable[: longest - 1] + "…"


def _drawable(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf" or "VARIATION SELECTOR" in unicodedata.name(character, ""):
        return ""  # invisible by itself
    if category.startswith("Z"):
        return " "
    known = not category.startswith("C") and ord(character) in _fonts()[1]
    return character if known else _BOX


def font_families() -> list[str]:
    """The fonts of Matplotlib's settings that are installed, DejaVu Sans last."""
    return list(_fonts()[0])


def _fonts() -> tuple[tuple[str, ...], frozenset[int]]:
    """The fonts of Matplotlib's settings, DejaVu Sans last, and the characters they have."""
    settings: dict[str, Any] = dict(mpl.rcParams.items())
    families = [  # "serif" and the like stand for lists
        family
        for name in settings["font.family"]
        for family in settings.get(f"font.{name}", [name])
    ]
    return _found_fonts((*families, "DejaVu Sans"))


@functools.cache
def _found_fonts(families: tuple[str, ...]) -> tuple[tuple[str, ...], frozenset[int]]:
    found: dict[str, None] = {}
    characters: set[int] = set()
    for family in families:
        try:
            path = findfont(FontProperties(family=[family]), fallback_to_default=False)
        except ValueError:
            continue
        if family not in found:
            found[family] = None
            characters |= FT2Font(path).get_charmap().keys()
    return tuple(found), frozenset(characters)
