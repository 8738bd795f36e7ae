"""Tables of strings as pipelines are trained on: what is read, and what is refused, and how."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from zoo.pipelines.tables import split_table
from zoo.pipelines.trainers import TRAINERS, find_answer
from zoo.tasks.reading.endpoint import ReadingEndpoint
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import Vocabulary, write_vocabulary

CONTEXT = "Ünıcödé: the lamp was repaired by Ida Möreau, and Ida Möreau was glad."
READING = {"question": ["Who repaired the lamp?"], "context": [CONTEXT], "answer": ["Ida Möreau"]}


class Words:
    """Stands in for the endpoint of a classifier or of a reader."""

    model, labels = None, ("bad", "good")

    @property
    def limits(self):
        return {"maximum_document_tokens": 5}


@pytest.mark.parametrize(
    ("task", "data", "message"),
    [
        ("translation", {"source": ["a"]}, "source, target, got source: target is missing"),
        ("translation", {"source": [], "target": []}, "data must have at least one row, got none"),
        ("translation", ["a"], "a pandas DataFrame or a dict of columns .* source, target, got li"),
        ("translation", {"source": "a", "target": "b"}, "column source must be a list, got str"),
        (
            "translation",
            {"source": {"a"}, "target": ["b"]},
            "column source must be a list, got set",
        ),
        (
            "translation",
            {"source": np.array("a"), "target": ["b"]},
            "column source must be a list, got ndarray 'a'",
        ),
        (
            "translation",
            {"source": pd.DataFrame({"source": ["a"]}), "target": ["b"]},
            "column source must be a list, got DataFrame: give one of its columns",
        ),
        (
            "translation",
            pd.DataFrame([["a", "b", "c"]], columns=["source", "target", "source"]),
            "data must have column source once, got 2",
        ),
        (
            "reading",
            pd.DataFrame(READING).assign(answer_start=34).iloc[:, [0, 1, 2, 3, 3]],
            "data must have column answer_start once, got 2",
        ),
        ("translation", {"source": ["a"], "target": []}, "same length, got {'source': 1, 'target"),
        (
            "translation",
            {"source": ["a", float("nan")], "target": ["a", "b"]},
            "source of row 1 must be a string, got nan",
        ),
        (
            "classification",
            {"text": ["a", "\ud800"], "label": ["good", "good"]},
            r"text of row 1 must be text that UTF-8 can hold, got '\\ud800'",
        ),
        (
            "classification",
            {"text": ["a", "b"], "label": ["good", "best"]},
            "label of row 1 must be one of the model's classes 'bad', 'good', got 'best'",
        ),
        ("reading", READING | {"answer": ["Tom"]}, "answer of row 0 must be part of its context"),
        ("reading", READING | {"answer": [""]}, "answer of row 0 must be part of its context"),
        (
            "reading",
            READING | {"answer_start": [3]},
            r"answer of row 0 must be in its context at character 3, where .*, got 'Ida",
        ),
        ("reading", READING | {"answer_start": ["x"]}, "answer_start of row 0 must be a whole num"),
        *(
            (
                "reading",
                READING | {"answer_start": [start]},
                "answer_start of row 0 must be a whole number of characters, got",
            )
            for start in (-1, 0.5, float("inf"), True, np.False_, pd.Timestamp(0), 1j, [3, [4]])
        ),
        (
            "cloze",
            {"document": ["a b"], "query": ["c"], "answer": ["a"]},
            "query of row 0 must be a text with XXXXX once, got 'c'",
        ),
        (
            "cloze",
            {"document": ["a b c d e f"], "query": ["XXXXX"], "answer": ["f"]},
            "answer of row 0 must be a word of the first 5 of its document, got 'f'",
        ),
        (
            "cloze",
            {"document": ["a b"], "query": ["XXXXX"], "answer": ["a"], "candidates": [["b"]]},
            "candidates of row 0 must be a list of words with the answer 'a'",
        ),
        *(
            (
                "cloze",
                {
                    "document": ["a b"] * 2,
                    "query": ["XXXXX"] * 2,
                    "answer": ["a"] * 2,
                    "candidates": [["a"], given],
                },
                "candidates of row 1 must be a list of words with the answer 'a', got",
            )
            for given in (3, "a", {"a", "b"}, {"a": 1}, ["a", None], ["a", ""], ["a", "\ud800"])
        ),
    ],
)
def test_wrong_data_is_refused_by_column_and_row(task, data, message):
    with pytest.raises(ValueError, match=message):
        TRAINERS[task](Words()).read(data)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_row_without_candidates_has_the_words_of_its_document(missing):
    rows = {"document": ["a b a", "c a"], "query": ["XXXXX"] * 2, "answer": ["a"] * 2}
    frame = TRAINERS["cloze"](Words()).read(rows | {"candidates": [missing, ["a", "d"]]})
    assert frame["candidates"].tolist() == [["a", "b"], ["a", "d"]]


def test_answers_become_tokens_of_their_contexts(tmp_path):
    write_vocabulary(tmp_path / "words.txt", ["the", "lamp"])
    endpoint = ReadingEndpoint(
        None, WordTokenizer(), Vocabulary(tmp_path / "words.txt"), maximum_context_tokens=9
    )
    trainer = TRAINERS["reading"](endpoint)
    later = {name: column * 2 for name, column in READING.items()} | {"answer_start": [None, 34]}
    frame = trainer.read(later)
    assert frame["answer_starts"].tolist() == [[34], [34]]
    inputs, targets = next(iter(trainer.batches(frame, 2, 0).training(0)))
    assert inputs["context"].shape == (2, 9)
    assert targets["start"].numpy().tolist() == [7, 7]
    assert targets["end"].numpy().tolist() == [8, 8]
    for answer, start in (("lam", None), ("Ida Möreau", 50)):
        with pytest.raises(ValueError, match="answer of row 0 must be whole words within the firs"):
            trainer.read(READING | {"answer": [answer], "answer_start": [start]})


def test_answers_are_found_where_they_are_whole_words():
    assert find_answer(0, "a party of art", "art", None) == 11
    assert find_answer(0, "a party", "art", None) == 3
    assert find_answer(0, "art art", "art", 4) == 4
    assert find_answer(0, "art art", "art", float("nan")) == 0
    assert find_answer(0, "art art", "art", pd.NA) == 0
    for start in (4.0, np.int8(4), Decimal(4)):
        assert find_answer(0, "art art", "art", start) == 4


def test_rows_with_the_same_text_are_held_out_together():
    """The training does not know what chooses the weights."""
    frame = pd.DataFrame({"context": [*"aabbccddee"], "question": range(10)})
    training, held_out = split_table(frame, 0.4, 3, "context")
    assert len(held_out) == 4
    assert not {*training["context"]} & {*held_out["context"]}
    assert training.index.tolist() == [*range(6)]
    assert training["question"].is_monotonic_increasing
    apart = split_table(frame, 0.4, 3)  # each row by itself, as before
    for one, other in zip(apart, split_table(frame, 0.4, 3, "question"), strict=True):
        pd.testing.assert_frame_equal(one, other)
    order = np.random.default_rng(3).permutation(10)
    assert apart[1]["question"].tolist() == sorted(order[:4])
    told = r"must leave a row to train on, got 0\.9 of 1 texts of context"
    with pytest.raises(ValueError, match=told):
        split_table(frame[:2], 0.9, 3, "context")


def test_tasks_keep_the_rows_together_that_their_recipes_do():
    together = {task: trainer.together for task, trainer in TRAINERS.items()}
    assert together == {
        "classification": "text",
        "cloze": "document",
        "inference": "premise",
        "language_model": None,
        "reading": "context",
        "tabular": None,
        "translation": "source",
    }
