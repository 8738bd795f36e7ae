"""The generated reading sample: answerable, unambiguous, and its test part unseen."""

import re
import string

import numpy as np
import pandas as pd
import pytest

from zoo.data.reading_sample import SAMPLE_QUESTIONS, reading_sample, sample_vectors
from zoo.data.sample_language import ENTITY_WORDS, FRAMES, entity_words, templates


@pytest.fixture(scope="module")
def parts() -> dict[str, pd.DataFrame]:
    return {split: reading_sample(split) for split in SAMPLE_QUESTIONS}


def tokens(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text.lower())


@pytest.mark.parametrize("split", ["train", "test"])
def test_frame_has_the_shape_of_squad(parts: dict[str, pd.DataFrame], split: str) -> None:
    frame = parts[split]
    assert len(frame) == SAMPLE_QUESTIONS[split]
    assert list(frame.columns) == [
        "id",
        "title",
        "context",
        "question",
        "answers",
        "answer_starts",
    ]
    assert frame["id"].is_unique
    assert frame["id"][0] == f"sample-{split}-00001"
    assert frame.attrs == {"wrong_answer_starts": 0}
    assert isinstance(frame["answers"][0], list)
    assert isinstance(frame["answer_starts"][0][0], int)


@pytest.mark.parametrize("split", ["train", "test"])
def test_answers_are_unambiguous_spans(parts: dict[str, pd.DataFrame], split: str) -> None:
    for row in parts[split].itertuples():
        ((answer,), (start,)) = row.answers, row.answer_starts
        assert row.context[start : start + len(answer)] == answer
        assert row.context.count(answer) == 1
        assert 1 <= len(tokens(answer)) <= 3
        # Whole tokens: neither side cuts through a word.
        assert not re.search(r"\w$", row.context[:start])
        assert not re.match(r"\w", row.context[start + len(answer) :])
        assert answer not in row.question


def test_sample_is_varied_and_small(parts: dict[str, pd.DataFrame]) -> None:
    for split, frame in parts.items():
        assert not frame.duplicated(["context", "question"]).any()
        lengths = frame["context"].map(lambda context: len(tokens(context)))
        assert lengths.max() <= 90
        assert 40 <= lengths.mean() <= 65
        answer_lengths = frame["answers"].map(lambda answers: len(tokens(answers[0])))
        assert set(answer_lengths) == {1, 2, 3}, split
    text = "".join(parts["train"]["context"]) + "".join(parts["train"]["question"])
    assert set(text) <= set(string.ascii_letters + string.digits + " ,.?")


def test_entities_of_the_test_part_never_occur_in_training(
    parts: dict[str, pd.DataFrame],
) -> None:
    seen = {
        token
        for column in ("context", "question")
        for text in parts["train"][column]
        for token in tokens(text)
    }
    for row in parts["test"].itertuples():
        assert seen.isdisjoint(tokens(row.answers[0]))
    unseen = {word.lower() for words in entity_words("test").values() for word in words}
    assert seen.isdisjoint(unseen)


def test_several_entities_could_answer(parts: dict[str, pd.DataFrame]) -> None:
    """Knowing the kind of the answer is rarely enough."""
    kinds = {word: kind for kind, words in entity_words("test").items() for word in words}
    rivals = []
    for row in parts["test"].itertuples():
        first = kinds[row.answers[0].split()[0]]
        words = [word for word in re.findall(r"\w+", row.context) if kinds.get(word) == first]
        rivals.append(len(words) > 1 + len(row.answers[0].split()))
    assert np.mean(rivals) > 0.5


def test_sample_is_the_same_every_time(parts: dict[str, pd.DataFrame]) -> None:
    assert reading_sample("train").equals(parts["train"])
    assert reading_sample("test", questions=7).equals(parts["test"].head(7))
    first, second = sample_vectors(), sample_vectors()
    assert first[0] == second[0]
    np.testing.assert_array_equal(first[1], second[1])


def test_vectors_know_all_words(parts: dict[str, pd.DataFrame]) -> None:
    words, matrix = sample_vectors()
    assert matrix.dtype == np.float32
    assert matrix.shape[0] == len(words) == len(set(words))
    assert np.isfinite(matrix).all()
    assert len(np.unique(matrix, axis=0)) == len(words)
    known = set(words)
    for frame in parts.values():
        for column in ("context", "question"):
            for text in frame[column].unique():
                assert known.issuperset(tokens(text))


def test_words_of_one_kind_are_alike() -> None:
    words, matrix = sample_vectors()
    index = {word: i for i, word in enumerate(words)}
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)

    def mean_cosine(kind: str, other: str) -> float:
        # Training words against test words: what carries over to entities never seen.
        left = unit[[index[word.lower()] for word in entity_words("train")[kind]]]
        right = unit[[index[word.lower()] for word in entity_words("test")[other]]]
        return float((left @ right.T).mean())

    kinds = list(entity_words("train"))
    for kind in kinds:
        assert mean_cosine(kind, kind) > 0.15
        for other in kinds:
            if other != kind:
                assert mean_cosine(kind, kind) > 0.1 + mean_cosine(kind, other)


def test_no_word_has_two_kinds() -> None:
    common = {token for text in templates() for token in tokens(re.sub(r"{\w+}", " ", text))}
    entities = [
        word.lower()
        for split in SAMPLE_QUESTIONS
        for words in entity_words(split).values()
        for word in words
    ]
    assert len(entities) == len(set(entities))
    assert common.isdisjoint(entities)


def test_frames_are_well_formed() -> None:
    for frame in FRAMES:
        assert set(frame.slots.values()) <= set(ENTITY_WORDS)
        for sentence in frame.sentences:
            assert sorted(re.findall(r"{(\w+)}", sentence)) == sorted(frame.slots)
        for asked, question in frame.questions:
            (given,) = re.findall(r"{(\w+)}", question)
            assert {asked, given} <= set(frame.slots)
            assert asked != given


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"split must be one of \['test', 'train'\], got 'dev'"):
        reading_sample("dev")
    with pytest.raises(ValueError, match="questions must be at least 1, got 0"):
        reading_sample("test", questions=0)
