"""More cloze questions out of those that there are: any sentence of a window can be the query.

The questions of a book hold far more sentences than they ask about. Here each different sentence
is a query once, wherever it has most sentences of the book before it, and each of its words of the
kind that is asked for, which occurs there too, is left out once.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from zoo.data.cloze_books import QUERY_TOKENS
from zoo.data.cloze_format import PLACEHOLDER, Question, questions_frame

LEAST_SENTENCES = 8
"""Before a query."""


class _Place(NamedTuple):
    """Where a sentence stands."""

    window: list[str]
    before: int
    """Number of sentences of the window before it."""


def cut_questions(frames: Sequence[pd.DataFrame], words: Collection[str]) -> pd.DataFrame:
    """Makes all the questions that windows of books hold.

    Args:
        frames: As `zoo.data.cloze_format.read_cbt` returns them; a document and the query after it,
            its word filled in, are a window.
        words: What can be left out, such as all answers of one kind.

    Returns:
        Such a frame. A query has 7 to 70 tokens and `LEAST_SENTENCES` sentences before it at least.
        The word that is left out occurs there, is not the query's first one, and stands in it once.
        It is the one candidate: for training, none is needed.
    """
    return questions_frame(
        question
        for sentence, place in _best_places(frames).items()
        for question in _ask_for_words(sentence, place, frozenset(words))
    )


def _best_places(frames: Sequence[pd.DataFrame]) -> dict[str, _Place]:
    """Each sentence where it has most sentences before it, in the order of the first windows."""
    best: dict[str, _Place] = {}
    for frame in frames:
        columns = (frame["document"], frame["query"], frame["answer"])
        for document, query, answer in zip(*columns, strict=True):
            filled = [answer if word == PLACEHOLDER else word for word in query.split(" ")]
            window = [*document.split("\n"), " ".join(filled)]
            for before in range(LEAST_SENTENCES, len(window)):
                found = best.get(window[before])
                if found is None or found.before < before:
                    best[window[before]] = _Place(window, before)
    return best


def _ask_for_words(sentence: str, place: _Place, words: frozenset[str]) -> Iterator[Question]:
    tokens = sentence.split(" ")
    least, most = QUERY_TOKENS
    if not least <= len(tokens) <= most or words.isdisjoint(tokens[1:]):
        return
    document = "\n".join(place.window[: place.before])
    seen = words.intersection(document.split())
    for number, word in enumerate(tokens):
        if number and word in seen and tokens.count(word) == 1:
            query = " ".join([*tokens[:number], PLACEHOLDER, *tokens[number + 1 :]])
            yield Question(document, query, word, [word])
