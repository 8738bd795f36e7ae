"""The generated cloze sample: the same everywhere, and answerable from its documents alone."""

import pytest

from zoo.data.cloze_format import PLACEHOLDER
from zoo.data.cloze_sample import PEOPLE, SAMPLE_QUESTIONS, THINGS, cloze_sample


@pytest.mark.parametrize("split", SAMPLE_QUESTIONS)
def test_every_question_is_one(split):
    frame = cloze_sample(split)
    assert len(frame) == SAMPLE_QUESTIONS[split]
    for document, query, answer, candidates in frame.itertuples(index=False):
        words = document.split()
        assert query.split().count(PLACEHOLDER) == 1
        assert answer in candidates
        assert len(set(candidates)) == 4
        assert set(candidates) <= set(words)
        assert answer not in query.split()
        kind, other = (PEOPLE, THINGS) if answer in PEOPLE else (THINGS, PEOPLE)
        assert set(candidates) == set(words) & set(kind)
        # One sentence has both the answer and the word that the query tells.
        (told,) = set(query.split()) & set(other)
        sentences = [s.split() for s in document.split("\n")]
        assert [answer in s for s in sentences if told in s].count(True) == 1


def test_it_is_the_same_every_time_and_fewer_are_the_first():
    frame = cloze_sample("train", 50)
    assert frame.equals(cloze_sample("train", 200).head(50))
    assert not cloze_sample("test", 50).equals(frame)
    assert len(set(frame["answer"])) > 15


def test_no_question_of_the_test_is_one_of_the_training():
    keys = [
        set(zip(f["document"], f["query"], strict=True))
        for f in map(cloze_sample, ("train", "test"))
    ]
    assert not keys[0] & keys[1]


@pytest.mark.parametrize(
    ("split", "questions", "name"), [("dev", None, "split"), ("test", 0, "questions")]
)
def test_bad_arguments_are_refused(split, questions, name):
    with pytest.raises(ValueError, match=f"^{name} must be"):
        cloze_sample(split, questions)
