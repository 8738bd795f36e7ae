"""All the questions that the windows of books hold."""

from zoo.data.cloze_format import Question, questions_frame
from zoo.data.cloze_windows import LEAST_SENTENCES, cut_questions

BEFORE = [f"Nothing at all happened on day {n} ." for n in range(LEAST_SENTENCES - 2)]
STORY = [
    "Ada came in with old Bo .",
    "The hat of Bo was green .",
    "Then Ada saw the hat of Bo again .",
    "Bo told Cy and Ada and Cy so .",
    "Short , Ada .",
    "No one but Di saw the hat .",
]
WORDS = {"Ada", "Bo", "Cy", "Di"}


def windows(*cuts):
    """Questions whose windows end after so many sentences of the story."""
    found = []
    for end in cuts:
        *document, last = [*BEFORE, *STORY[:end]]
        first = next(word for word in last.split() if word in WORDS)
        found.append(Question("\n".join(document), last.replace(first, "XXXXX"), first, [first]))
    return questions_frame(found)


def cut(*frames):
    return [Question(*row) for row in cut_questions(frames, WORDS).itertuples(index=False)]


def test_each_word_of_each_sentence_is_asked_for_once():
    document = "\n".join([*BEFORE, *STORY[:2]])
    assert cut(windows(6)) == [
        Question(document, "Then XXXXX saw the hat of Bo again .", "Ada", ["Ada"]),
        Question(document, "Then Ada saw the hat of XXXXX again .", "Bo", ["Bo"]),
        # Not Bo, the first word, nor Cy, who was not there before and is named twice.
        Question(f"{document}\n{STORY[2]}", "Bo told Cy and XXXXX and Cy so .", "Ada", ["Ada"]),
    ]  # the next sentence is short, and nobody knows Di


def test_a_sentence_is_asked_about_where_it_has_most_sentences_before_it():
    other = windows(3)
    longer = other.assign(document="The very first sentence of all .\n" + other["document"])
    lines = [*BEFORE, *STORY]
    shown = {question.query: question.document for question in cut(windows(4), longer)}
    assert shown == {
        "The hat of XXXXX was green .": "\n".join(["The very first sentence of all .", *lines[:7]]),
        "Then XXXXX saw the hat of Bo again .": longer["document"][0],
        "Then Ada saw the hat of XXXXX again .": longer["document"][0],
        "Bo told Cy and XXXXX and Cy so .": "\n".join(lines[:9]),
    }


def test_without_the_words_there_is_no_question():
    assert cut_questions([windows(6)], {"Eve"}).empty
    assert cut_questions([], WORDS).empty
