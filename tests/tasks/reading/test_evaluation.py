"""Scoring a reading model on a data set, with a model that points where the question says."""

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from zoo.tasks.reading.examples import ReadingEvaluator, encode_examples
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import Vocabulary, write_vocabulary

WORDS = ("łódź", "café", "tower", "opened", "in", "1905", "😀", "old", "new")
SHORT, LONG = "Old Łódź.", "In 1905, the café 😀 opened: new Tower in Łódź"


class FirstAndLastWord:
    """A model that answers from the question's first word to its last, each where it occurs last.

    Padding gets no chance. A word that does not occur leaves the position to the first token.
    """

    def __init__(self):
        self.calls = []

    def __call__(self, inputs, training):
        self.calls.append(training)
        question, context = inputs["question"], inputs["context"]
        real = context != 0
        length = tf.reduce_sum(tf.cast(question != 0, tf.int32), axis=1)
        last = tf.gather(question, tf.maximum(length - 1, 0), batch_dims=1)
        return {
            side: tf.where(real, self.scores(context, wanted), -1e30)
            for side, wanted in (("start", question[:, 0]), ("end", last))
        }

    @staticmethod
    def scores(context, wanted):
        position = tf.range(tf.shape(context)[1], dtype=tf.float32)
        return 9.0 * (1.0 + position) * tf.cast(context == wanted[:, None], tf.float32)


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "words.txt"
    write_vocabulary(path, WORDS)
    return Vocabulary(path)


@pytest.fixture
def make(vocabulary):
    def call(rows, maximum_context_tokens=None, **arguments):
        frame = pd.DataFrame(
            {
                "id": [f"q{number}" for number in range(len(rows))],
                "question": [question for question, _, _ in rows],
                "context": [context for _, context, _ in rows],
                "answers": [answers for _, _, answers in rows],
                "answer_starts": [[0] * len(answers) for _, _, answers in rows],
            }
        )
        examples = encode_examples(
            frame,
            WordTokenizer(),
            vocabulary,
            training=False,
            maximum_context_tokens=maximum_context_tokens,
        )
        model = FirstAndLastWord()
        return ReadingEvaluator(model, examples, frame, **arguments), model

    return call


ROWS = [
    ("café opened", LONG, ["opened"]),
    ("łódź", SHORT, ["Łódź", "Old Łódź"]),
    ("😀", LONG, ["😀"]),
    ("tower łódź", LONG, ["the Tower in Łódź!"]),
    ("old", SHORT, ["new"]),
    ("in", LONG, ["in"]),
]
ANSWERS = ["café 😀 opened", "Łódź", "😀", "Tower in Łódź", "Old", "in"]


@pytest.mark.parametrize("batch_size", [1, 2, 64])
def test_answers_are_the_text_between_tokens_in_the_order_of_the_rows(make, batch_size):
    """Batches are sorted by length, and characters before the answers have one to four bytes."""
    evaluate, _ = make(ROWS, batch_size=batch_size)
    expected = {f"q{number}": answer for number, answer in enumerate(ANSWERS)}
    assert evaluate.predict() == expected


def test_scores_are_percentages_over_all_rows(make):
    evaluate, _ = make(ROWS)
    scores = evaluate()
    assert scores.keys() == {"exact_match", "f1"}
    # Punctuation and articles do not count; the first row has one word of "café 😀 opened".
    assert scores["exact_match"] == pytest.approx(100.0 * 4 / 6)
    assert scores["f1"] == pytest.approx(100.0 * (4 + 0.5) / 6)


@pytest.mark.parametrize("batch_size", [1, 64])
def test_the_loss_of_the_answers_is_among_the_metrics_where_it_is_asked_for(make, batch_size):
    """The loss counts only answers found at the data set's offset: here those at offset 0."""
    rows = [
        ("łódź", SHORT, ["Old"]),
        ("in", LONG, ["In"]),
        ("tower łódź", LONG, ["the Tower in Łódź!"]),  # does not stand where it is said to
    ]
    evaluate, model = make(rows, batch_size=batch_size, with_loss=True)
    model.example_losses = lambda targets, outputs: (
        tf.cast(tf.reduce_sum(tf.ones_like(outputs["start"]), axis=1), tf.float32)
        + 100.0 * tf.cast(targets["start"] + targets["end"], tf.float32),
        None,
    )
    scores = evaluate()
    lengths = evaluate.examples.context.row_lengths().numpy()
    padded = [lengths[row] if batch_size == 1 else max(lengths) for row in (0, 1)]
    assert evaluate.examples.start.tolist() == [0, 0, -1]
    assert scores["answer_loss"] == pytest.approx(np.mean(padded))
    plain = make(rows, batch_size=batch_size)[0]()
    assert {name: scores[name] for name in plain} == plain
    nowhere, model = make(rows[2:], with_loss=True)
    model.example_losses = lambda targets, outputs: (tf.zeros(tf.shape(targets["start"])), None)
    assert np.isnan(nowhere()["answer_loss"])


@pytest.mark.parametrize("limit", [None, 11, 10, 1])
def test_answers_are_no_longer_than_allowed(make, limit):
    """From 1905 to the last word there are eleven tokens; the end is what the model is sure of."""
    expected = {None: "1905, the", 11: "1905, the", 10: ", the", 1: "Łódź"}[limit]
    rows = [("1905 łódź", LONG, ["1905"])]
    evaluate, _ = make(rows, maximum_answer_tokens=limit)
    assert evaluate.predict() == {"q0": LONG[LONG.index(expected) :]}


def test_the_longest_answer_has_thirty_tokens_by_default(make):
    context = " ".join(["old"] + ["x"] * 29 + ["new"])  # 31 tokens
    answer = make([("old new", context, ["old"])])[0].predict()["q0"]
    assert len(answer.split()) <= 30
    whole = make([("old new", context, ["old"])], maximum_answer_tokens=31)[0].predict()["q0"]
    assert whole == context


def test_a_context_without_a_token_has_the_empty_answer(make):
    rows = [("old", "", ["old"]), ("łódź", SHORT, ["Łódź"]), ("", SHORT, ["x"])]
    answers = make(rows)[0].predict()
    assert answers["q0"] == ""
    assert answers["q1"] == "Łódź"
    assert make(rows[:1])[0].predict() == {"q0": ""}


def test_answers_come_from_what_is_left_of_a_cut_context(make):
    rows = [("in", LONG, ["in"]), ("old", SHORT, ["Old"])]
    assert make(rows)[0].predict() == {"q0": "in", "q1": "Old"}
    assert make(rows, maximum_context_tokens=4)[0].predict() == {"q0": "In", "q1": "Old"}


def test_the_model_runs_as_at_inference_in_a_graph_that_is_kept(make):
    evaluate, model = make(ROWS * 3, batch_size=2)
    first = evaluate()
    traces = len(model.calls)
    assert traces <= 3  # the first sizes, then one trace for all
    assert evaluate() == first
    assert len(model.calls) == traces
    assert set(model.calls) == {False}


def test_a_model_that_has_learned_since_is_scored_anew(make):
    evaluate, model = make([("old", SHORT, ["Łódź"])])
    bonus = tf.Variable(0.0)
    plain = model.scores
    model.scores = lambda context, wanted: (
        plain(context, wanted) + bonus * tf.cast(tf.range(tf.shape(context)[1]) == 1, tf.float32)
    )
    assert evaluate() == {"exact_match": 0.0, "f1": 0.0}
    bonus.assign(100.0)
    assert evaluate() == {"exact_match": 100.0, "f1": 100.0}
