"""Unknown words of an example are told apart."""

import pytest
import tensorflow as tf

from zoo.text.slots import ids_with_slots
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
