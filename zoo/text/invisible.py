"""Invisible characters within words: joiners, variation selectors, soft hyphens, fillers, tags.

They are Unicode's Default_Ignorable_Code_Point, which case folding for identifiers (NFKC_Casefold)
removes. A word is the same with and without them.
"""

import re

_RANGES = (
    r"\xAD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F"
    r"\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFF8"
    r"\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0000-\U000E0FFF"
)
_INVISIBLE = re.compile(f"[{_RANGES}]")

IN_GRAPHS = "[" + re.sub(r"\\[xuU]([0-9A-F]+)", r"\\x{\1}", _RANGES) + "]"
"""One of them, as a pattern of TensorFlow's."""


def drop_invisible(text: str) -> str:
    """Removes them from a text."""
    return _INVISIBLE.sub("", text)
