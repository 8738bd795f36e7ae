"""The words that a SavedModel knows, and texts made mostly of others, with nonsense for answers.

What a model knows is in its SavedModel. A model of words has its vocabulary in `assets/`: a word
that is not in it is unknown. A model of subwords has the SentencePiece model in its graph: a word
that it has to cut into pieces was too rare in training to be one. Only tokens with a letter count
as words.

A text is strange if more than half of its words are unknown. To a translator of captions with 4,000
pieces, 0.7 % of the captions of Multi30k's test part are strange, 32 % of the lines of WikiText-2's
and 82 % of the paragraphs of SQuAD's dev part. German captions are strange to models of English
words: 68 % of them to the shipped reader, over 99 % to others; but only 0.9 % to the translator,
whose pieces are those of both languages.
"""

import functools
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from zoo.serving.cards import read_card
from zoo.serving.codecs import tokenizer_contents
from zoo.serving.load import resolve

if TYPE_CHECKING:
    import numpy as np

THRESHOLD = 0.5
"""Share of unknown words above which a text is strange."""
_ENDING = "_tokens"
_WRITTEN = ("generated", "next", "target")  # by the model, not read
_MARKS = ("<pad>", "<s>", "</s>", "")
_BEGINNING = "▁"  # of a word, in the pieces of SentencePiece


class Strange(NamedTuple):
    """A text of mostly unknown words."""

    name: str
    """Name of the text, such as "question"; "text" for the source of a translation."""
    unknown: int
    words: int

    def __str__(self) -> str:
        return (
            f"{self.unknown} of the {self.words} words of {self.name} are unknown to the model,"
            f" more than {THRESHOLD:.0%}: the answer may be nonsense"
        )


class KnownWords:
    """The words that a model knows."""

    def __init__(self, name_or_path: str | Path) -> None:
        """Reads the vocabulary of a model.

        Args:
            name_or_path: As in `zoo.serving.load.resolve`; a model with a card.

        Raises:
            ValueError: No such model, a card that is missing or broken, or no vocabulary.
        """
        folder = resolve(name_or_path)
        tokenizer = read_card(folder).tokenizer
        # A translator's has a part for the text that it reads, and one for that it writes.
        self._folds = bool(tokenizer.get("source", tokenizer).get("case_fold"))
        content = next(tokenizer_contents(folder), None)
        if content is None:
            raise ValueError(
                f"{folder}: must hold a vocabulary or a model of subwords, got neither"
            )
        self._of_pieces = isinstance(content, bytes)
        if isinstance(content, bytes):
            from sentencepiece import SentencePieceProcessor

            pieces = SentencePieceProcessor(model_proto=content)
            self._known = {pieces.id_to_piece(number) for number in range(pieces.piece_size())}
        else:
            self._known = {*content.read_text(encoding="utf-8").split("\n")}
        self._known -= {*_MARKS, "<unk>"}

    def strange(self, outputs: Mapping[str, "np.ndarray"], row: int = 0) -> list[Strange]:
        """Lists the texts of an example that are made mostly of unknown words.

        Args:
            outputs: Of the servable: `<text>_tokens` (batch, T), bytes.
            row: The example in the batch.

        Returns:
            Those texts, of all that were read.
        """
        found = []
        for key in sorted(outputs):
            name = key.removesuffix(_ENDING)
            if name == key or name in _WRITTEN:
                continue
            words = self._words([token.decode("utf-8", "replace") for token in outputs[key][row]])
            unknown = sum(not known for known in words)
            if unknown > THRESHOLD * len(words):
                found.append(Strange("text" if name == "source" else name, unknown, len(words)))
        return found

    def _words(self, tokens: Sequence[str]) -> list[bool]:
        """Tells of each word of a text whether it is known."""
        tokens = [token for token in tokens if token not in _MARKS]
        if not self._of_pieces:
            return [
                bool({token, self._normal(token)} & self._known)
                for token in tokens
                if _is_word(token)
            ]
        words: list[list[str]] = []
        for piece in tokens:
            if piece.startswith(_BEGINNING) or not words:
                words.append([])
            words[-1].append(piece)
        cut = [[piece for piece in word if _is_word(piece)] for word in words]
        return [len(pieces) == 1 and pieces[0] in self._known for pieces in cut if pieces]

    def _normal(self, token: str) -> str:
        normal = unicodedata.normalize("NFKC", token)
        return normal.casefold() if self._folds else normal


@functools.lru_cache(maxsize=16)
def known_words(folder: Path) -> KnownWords | None:
    """Reads the vocabulary of a model once; None for a model without a card or a vocabulary."""
    try:
        return KnownWords(folder)
    except (ValueError, KeyError):  # another program exported it
        return None


def _is_word(token: str) -> bool:
    return any(character.isalpha() for character in token)
