"""More cloze questions from existing ones: any sentence of a window can be the query.

The questions of a book hold far more sentences than they ask about. Here each distinct sentence is
a query once, at the place where most sentences of the book precede it. Each of its words of the
wanted kind that also occurs before is blanked out once.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from zoo.data.cloze_books import QUERY_TOKENS
from zoo.data.cloze_format import PLACEHOLDER, Question, questions_frame

LEAST_SENTENCES = 8
"""Minimum number of sentences before a query."""


class _Place(NamedTuple):
    """Position of a sentence."""

    window: list[str]
    before: int
    """Number of sentences before it in the window."""


def cut_questions(frames: Sequence[pd.DataFrame], words: Collection[str]) -> pd.DataFrame:
    """Makes all the questions that windows of books allow.

    Args:
        frames: As `zoo.data.cloze_format.read_cbt` returns them. A window is a document followed by
            its query with the blank filled in.
        words: Words that may be blanked out, such as all answers of one kind.

    Returns:
        A frame of the same form. A query has 7 to 70 tokens and at least `LEAST_SENTENCES`
        sentences before it. The answer occurs in these sentences, and once in the query, but not as
        its first word. It is the only candidate, because training needs none.
    """
    return questions_frame(
        question
        for sentence, place in _best_places(frames).items()
        for question in _ask_for_words(sentence, place, frozenset(words))
    )


def _best_places(frames: Sequence[pd.DataFrame]) -> dict[str, _Place]:
    """Finds, for each sentence, the place with most sentences before it."""
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
