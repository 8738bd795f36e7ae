"""Subwords merged to words, as on the explorer's page."""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from zoo.plots.text import as_text

_MARK = "\u2581"  # SentencePiece's mark for the space before a word
_SPECIAL = ("<s>", "</s>", "<unk>", "<pad>")


class Word(NamedTuple):
    """Word with the positions of its tokens."""

    text: str
    members: list[int]


def whole_words(tokens: Sequence[str | bytes]) -> list[Word]:
    """Merges subwords to words; tokens that are already words are unchanged.

    Args:
        tokens: Words, or subwords with SentencePiece's mark at the beginning of a word.

    Returns:
        The words in order. Punctuation and special tokens are separate words.
    """
    texts = [as_text(token) for token in tokens]
    if not any(text.startswith(_MARK) for text in texts):
        return [Word(text, [position]) for position, text in enumerate(texts)]
    words: list[Word] = []
    begins = True  # whether the next piece begins a word even without a mark
    for position, text in enumerate(texts):
        bare = text.replace(_MARK, "")
        apart = text in _SPECIAL or (bare != "" and all(map(_is_sign, bare)))
        if begins or apart or text.startswith(_MARK):
            words.append(Word(bare, [position]))
        else:
            words[-1] = Word(words[-1].text + bare, [*words[-1].members, position])
        begins = apart
    # A lone mark is the space before the next word.
    return [Word(text or _MARK, members) for text, members in words]


def merge(weights: np.ndarray, queries: Sequence[Word], keys: Sequence[Word]) -> np.ndarray:
    """Merges token weights to word weights.

    Args:
        weights: (..., query tokens, key tokens), which may be padded.
        queries: The words that attend.
        keys: The words attended to.

    Returns:
        (..., queries, keys): the mean over the tokens of a query, the sum over those of a key.
    """
    rows = np.zeros((len(queries), weights.shape[-2]))
    columns = np.zeros((len(keys), weights.shape[-1]))
    for place, word in enumerate(queries):
        rows[place, word.members] = 1 / len(word.members)
    for place, word in enumerate(keys):
        columns[place, word.members] = 1
    return rows @ weights @ columns.T


def _is_sign(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
