"""SentencePiece's byte-pair encoding in plain Python.

Sennrich, Haddow and Birch 2016, as SentencePiece applies it: text is normalised by the rules of the
model, and then the adjacent pair of pieces with the best score is merged until there is none. The
rules are a trie in a double array (Darts), from bytes to what replaces them.
"""

import base64
import json
import re
import struct
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

UNKNOWN, SPECIALS = 1, 4
_SPACE = "\u2581"
_LONGEST_WORD = 4000  # bytes of a word that are read
_SPACES = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x20\x85\xa0\u061c\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202f\u205f\u2060\u2581\u3000\ufeff"
    "\ufffd"
)
"""Characters that the rules of a model may turn into a space."""


class Subwords:
    """Tokenizer of a SentencePiece model, from `subwords.json`."""

    def __init__(self, path: Path) -> None:
        """Reads the pieces, the order of merging and the rules."""
        content = json.loads(path.read_text(encoding="utf-8"))
        self._pieces: list[str] = content["pieces"]
        places = range(SPECIALS, len(self._pieces))
        self._ids = {self._pieces[place]: place for place in places}
        self._scores: list[float] = content["scores"]
        self._rules = _Rules(base64.b64decode(content["rules"]))
        space = self._rules.normalise(b"a b")
        spaces = [c.encode() for c in _SPACES]
        spaces = [c for c in spaces if self._rules.normalise(b"a" + c + b"b") == space]
        self._space = re.compile(b"|".join(map(re.escape, spaces)))

    def __len__(self) -> int:
        """Number of ids."""
        return len(self._pieces)

    def encode(self, text: str) -> tuple[list[int], list[str]]:
        """Cuts a text into ids and pieces; adjacent unknown characters are one piece."""
        words = self._space.split(text.encode("utf-8", "surrogateescape"))
        text = self._rules.normalise(b" ".join(map(_beginning, words)))
        ids: list[int] = []
        tokens: list[str] = []
        for piece in self._merge(text):
            place = self._ids.get(piece, UNKNOWN)
            if place == UNKNOWN and ids and ids[-1] == UNKNOWN:
                tokens[-1] += piece
            else:
                ids.append(place)
                tokens.append(piece)
        return ids, tokens

    def _merge(self, text: str) -> list[str]:
        """Merges pairs, the best score first, of equals the leftmost."""
        merged: list[str] = []
        # No piece spans the beginning of a word.
        for word in text.replace(_SPACE, "\n" + _SPACE).split("\n"):
            parts = list(word)
            while len(parts) > 1:
                places = [
                    (self._scores[self._ids[pair]], -i)
                    for i, pair in enumerate(map("".join, pairwise(parts)))
                    if pair in self._ids
                ]
                if not places:
                    break
                i = -max(places)[1]
                parts[i : i + 2] = [parts[i] + parts[i + 1]]
            merged += parts
        return merged

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Pieces of ids; "" for padding."""
        size = len(self._pieces)
        pieces = [self._pieces[i if 0 <= i < size else UNKNOWN] for i in ids]
        return ["" if i == 0 else piece for i, piece in zip(ids, pieces, strict=True)]

    def join(self, tokens: Sequence[str]) -> str:
        """Text of pieces, without the special ones."""
        special = set(self._pieces[:SPECIALS])
        text = "".join(token for token in tokens if token not in special)
        return " ".join(word for word in text.replace(_SPACE, " ").split(" ") if word)


def _beginning(word: bytes) -> bytes:
    """The bytes of a word that are read, without the beginning of a character at their end."""
    if len(word) <= _LONGEST_WORD:
        return word
    ends = range(_LONGEST_WORD, _LONGEST_WORD - 4, -1)
    return word[: next((end for end in ends if word[end] // 64 != 2), _LONGEST_WORD)]


class _Rules:
    """The normalisation of a SentencePiece model."""

    def __init__(self, content: bytes) -> None:
        size = struct.unpack_from("<I", content)[0] if content else 0
        self._units = struct.unpack_from(f"<{size // 4}I", content, 4) if content else ()
        self._replacements = content[4 + size :]

    def normalise(self, text: bytes) -> str:
        """Replaces what the rules say, one space between words and one in front: U+2581."""
        parts, place = [], 0
        while place < len(text):
            replacement, length = self._longest(text, place)
            parts.append(replacement)
            place += length
        words = [word for word in b"".join(parts).decode().split(" ") if word]
        return "".join(_SPACE + word for word in words)

    def _longest(self, text: bytes, place: int) -> tuple[bytes, int]:
        """The replacement of the longest rule that fits here, else the character itself."""
        found: tuple[int, int] | None = None
        unit = self._units[0] if self._units else 0
        node = _offset(unit)
        for at in range(place, len(text) if self._units else place):
            node ^= text[at]
            unit = self._units[node] if node < len(self._units) else 0
            if unit & 0x800000FF != text[at]:
                break
            node ^= _offset(unit)
            if unit >> 8 & 1:
                found = (self._units[node] & 0x7FFFFFFF, at + 1 - place)
        if found is not None:
            start, length = found
            return self._replacements[start : self._replacements.index(0, start)], length
        return _character(text, place)


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 1 << 9) >> 6)


def _character(text: bytes, place: int) -> tuple[bytes, int]:
    """A character of UTF-8; a byte that begins none is U+FFFD."""
    for length in range(1, 5):
        part = text[place : place + length]
        try:
            part.decode()
        except UnicodeDecodeError:
            continue
        return part, len(part)
    return "\ufffd".encode(), 1
