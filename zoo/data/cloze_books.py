"""Cloze questions from plain-text books, modelled on the Children's Book Test.

21 consecutive sentences make a question. The last one is the query; one of its words that also
occurs in the 20 sentences before is blanked out. The candidates are words of the same kind from the
same sentences. A word's kind is determined from the book alone, without a tagger:

- "ne", names: capitalised in the middle of sentences in more than nine of ten uses there;
- "cn", common nouns: lower-case words that often end a phrase that a determiner begins.

The rules are simple and admit some words that a tagger would exclude.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, zip_longest
from typing import Literal, get_args

import numpy as np

from zoo.data.cloze_format import PLACEHOLDER, SENTENCES, Question
from zoo.data.penn import penn_tokens

Kind = Literal["ne", "cn"]

CANDIDATES = 10

QUERY_TOKENS = (7, 70)
"""Minimum and maximum number of words of a query."""
_DOCUMENT_TOKENS = 1000
_NAME_SHARE = 0.9  # of a name's mid-sentence uses, the share that is capitalised
_NOUN_USES, _NOUN_SHARE = 3, 0.3  # minimum uses of a noun, and share that look like one

_MARKER = re.compile(
    r"^\*\*\*[ \t]*(START|END) OF TH(?:E|IS)(?: COPYRIGHTED)? PROJECT GUTENBERG\b.*$",
    re.MULTILINE | re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ENDS = frozenset({".", "!", "?", "..."})
_CLOSING = frozenset({"''", "'", "-RRB-"})
_OPENING = frozenset({"``", "`", "-LRB-"})
_BEFORE_CAPITAL = _ENDS | _CLOSING | _OPENING | {":", "--"}  # a capital after these tells nothing


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DETERMINERS = _words(
    "a an the this that these those my your his her its our their some any no every each"
)
_FUNCTION_WORDS = _words(
    "and or but of in on at to for from with by as into upon over under that which who when "
    "while where if so than then was were is are had has have"
)
_NO_NAMES = _words(
    "I Mr. Mrs. Miss Sir Lady Lord Madam Oh Ah Yes No Well O Monday Tuesday Wednesday Thursday "
    "Friday Saturday Sunday January February March April May June July August September October "
    "November December Christmas Easter God Heaven English French German Latin Chapter Queen King"
)
_NO_NOUNS = _words(
    "one other others same way thing things more most much many little few first last rest"
)

Sentence = list[str]


class BookError(ValueError):
    """A text whose books cannot be told apart."""


def questions_from_text(
    text: str, kind: Kind, *, stride: int = SENTENCES + 1, seed: int = 0
) -> Iterator[Question]:
    """Makes the questions of a text.

    Args:
        text: One book, or several between Project Gutenberg's START and END lines; text outside of
            these is ignored. Empty lines separate paragraphs. A heading ends a chapter, and no
            question spans chapters.
        kind: Kind of the words to blank out.
        stride: Sentences from one query to the next: 21 for documents that do not overlap.
        seed: Seed for choosing the answer and the candidates.

    Yields:
        The questions in the order of the text, as `write_cbt` takes them.

    Raises:
        ValueError: There is no such kind, or the stride is not positive.
        BookError: As `book_sentences`.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {list(get_args(Kind))}, got {kind!r}")
    if stride < 1:
        raise ValueError(f"stride must be at least 1, got {stride}")
    chapters = book_sentences(text)
    everything = [sentence for chapter in chapters for sentence in chapter]
    words = names_of(everything) if kind == "ne" else nouns_of(everything)
    generator = np.random.default_rng(seed)
    for chapter in chapters:
        for last in range(SENTENCES, len(chapter), stride):
            document, query = chapter[last - SENTENCES : last], chapter[last]
            question = _question(document, query, words, generator)
            if question is not None:
                yield question


def book_sentences(text: str) -> list[list[Sentence]]:
    """Splits books into chapters, and each chapter into tokenised sentences.

    Raises:
        BookError: A START or END line of Project Gutenberg has no partner; names the line.
    """
    chapters: list[list[Sentence]] = []
    for book in _books(text.replace("\r\n", "\n")):
        chapters.append([])
        for paragraph in re.split(r"\n[ \t]*\n", book):
            line = " ".join(paragraph.split())
            if _is_heading(line):
                chapters.append([])
            elif line:
                chapters[-1] += split_sentences(penn_tokens(line))
    return [chapter for chapter in chapters if chapter]


def _books(text: str) -> list[str]:
    """Returns the text between each two markers of Project Gutenberg, or all if there is none."""
    markers = [*_MARKER.finditer(text)]
    found = []
    for start, end in zip_longest(markers[::2], markers[1::2]):
        for marker, wanted in ((start, "START"), (end, "END")):
            if marker is None or marker[1].upper() != wanted:
                line = text.count("\n", 0, (marker or start).start()) + 1
                got = "no END line after it" if marker is None else repr(marker[0])
                raise BookError(
                    f"line {line}: Project Gutenberg's START and END lines must alternate, got "
                    f"{got}"
                )
        found.append(text[start.end() : end.start()])
    return found if markers else [text]


def split_sentences(tokens: list[str]) -> list[Sentence]:
    """Splits tokens after sentence-ending marks before a capital or an opening quote."""
    sentences: list[Sentence] = [[]]
    ended = False
    for token, following in pairwise([*tokens, ""]):
        sentences[-1].append(token)
        ended = token in _ENDS or (ended and token in _CLOSING)
        if ended and following and (following in _OPENING or following[0].isupper()):
            sentences.append([])
            ended = False
    return [sentence for sentence in sentences if sentence]


def names_of(sentences: list[Sentence]) -> set[str]:
    """Finds the words that a book capitalises in mid-sentence."""
    capitalised: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    for sentence in sentences:
        for before, word in pairwise(sentence):
            if _WORD.fullmatch(word) and before not in _BEFORE_CAPITAL:
                (capitalised if word[0].isupper() else lower)[word] += 1
    return {
        word
        for word, count in capitalised.items()
        if word not in _NO_NAMES
        and not (len(word) > 1 and word.isupper())
        and count > _NAME_SHARE * (count + lower[word.lower()])
    }


def nouns_of(sentences: list[Sentence]) -> set[str]:
    """Finds words that often stand between a determiner and a mark or function word."""
    uses: Counter[str] = Counter()
    as_noun: Counter[str] = Counter()
    for sentence in sentences:
        for before, word, after in zip(sentence, sentence[1:], [*sentence[2:], "."], strict=False):
            if not _is_plain(word):
                continue
            uses[word] += 1
            ends = not _WORD.fullmatch(after) or after in _FUNCTION_WORDS
            as_noun[word] += before.lower() in _DETERMINERS and ends
    return {
        word
        for word, count in uses.items()
        if count >= _NOUN_USES and as_noun[word] >= _NOUN_SHARE * count
    }


def _question(
    document: list[Sentence], query: Sentence, words: set[str], generator: np.random.Generator
) -> Question | None:
    """Makes a question of 21 sentences; None if there are too few words of the kind."""
    length = sum(map(len, document))
    if not QUERY_TOKENS[0] <= len(query) <= QUERY_TOKENS[1] or length > _DOCUMENT_TOKENS:
        return None
    told = {word for sentence in document for word in sentence}
    answers = [word for word in query[1:] if word in words & told and query.count(word) == 1]
    pool = sorted((told | set(query)) & words)
    if not answers or len(pool) < CANDIDATES or PLACEHOLDER in told | set(query):
        return None
    answer = answers[generator.integers(len(answers))]
    others = [word for word in pool if word != answer]
    chosen = generator.choice(others, CANDIDATES - 1, replace=False).tolist()
    return Question(
        document="\n".join(map(" ".join, document)),
        query=" ".join(PLACEHOLDER if word == answer else word for word in query),
        answer=answer,
        candidates=generator.permutation([answer, *chosen]).tolist(),
    )


def _is_heading(line: str) -> bool:
    """Tells whether a paragraph is a heading: a heading word or capitals, no sentence end."""
    if not line or not any(character.isalpha() for character in line):
        return bool(line)
    words = line.split()
    named = words[0].lower().strip(".") in {"chapter", "book", "part", "contents"}
    return len(words) <= 12 and (named or (line.isupper() and line[-1] not in "!?'\""))


def _is_plain(word: str) -> bool:
    """Tells whether a word is spelled like a common noun."""
    plain = len(word) > 2 and word.islower() and bool(_WORD.fullmatch(word))
    return plain and word not in _DETERMINERS | _FUNCTION_WORDS | _NO_NOUNS
