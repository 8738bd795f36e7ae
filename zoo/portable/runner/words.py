"""Words and punctuation marks in plain Python, cut as `zoo.text.tokenizer` cuts them.

A text is first turned into a string of the same length that names the class of each character; a
pattern finds the tokens in that. Classes come from Python's table of Unicode, so that characters
that are newer than it are letters here.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

UNKNOWN = 1
_SPECIALS = 4
_LONGEST_FOLDED = 1000  # bytes of a token that is normalised and folded
_SEPARATORS = (
    "\x85\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
)
_IDEOGRAPHS = (
    "CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "CJK RADICAL", "KANGXI RADICAL",
    "HIRAGANA LETTER", "KATAKANA LETTER", "HALFWIDTH KATAKANA LETTER", "HANGZHOU NUMERAL",
    "IDEOGRAPHIC NUMBER ZERO", "IDEOGRAPHIC ITERATION MARK",
)  # fmt: skip
_INVISIBLE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Classes: space _, digit 0, point and comma themselves, apostrophe ', the letters s and others of
# Latin S and A, other letters w, mark m, modifiers of symbols t and e, joiner z, half a flag f,
# ideograph i, symbol p, punctuation q, underscore u, control character c.
_TOKEN = re.compile(
    r"0+(?:[.,]0+)+"  # a number
    r"|(?<![AS0wmez])(?:[AS]\.){2,}"  # an abbreviation
    r"|'S(?![AS0wmezu])"  # the ending 's
    r"|im*"  # an ideograph
    r"|ff"  # a flag
    r"|[pqut.,'f][mte]*(?:z[ptf][mte]*)*"  # a symbol or punctuation mark
    r"|c"
    r"|(?:(?!0+(?:[.,]0+)+|(?<![AS0wmez])(?:[AS]\.){2,})[ASw0mez])+"
)


@lru_cache(maxsize=100_000)
def _class_of(character: str) -> str:
    """The class of a character, one letter."""
    if character.isascii() and character.isalpha():
        return "S" if character in "sS" else "A"
    if character in ".,":
        return character
    if character in "'\u2019":
        return "'"
    if character.isspace() or character in _SEPARATORS:
        return "c" if "\x1c" <= character <= "\x1f" else "_"
    return _by_category(character)


def is_ideograph(character: str) -> bool:
    """Tells whether a character is a word of its own, such as those of Chinese and Japanese."""
    return unicodedata.name(character, "").startswith(_IDEOGRAPHS) or character == "\u30fc"


def _by_category(character: str) -> str:
    category = unicodedata.category(character)
    if "\u2160" <= character <= "\u2188" or category in ("Nd", "No"):
        return "0"
    if is_ideograph(character):
        return "i"
    if "\U0001f1e6" <= character <= "\U0001f1ff":
        return "f"
    if "\U0001f3fb" <= character <= "\U0001f3ff":
        return "t"
    if "\U000e0020" <= character <= "\U000e007f":
        return "e"
    if category[0] == "M":
        return "m"
    if character == "\u200d":
        return "z"
    if category[0] in "PS":
        return "p" if category[0] == "S" else "u" if character == "_" else "q"
    return "c" if category in ("Cc", "Co") else "w"


class Words:
    """Tokenizer of a vocabulary of words."""

    def __init__(self, path: Path, *, case_fold: bool, spaces: bool) -> None:
        """Reads the vocabulary, a word a line, in the order of the ids.

        Args:
            path: the file.
            case_fold: whether words are case-folded, as the vocabulary's are.
            spaces: whether white space alone separates tokens, which stay as they are.
        """
        self._words = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        self._ids = {word: place for place, word in enumerate(self._words)}
        self._case_fold, self._spaces = case_fold, spaces

    def __len__(self) -> int:
        """Number of ids."""
        return len(self._words)

    def encode(self, text: str) -> tuple[list[int], list[str]]:
        """Cuts a text into ids and words."""
        tokens = text.split() if self._spaces else cut(text)
        return [self._ids.get(self._fold(token), UNKNOWN) for token in tokens], tokens

    def _fold(self, token: str) -> str:
        """The word as the vocabulary has it; one of invisible characters alone is left as it is."""
        if self._spaces or len(token.encode("utf-8", "surrogatepass")) > _LONGEST_FOLDED:
            return token
        folded = unicodedata.normalize("NFKC", token)
        if self._case_fold:
            folded = unicodedata.normalize("NFKC", folded.casefold())
        return _INVISIBLE.sub("", folded) or token

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Words of ids; "" for padding."""
        size = len(self._words)
        return ["" if i == 0 else self._words[i if 0 <= i < size else UNKNOWN] for i in ids]

    def join(self, tokens: Sequence[str]) -> str:
        """Text of words without the special ones, a space between them."""
        special = {"", *self._words[:_SPECIALS]}
        return " ".join(token for token in tokens if token not in special)


def cut(text: str) -> list[str]:
    """Cuts a text into words, numbers, punctuation marks and symbols."""
    classes = "".join(map(_class_of, text))
    return [text[found.start() : found.end()] for found in _TOKEN.finditer(classes)]
