"""Replacing unknown words against the same word by word."""

import numpy as np
import pytest
import tensorflow as tf

from tests.references import search as reference
from zoo.decoding.unknown import replace_unknown

SOURCE = [["der", "Hund", "Bello", ""], ["Rex", "", "", ""], ["", "", "", ""]]
LENGTHS = [3, 1, 0]
WORDS = {"Hund": "dog", "der": "the"}


def table(words):
    return tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(list(words), list(words.values())), default_value=""
    )


def translations(shape, seed=0, columns=5):
    """Ids of which a third are unknown, their pieces, and alignments to more columns than words."""
    generator = np.random.default_rng(seed)
    ids = generator.choice([1, 4, 5], shape)
    pieces = np.vectorize({1: "<unk>", 4: "four", 5: "fünf"}.get)(ids)
    return pieces, ids, generator.dirichlet(np.ones(columns), shape)


def texts(strings):
    return np.vectorize(bytes.decode, otypes=[object])(strings.numpy())


@pytest.mark.parametrize("convention", ["predicted", "input"])
@pytest.mark.parametrize("words", [None, WORDS])
@pytest.mark.parametrize("shape", [(3, 6), (3, 2, 6), (3, 4, 1)])
def test_equals_the_reference(convention, words, shape):
    pieces, ids, alignment = translations(shape)
    assert (ids == 1).any()
    dictionary = table(words) if words else None
    arguments = pieces, ids, alignment, SOURCE, LENGTHS
    found = texts(replace_unknown(*map(tf.constant, arguments), dictionary, convention))
    for index in np.ndindex(shape[:-1]):
        source = SOURCE[index[0]][: LENGTHS[index[0]]]
        expected = reference.replace_unknown(
            pieces[index].tolist(), ids[index].tolist(), alignment[index], source, words, convention
        )
        assert found[index].tolist() == expected


def test_a_hypothesis_that_ends_with_an_unknown_word_is_the_same_beside_a_longer_one():
    """Rows of weights beyond its end are zero."""
    alignment = np.array([[0.9, 0.1], [0.2, 0.8], [0.0, 0.0]])

    def replaced(steps):
        arrays = [[["a", "<unk>", ""][:steps]], [[4, 1, 0][:steps]], [alignment[:steps]]]
        given = [*map(tf.constant, arrays), tf.constant([["x", "y"]]), tf.constant([2])]
        return texts(replace_unknown(*given, convention="input"))[0].tolist()

    assert replaced(2) == ["a", "y"]
    assert replaced(3) == ["a", "y", ""]


def test_what_is_beyond_the_words_is_never_copied():
    """The end of the source and its padding may have all the weight there is."""
    alignment = tf.constant([[[0.0, 0.1, 0.0, 0.9, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0]]])
    found = replace_unknown(
        tf.constant([["<unk>", "<unk>"]]),
        tf.constant([[1, 1]]),
        alignment,
        tf.constant([["a", "b", "c", "</s>"]]),
        tf.constant([3]),
    )
    assert texts(found).tolist() == [["b", "<unk>"]]


def test_fewer_columns_than_words():
    """A model that reads but the beginning of a long source aligns but with that."""
    found = replace_unknown(
        tf.constant([["<unk>"]]),
        tf.constant([[1]]),
        tf.constant([[[0.2, 0.8]]]),
        tf.constant([["a", "b", "c"]]),
        tf.constant([3]),
    )
    assert texts(found).tolist() == [["b"]]


@pytest.mark.parametrize(
    ("batch", "hypotheses", "target", "words", "columns"),
    [(0, 2, 3, 2, 2), (2, 2, 0, 2, 2), (2, 1, 3, 0, 0), (2, 1, 3, 0, 1), (2, 1, 3, 2, 0)],
)
@pytest.mark.parametrize("convention", ["predicted", "input"])
def test_empty_axes_change_nothing(batch, hypotheses, target, words, columns, convention):
    pieces = tf.fill((batch, hypotheses, target), "<unk>")
    found = replace_unknown(
        pieces,
        tf.ones((batch, hypotheses, target), tf.int32),
        tf.ones((batch, hypotheses, target, columns)),
        tf.fill((batch, words), "x"),
        tf.fill([batch], words),
        convention=convention,
    )
    np.testing.assert_array_equal(found, pieces)


def test_bytes_that_are_no_text_are_copied_as_they_are():
    found = replace_unknown(
        tf.constant([["<unk>", "<unk>"]]),
        tf.constant([[1, 1]]),
        tf.constant([[[1.0, 0.0], [0.0, 1.0]]]),
        tf.constant([[b"\xff\xfe", b"\x00"]]),
        tf.constant([2]),
        table(WORDS),
    )
    assert found.numpy().tolist() == [[b"\xff\xfe", b"\x00"]]


def test_inside_a_saved_model(tmp_path):
    class Replacer(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = table(WORDS)

        @tf.function(
            input_signature=[
                tf.TensorSpec([None, None, None], tf.string),
                tf.TensorSpec([None, None, None], tf.int32),
                tf.TensorSpec([None, None, None, None]),
                tf.TensorSpec([None, None], tf.string),
                tf.TensorSpec([None], tf.int32),
            ],
            autograph=False,
        )
        def __call__(self, *arguments):
            return replace_unknown(*arguments, self.table)

    tf.saved_model.save(Replacer(), tmp_path)
    pieces, ids, alignment = translations((3, 2, 6))
    arguments = pieces, ids.astype("int32"), alignment.astype("float32"), SOURCE, LENGTHS
    arguments = tuple(map(tf.constant, arguments))
    found = tf.saved_model.load(tmp_path)(*arguments)
    np.testing.assert_array_equal(found, replace_unknown(*arguments, table(WORDS)))
    assert b"the" in found.numpy()


def test_an_unknown_convention_is_refused():
    pieces, ids, alignment = map(tf.constant, translations((3, 2)))
    with pytest.raises(ValueError, match=r"convention must be one of .*, got 'output'"):
        replace_unknown(
            pieces, ids, alignment, tf.constant(SOURCE), tf.constant(LENGTHS), None, "output"
        )
