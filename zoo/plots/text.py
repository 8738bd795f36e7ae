"""Text of any script in pictures: the fonts it needs, and boxes for missing characters.

Matplotlib's own font, DejaVu Sans, has Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew, Arabic
and more, but no Chinese, Japanese or Korean and no Indic scripts. Missing characters are looked for
in all installed fonts, such as those of the Noto family.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

import matplotlib as mpl
from matplotlib.font_manager import FontEntry, FontProperties, findfont, fontManager
from matplotlib.ft2font import FT2Font

_BOX = "\N{WHITE SQUARE}"
# Fonts that claim characters but do not draw them: fallbacks, TeX encodings, colour fonts.
_NOT_FOR_TEXT = re.compile(
    r"Last Resort|cm[a-z]{1,2}\d+$|STIX(NonUnicode|Size)|.*\bColou?r\b", re.IGNORECASE
)


def as_text(text: str | bytes) -> str:
    """Decodes a token; bytes that are not UTF-8 become the replacement mark."""
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)


def drawable_text(text: str | bytes, longest: int) -> str:
    """Makes text drawable: shortens it, and puts boxes for characters that no font has."""
    drawable = "".join(_drawable(character) for character in as_text(text))
    drawable = re.sub(f"{_BOX}+", _BOX, drawable)
    return drawable if len(drawable) <= longest else drawable[: longest - 1] + "…"


def font_families(texts: Iterable[str | bytes] = ()) -> list[str]:
    """Lists the fonts to draw texts with.

    Args:
        texts: The texts to draw.

    Returns:
        The installed fonts of Matplotlib's settings, DejaVu Sans, and then any other installed
        fonts that the characters of the texts need.
    """
    families, characters = _fonts()
    missing = sorted({c for text in texts for c in as_text(text)} - set(map(chr, characters)))
    others = (_other_family(character) for character in missing)
    return list(dict.fromkeys([*families, *filter(None, others)]))


def as_written(texts: Iterable[str | bytes] = ()) -> dict[str, Any]:
    """Makes Matplotlib keywords for literal text, in which "$" begins no formula.

    Args:
        texts: The texts to draw.

    Returns:
        `family`, the fonts that the texts need, and `parse_math`.
    """
    return {"family": font_families(texts), "parse_math": False}


def reads_right_to_left(tokens: Iterable[str | bytes]) -> bool:
    """Tells whether most letters belong to a right-to-left script."""
    letters = [
        unicodedata.bidirectional(character) for token in tokens for character in as_text(token)
    ]
    return sum(kind in ("R", "AL") for kind in letters) > letters.count("L")


def _drawable(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf" or "VARIATION SELECTOR" in unicodedata.name(character, ""):
        return ""  # invisible by itself
    if category.startswith("Z"):
        return " "
    if category.startswith("C"):
        return _BOX
    return character if ord(character) in _fonts()[1] or _other_family(character) else _BOX


def _fonts() -> tuple[tuple[str, ...], frozenset[int]]:
    """Returns the fonts of Matplotlib's settings, DejaVu Sans last, and their characters."""
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
            characters |= _characters(path)
    return tuple(found), frozenset(characters)


@functools.cache
def _other_family(character: str) -> str | None:
    """Finds an installed font with a character; regular sans-serif fonts come first."""
    usable = (entry for entry in _installed() if ord(character) in _characters(entry.fname))
    entry = next(usable, None)
    return entry.name if entry else None


@functools.cache
def _installed() -> tuple[FontEntry, ...]:
    def order(entry: FontEntry) -> tuple[bool, bool, bool, str]:
        fancy = "serif" in entry.name.lower() or "mono" in entry.name.lower()
        return (
            entry.style != "normal",
            str(entry.weight) not in ("400", "normal"),
            fancy,
            entry.name,
        )

    usable = [entry for entry in fontManager.ttflist if not _NOT_FOR_TEXT.match(entry.name)]
    return tuple(sorted(usable, key=order))


@functools.cache
def _characters(path: str) -> frozenset[int]:
    """Returns a font's characters; none if Matplotlib cannot draw with it."""
    try:
        font = FT2Font(path)
        return frozenset(font.get_charmap()) if font.scalable else frozenset()
    except (OSError, RuntimeError):
        return frozenset()
