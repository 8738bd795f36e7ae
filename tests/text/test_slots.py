"""Unknown words of an example are told apart."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.text.batching import BucketedBatches
from zoo.text.slots import HiddenWords, hide_words, ids_with_slots
from zoo.text.vocabulary import Vocabulary, write_vocabulary

DOCUMENTS = [["the", "Zed", "saw", "Quo", "Zed"], [], ["Quo", "the"], ["A", "b", "C", "\u00e9"]]
QUERIES = [["Quo", "the", "Vex"], ["Zed", "Zed"], [], ["\u00c9", "C", "<pad>"]]


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
    assert documents == [[4, 6, 5, 7, 6], [], [6, 4], [6, 11, 7, 12]]
    assert queries == [[7, 4, 8], [6, 6], [], [8, 7, 13]]


@pytest.mark.parametrize(
    ("slots", "first", "last"),
    [
        (0, [4, 1, 5, 1, 1], ([1, 1, 1, 1], [1, 1, 1])),
        (1, [4, 6, 5, 1, 6], ([6, 1, 1, 1], [1, 1, 1])),
        (2, [4, 6, 5, 1, 6], ([6, 7, 1, 1], [1, 1, 1])),
        (3, [4, 6, 5, 7, 6], ([6, 8, 7, 1], [1, 7, 1])),
    ],
)
def test_words_beyond_the_slots_of_their_kind_are_unknown(vocabulary, slots, first, last):
    documents, queries = look_up(vocabulary, slots, DOCUMENTS, QUERIES)
    assert documents[0] == first
    assert (documents[3], queries[3]) == last


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
        lambda *texts: ids_with_slots(vocabulary, 9, *texts),
        input_signature=[spec, spec],
        autograph=False,
    )
    texts = [tf.ragged.constant(text, dtype=tf.string) for text in (DOCUMENTS, QUERIES)]
    for actual, expected in zip(
        graph(*texts), look_up(vocabulary, 9, DOCUMENTS, QUERIES), strict=True
    ):
        assert actual.to_list() == expected


def noise(seed):
    """Makes noise for two examples with five slots."""
    return tf.random.stateless_uniform([2, 5], [7, seed])


def test_permuted_slots_tell_the_same_words_apart():
    """Slots 10, 11, 12 are those of capitals, 13 and 14 of other words."""
    ids = tf.constant([[4, 10, 5, 11, 10, 13, 0], [11, 11, 12, 1, 13, 14, 13]])
    nothing = tf.zeros([2, 10], tf.bool)
    seen = set()
    for number in range(20):
        moved = hide_words(ids, 10, 5, nothing, noise(number)).numpy()
        assert moved[0][[0, 2, 6]].tolist() == [4, 5, 0]
        assert moved[1][3] == 1
        assert moved[0][1] == moved[0][4] != moved[0][3]
        assert moved[1][0] == moved[1][1] != moved[1][2]
        assert moved[1][4] == moved[1][6] != moved[1][5]
        assert {*moved[0][[1, 3]], *moved[1][:3]} <= {10, 11, 12}
        assert {moved[0][5], *moved[1][4:]} <= {13, 14}
        seen.add((moved[0][1], moved[1][0]))
    assert len(seen) > 5  # rows are permuted apart from each other


def test_hidden_words_get_slots_of_capitals_that_no_other_word_has():
    ids = tf.constant([[4, 10, 5, 4, 0], [4, 5, 6, 10, 12]])
    hidden = np.zeros([2, 10], bool)
    hidden[0, 4] = hidden[1, [5, 6]] = True
    for number in range(9):
        moved = hide_words(ids, 10, 5, tf.constant(hidden), noise(number)).numpy()
        assert moved[0][0] == moved[0][3]
        assert {*moved[0][:2]} < {10, 11, 12}
        assert moved[0][[2, 4]].tolist() == [5, 0]
        assert moved[1][0] == 4
        assert sorted(moved[1][1:4]) == [10, 11, 12]
        assert moved[1][4] == 1  # in order of words: no slot of its kind is left for the last one


def test_batches_are_permuted_by_step_and_all_their_columns_alike():
    rows = [[10, 4, 11, 12], [11, 10, 5], [12, 10]] * 5
    columns = {
        "document": tf.ragged.constant(rows, dtype=tf.int32),
        "answer": np.array([row[0] for row in rows], "int32"),
    }
    lengths = np.array([len(row) for row in rows])
    plain = BucketedBatches(columns, ["document"], "answer", lengths, batch_size=4)
    batches = HiddenWords(plain, first=10, slots=8, seed=3, words=[4], rate=0.5)
    assert (batches.batch_size, batches.steps_per_epoch) == (4, 4)
    epoch = [*batches.training(1)]
    hidden = 0
    for (inputs, answers), (before, _) in zip(epoch, plain.training(1), strict=True):
        np.testing.assert_array_equal(answers, inputs["document"][:, 0])
        unlike = (before["document"] < 10) != (inputs["document"] < 10)
        assert (before["document"].numpy()[unlike] == 4).all()
        hidden += unlike.numpy().sum()
    resumed = [*batches.training(1, first_step=2)]
    for one, other in zip(resumed, epoch[2:], strict=True):
        tf.nest.map_structure(np.testing.assert_array_equal, one, other)
    assert 0 < hidden < 5
    slots = [
        {*answers.numpy().tolist()} for epoch in range(6) for _, answers in batches.training(epoch)
    ]
    assert set.union(*slots) == {10, 11, 12, 13}


def test_numbers_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="slots must be at least 1, got 0"):
        HiddenWords(None, first=10, slots=0)
    with pytest.raises(ValueError, match=r"rate must be a number from 0 to 1, got 1\.5"):
        HiddenWords(None, first=10, slots=1, rate=1.5)
