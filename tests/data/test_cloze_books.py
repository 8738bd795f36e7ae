"""Questions out of a book: whole chapters, words of the right kind, documents in one piece."""

import numpy as np
import pytest

from zoo.data.cloze_books import (
    book_sentences,
    names_of,
    nouns_of,
    questions_from_text,
    split_sentences,
)
from zoo.data.cloze_format import PLACEHOLDER

_NAMES = "Ada Boris Clara David Emma Felix Greta Henry Ida Jonas Karla Leo"
_THINGS = "basket candle drum hammer jacket kettle lantern mirror needle ribbon saddle wagon"
NAMES, THINGS = _NAMES.split(), _THINGS.split()


def chapter(seed, sentences=45):
    """Sentences that mention two people and two things each."""
    generator = np.random.default_rng(seed)
    lines = []
    for _ in range(sentences):
        one, other = generator.choice(NAMES, 2, replace=False)
        first, second = generator.choice(THINGS, 2, replace=False)
        lines.append(f"Then {one} gave the {first} and the {second} to {other}, who was glad.")
    return "\n".join(lines)


BOOK = (
    "The title page\n\n*** START OF THIS PROJECT GUTENBERG EBOOK ***\n\nCHAPTER I\n\n"
    f"{chapter(0)}\n\nChapter II. The end of it\n\n{chapter(1)}\n\n"
    "*** END OF THIS PROJECT GUTENBERG EBOOK ***\n\nThe licence."
)


def test_only_the_book_is_read_and_headings_end_chapters():
    chapters = book_sentences(BOOK)
    assert [len(c) for c in chapters] == [45, 45]
    assert chapters[0][0][0] == "Then"
    assert all(sentence[-1] == "." for c in chapters for sentence in c)
    assert len(book_sentences(BOOK.replace("\n", "\r\n"))) == 2


def test_every_book_of_a_file_is_read_and_no_chapter_spans_two():
    second = BOOK.replace("THIS PROJECT", "THE PROJECT").replace("Then", "Now").title()
    chapters = book_sentences(f"{BOOK}\n{second}\n")
    assert [len(c) for c in chapters] == [45] * 4
    assert [c[0][0] for c in chapters] == ["Then", "Then", "Now", "Now"]
    bare = "\n".join(
        f"*** START OF THE PROJECT GUTENBERG EBOOK {n} ***\nShe went.\n"
        f"***END OF THE PROJECT GUTENBERG EBOOK {n}***"
        for n in "AB"
    )
    assert book_sentences(bare) == [[["She", "went", "."]]] * 2


def test_ends_of_volumes_are_text():
    volumes = "She went.\n\n*** END OF VOLUME I ***\n\n*** START OF VOLUME II ***\n\nHe came."
    expected = [[["She", "went", "."]], [["He", "came", "."]]]
    assert book_sentences(volumes) == expected
    marks = "*** {} OF THIS PROJECT GUTENBERG EBOOK ***"
    inner = f"No.\n{marks.format('START')}\n{volumes}\n{marks.format('END')}\nNo."
    assert book_sentences(inner) == expected


@pytest.mark.parametrize(
    ("markers", "line", "got"),
    [
        (["START"], 2, "no END line after it"),
        (["END"], 2, r"'\*\*\* END OF THE PROJECT"),
        (["END", "START"], 2, r"'\*\*\* END OF"),
        (["START", "START", "END"], 4, r"'\*\*\* START OF"),
        (["START", "END", "END"], 6, r"'\*\*\* END OF"),
        (["START", "END", "START"], 6, "no END line after it"),
    ],
)
def test_a_marker_without_its_partner_is_named_by_its_line(markers, line, got):
    lines = [f"She went.\r\n*** {mark} OF THE PROJECT GUTENBERG EBOOK ***" for mark in markers]
    expected = rf"^line {line}: .* START and END lines must alternate, got {got}"
    with pytest.raises(ValueError, match=expected):
        list(questions_from_text("\r\n".join([*lines, "He came."]), "ne"))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("He went . She came .", 2),
        ("`` Go ! '' She went .", 2),
        ("`` Go ! '' she said .", 1),
        ("Why ? `` Because . '' Oh ...", 3),
        ("Mr. Brown left ... and came .", 1),
        ("", 0),
    ],
)
def test_sentences_end_where_a_capital_or_a_quote_begins_the_next(text, count):
    sentences = split_sentences(text.split())
    assert len(sentences) == count
    assert [token for sentence in sentences for token in sentence] == text.split()


def test_names_are_capitalised_within_sentences():
    told = [
        "The dog saw Rover and Mr. Fox .",
        "`` Dogs bark , '' said Rover to Tom .",
        "Yes , the Nurse saw a nurse .",
        "I saw CATS on Monday .",
    ]
    assert names_of([sentence.split() for sentence in told]) == {"Rover", "Fox", "Tom"}


def test_nouns_end_phrases_that_determiners_begin():
    told = [
        sentence.split() for sentence in ["The old dog saw the cat and the old bird quickly ."] * 3
    ]
    assert nouns_of(told) == {"cat"}  # "old" stands before a noun, "bird" is not after "the"
    assert nouns_of(told[:2]) == set()


@pytest.mark.parametrize(("kind", "words"), [("ne", NAMES), ("cn", THINGS)])
def test_questions_are_21_sentences_in_a_row_with_ten_candidates_of_the_kind(kind, words):
    made = list(questions_from_text(BOOK, kind))
    assert len(made) == 4  # two of each chapter: they neither overlap nor reach beyond it
    chapters = [[" ".join(s) for s in c] for c in book_sentences(BOOK)]
    for number, question in enumerate(made):
        first = 21 * (number % 2)
        lines = chapters[number // 2]
        assert question.document.split("\n") == lines[first : first + 20]
        query = question.query.split()
        assert query.count(PLACEHOLDER) == 1
        assert [question.answer if w == PLACEHOLDER else w for w in query] == lines[
            first + 20
        ].split()
        assert question.answer in question.document.split()
        assert len(set(question.candidates)) == 10
        assert question.answer in question.candidates
        assert set(question.candidates) <= set(words)


def test_the_seed_and_the_stride_choose():
    first, again = (list(questions_from_text(BOOK, "ne", seed=1)) for _ in range(2))
    assert first == again
    assert first != list(questions_from_text(BOOK, "ne", seed=2))
    assert len(list(questions_from_text(BOOK, "ne", stride=1))) == 2 * 25


def test_windows_with_too_few_words_of_the_kind_give_no_question():
    text = BOOK
    for name in NAMES[9:]:
        text = text.replace(name, "nobody")
    assert not list(questions_from_text(text, "ne"))


@pytest.mark.parametrize(("arguments", "name"), [(("verb",), "kind"), (("ne", 0), "stride")])
def test_bad_arguments_are_refused(arguments, name):
    kind, *stride = arguments
    with pytest.raises(ValueError, match=f"^{name} must be"):
        list(questions_from_text(BOOK, kind, **({"stride": stride[0]} if stride else {})))
