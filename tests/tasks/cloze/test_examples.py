"""Cloze questions to ids and batches, and accuracy by candidates."""

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from zoo.data.cloze_format import Question, questions_frame
from zoo.tasks.cloze.examples import ClozeEvaluator, cloze_words, encode_examples
from zoo.text.vocabulary import Vocabulary, write_vocabulary

WORDS = ("XXXXX", "the", "cat", "dog", "saw", ".")  # ids 4 to 9
ROWS = [
    Question("the cat saw the dog .", "the XXXXX saw .", "cat", ["dog", "cat"]),
    Question("Ada saw Bo . Bo saw Ada .", "XXXXX saw the cat .", "Bo", ["Ada", "Bo", "Cy"]),
    Question("the dog saw .", "the XXXXX .", "cat", ["cat", "dog"]),
    Question("dog .", "XXXXX .", "dog", ["dog"]),
]


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "words.txt"
    write_vocabulary(path, WORDS)
    return Vocabulary(path)


def encode(vocabulary, rows=ROWS, slots=5, training=False, **arguments):
    frame = questions_frame(rows)
    return encode_examples(frame, vocabulary, slots, training=training, **arguments)


def test_texts_are_cut_at_spaces_and_unknown_words_told_apart(vocabulary):
    examples = encode(vocabulary)
    assert examples.document.to_list()[:2] == [[5, 6, 8, 5, 7, 9], [10, 8, 11, 9, 11, 8, 10, 9]]
    assert examples.query.to_list()[:2] == [[5, 4, 8, 9], [4, 8, 5, 6, 9]]
    assert examples.candidates.to_list() == [[7, 6], [10, 11, 12], [6, 7], [7]]
    assert examples.answer.tolist() == [6, 11, 6, 7]
    assert examples.answer_index.tolist() == [1, 1, 0, 0]
    assert examples.rows.tolist() == [0, 1, 2, 3]


def test_training_leaves_out_answers_that_are_not_in_the_document(vocabulary):
    for training in (False, True):
        counts = encode(vocabulary, training=training).counts
        assert (counts.rows, counts.absent, counts.truncated) == (4, 1, 0)
    examples = encode(vocabulary, training=True)
    assert examples.rows.tolist() == [0, 1, 3]
    assert examples.answer.tolist() == [6, 11, 7]
    assert len(examples) == examples.query.nrows() == 3


def test_documents_are_cut_and_answers_beyond_the_cut_are_absent(vocabulary):
    examples = encode(vocabulary, training=True, maximum_document_tokens=2)
    assert examples.document.to_list() == [[5, 6], [7, 9]]
    assert (examples.counts.absent, examples.counts.truncated) == (2, 3)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (Question("a", "no blank", "a", ["a"]), r"query of row 1 must hold XXXXX once"),
        (Question("a", "XXXXX XXXXX", "a", ["a"]), r"query of row 1 must hold XXXXX once"),
        (Question("a", "XXXXX", "a", ["b"]), r"answer of row 1 must be one of its candidates"),
        (Question("a", "XXXXX", "a", []), r"answer of row 1 must be one of its candidates"),
        (Question("a", "XXXXX", "", ["a"]), r"answer of row 1 must be one of its candidates"),
    ],
)
def test_a_row_that_is_no_question_is_named(vocabulary, row, message):
    with pytest.raises(ValueError, match=message):
        encode(vocabulary, [ROWS[0], row])


def test_bad_arguments_are_refused(vocabulary):
    with pytest.raises(ValueError, match="maximum_document_tokens must be positive, got 0"):
        encode(vocabulary, maximum_document_tokens=0)
    with pytest.raises(ValueError, match="frame must have the columns"):
        encode_examples(pd.DataFrame({"query": ["XXXXX"]}), vocabulary, 1, training=True)


def test_an_empty_document_is_kept_for_evaluation_only(vocabulary):
    rows = [ROWS[0], Question("", "XXXXX .", "dog", ["dog", "cat"])]
    assert len(encode(vocabulary, rows, training=True)) == 1
    examples = encode(vocabulary, rows)
    assert examples.document.row_lengths().numpy().tolist() == [6, 0]
    assert ClozeEvaluator(Counting(), examples).predict().tolist()[1] == -1


def test_batches_have_the_answer_s_id_as_target_and_candidates_where_asked(vocabulary):
    examples = encode(vocabulary, training=True)
    inputs, targets = next(iter(examples.batches(8).training(0)))
    assert inputs.keys() == {"document", "query"}
    assert sorted(targets.numpy().tolist()) == [6, 7, 11]
    assert inputs["document"].shape == (3, 8)
    inputs, rows = next(iter(examples.batches(8, candidates=True).evaluation()))
    assert inputs["candidates"].numpy().tolist() == [[7, 0, 0], [7, 6, 0], [10, 11, 12]]
    assert rows.numpy().tolist() == [2, 0, 1]


def test_the_vocabulary_is_of_documents_and_queries_by_frequency():
    frame = questions_frame([*ROWS, *ROWS])  # a sentence counts once, a query each time
    assert cloze_words(frame, None, 2) == [".", "the", "XXXXX", "saw", "cat", "dog", "Ada", "Bo"]
    assert cloze_words(frame, None, 4) == [".", "the", "XXXXX", "saw"]
    assert cloze_words(frame, None, 9) == ["XXXXX", ".", "the"]  # whatever its count
    assert cloze_words(frame, 1, 1) == ["XXXXX"]


class Counting:
    """A model for which a candidate is as probable as it is frequent in the document."""

    def __init__(self):
        self.calls = []

    def __call__(self, inputs, training):
        self.calls.append(training)
        document, candidates = inputs["document"], inputs["candidates"]
        same = tf.cast(document[:, None] == candidates[:, :, None], tf.float32)
        return {"probabilities": tf.reduce_sum(same, -1) * tf.cast(candidates != 0, tf.float32)}


@pytest.mark.parametrize("batch_size", [1, 2, 64])
def test_accuracy_is_of_the_best_candidates_in_the_order_of_the_rows(vocabulary, batch_size):
    evaluate = ClozeEvaluator(Counting(), encode(vocabulary), batch_size=batch_size)
    # Ties go to the first candidate; "cat" is not in the third document, "dog" is.
    assert evaluate.predict().tolist() == [0, 0, 1, 0]
    assert evaluate() == {"accuracy": 25.0}
    expected = [[1, 1, 0], [2, 2, 0], [0, 1, 0], [1, 0, 0]]
    assert evaluate.probabilities().tolist() == expected


def test_the_loss_of_the_answers_is_among_the_metrics_where_it_is_asked_for(vocabulary):
    class Halves(Counting):
        def __call__(self, inputs, training):
            return {"probabilities": 0.5 * super().__call__(inputs, training)["probabilities"]}

    examples = encode(vocabulary)
    evaluate = ClozeEvaluator(Halves(), examples, with_loss=True)
    chances = evaluate.probabilities()[range(len(examples)), examples.answer_index]
    assert sorted({*chances.tolist()}) == [0.0, 0.5, 1.0]  # 0: it is not in its document
    expected = -np.log(np.maximum(chances, 1e-30)).mean()
    assert evaluate() == {"accuracy": 25.0, "answer_loss": pytest.approx(expected)}


def test_a_question_without_a_candidate_in_its_document_is_not_answered_by_luck(vocabulary):
    rows = [Question("the .", "XXXXX .", "cat", ["cat", "dog"])]
    evaluate = ClozeEvaluator(Counting(), encode(vocabulary, rows))
    assert evaluate.predict().tolist() == [-1]
    assert evaluate() == {"accuracy": 0.0}


def test_the_model_runs_as_at_inference_in_a_graph_that_is_kept(vocabulary):
    model = Counting()
    evaluate = ClozeEvaluator(model, encode(vocabulary), batch_size=1)
    evaluate()
    traces = len(model.calls)
    evaluate()
    assert len(model.calls) == traces
    assert set(model.calls) == {False}
