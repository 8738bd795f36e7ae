"""Unknown words of an example are told apart."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.text.batching import BucketedBatches
from zoo.text.slots import PermutedSlots, ids_with_slots, permute_slots
from zoo.text.vocabulary import Vocabulary, write_vocabulary

DOCUMENTS = [["the", "Zed", "saw", "Quo", "Zed"], [], ["Quo", "the"], ["A", "B", "C", "D"]]
QUERIES = [["Quo", "the", "Vex"], ["Zed", "Zed"], [], ["D", "C", "<pad>"]]


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "words.txt"
    write_vocabulary(path, ["the", "saw"])
    return Vocabulary(path)


def look_up(vocabulary, slots, *texts):
    ragged = [tf.ragged.constant(text, dtype=tf.string) for text in texts]
    return [ids.to_list() for ids in ids_with_slots(vocabulary, slots, *ragged)]


def test_unknown_words_are_numbered_by_example_and_alike_in_all_its_texts(vocabulary):
    documents, queries = look_up(vocabulary, 9, DOCUMENTS, QUERIES)
    assert documents == [[4, 6, 5, 7, 6], [], [6, 4], [6, 7, 8, 9]]
    assert queries == [[7, 4, 8], [6, 6], [], [9, 8, 10]]


@pytest.mark.parametrize("slots", [0, 1, 2])
def test_words_beyond_the_slots_are_unknown(vocabulary, slots):
    documents, queries = look_up(vocabulary, slots, DOCUMENTS, QUERIES)
    kept = [[word if word < 6 + slots else 1 for word in row] for row in [[4, 6, 5, 7, 6]]]
    assert documents[0] == kept[0]
    assert max(word for row in documents + queries for word in row) == 5 + slots
    assert queries[3] == [1, 1, 1]


def test_without_unknown_words_ids_are_the_vocabulary_s(vocabulary):
    assert look_up(vocabulary, 3, [["the"], ["saw", "the"]]) == [[[4], [5, 4]]]


def test_no_example_has_no_ids(vocabulary):
    empty = tf.RaggedTensor.from_row_lengths(tf.constant([], tf.string), tf.constant([], tf.int64))
    assert [ids.nrows() for ids in ids_with_slots(vocabulary, 3, empty, empty)] == [0, 0]


def test_bad_arguments_are_refused(vocabulary):
    with pytest.raises(ValueError, match="slots must not be negative, got -1"):
        look_up(vocabulary, -1, DOCUMENTS)
    with pytest.raises(ValueError, match="texts must hold one text"):
        look_up(vocabulary, 1)


def test_it_works_in_a_graph(vocabulary):
    spec = tf.RaggedTensorSpec([None, None], tf.string)
    graph = tf.function(
        lambda *texts: ids_with_slots(vocabulary, 9, *texts), input_signature=[spec, spec]
    )
    texts = [tf.ragged.constant(text, dtype=tf.string) for text in (DOCUMENTS, QUERIES)]
    for actual, expected in zip(
        graph(*texts), look_up(vocabulary, 9, DOCUMENTS, QUERIES), strict=True
    ):
        assert actual.to_list() == expected


def test_permuted_slots_tell_the_same_words_apart():
    ids = tf.constant([[4, 10, 5, 11, 10, 0], [11, 11, 12, 1, 0, 0]])
    seen = set()
    for number in range(20):
        moved = permute_slots(ids, 10, 3, tf.constant([7, number])).numpy()
        assert moved[0][[0, 2, 5]].tolist() == [4, 5, 0]
        assert moved[1][3:].tolist() == [1, 0, 0]
        assert moved[0][1] == moved[0][4] != moved[0][3]
        assert moved[1][0] == moved[1][1] != moved[1][2]
        assert {*moved[0][[1, 3]], *moved[1][:3]} <= {10, 11, 12}
        seen.add((moved[0][1], moved[1][0]))
    assert len(seen) > 5  # rows are permuted apart from each other


def test_batches_are_permuted_by_step_and_all_their_columns_alike():
    rows = [[10, 4, 11, 12], [11, 10, 5], [12, 13]] * 5
    columns = {
        "document": tf.ragged.constant(rows, dtype=tf.int32),
        "answer": np.array([row[0] for row in rows], "int32"),
    }
    lengths = np.array([len(row) for row in rows])
    plain = BucketedBatches(columns, ["document"], "answer", lengths, batch_size=4)
    batches = PermutedSlots(plain, first=10, slots=5, seed=3)
    assert (batches.batch_size, batches.steps_per_epoch) == (4, 4)
    epoch = [*batches.training(1)]
    pairs = zip(epoch, plain.training(1), strict=True)
    for (inputs, answers), (before, _) in pairs:
        np.testing.assert_array_equal(answers, inputs["document"][:, 0])
        np.testing.assert_array_equal(before["document"] < 10, inputs["document"] < 10)
    resumed = [*batches.training(1, first_step=2)]
    for one, other in zip(resumed, epoch[2:], strict=True):
        tf.nest.map_structure(np.testing.assert_array_equal, one, other)
    slots = [
        {*answers.numpy().tolist()} for epoch in range(6) for _, answers in batches.training(epoch)
    ]
    assert set.union(*slots) == {10, 11, 12, 13, 14}
