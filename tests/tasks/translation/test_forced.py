"""Word alignments of given pairs by a model's attention."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.models.rnnsearch.rnnencdec import RNNencdec
from zoo.models.rnnsearch.rnnsearch import RNNsearch
from zoo.tasks.translation.forced import (
    _pieces,
    align_pairs,
    shifted_weights,
    unknown_share,
    word_weights,
)
from zoo.text.subwords import SubwordCodec, train_subwords

SOURCES = ["ab c", "c  ab a ", "", "b a c b"]
TARGETS = ["c ab", "b", "a b", "abc ab ? a"]


class Letters:
    """A codec whose pieces are letters; a question mark has none."""

    def encode(self, strings):
        words = [word.decode() for word in strings.numpy()]
        return tf.ragged.constant(
            [[4 + "abc".index(x) for x in word if x != "?"] for word in words], dtype=tf.int32
        )

    def pieces(self, ids):
        return tf.ragged.map_flat_values(lambda flat: tf.gather(list("....abc"), flat), ids)


CODECS = (Letters(), Letters())


@pytest.fixture(scope="module")
def model():
    built = RNNsearch.from_preset("tiny")
    built.build()
    generator = np.random.default_rng(1)
    for weight in built.weights:
        weight.assign(generator.normal(0.0, 0.7, weight.shape))
    return built


def expected(model, source, target, offset):
    """Weights of one pair alone, from those of its letters, `offset` steps later."""
    ids = [
        [[1] if word == "?" else [4 + "abc".index(x) for x in word] for word in text.split()]
        for text in (source, target)
    ]
    flat = [[x for word in side for x in word] for side in ids]
    inputs = {"source": np.array([[*flat[0], 3]]), "target": np.array([[2, *flat[1]]])}
    weights = model(inputs)["attention"]["alignment"][0].numpy()
    words = [[n for n, word in enumerate(side) for _ in word] for side in ids]
    found = np.zeros((len(ids[1]), len(ids[0])))
    for v in set(words[1]):
        rows = [row + offset for row, word in enumerate(words[1]) if word == v]
        rows = [row for row in rows if row >= 0]  # no step is before the first
        for row in rows:
            for column, u in enumerate(words[0]):
                found[v, u] += weights[row, column] / len(rows)
    return found


@pytest.mark.parametrize(("convention", "offset"), [("predicted", 0), ("input", 1)])
def test_weights_of_words_are_those_of_their_pieces(model, convention, offset):
    found = word_weights(model, CODECS, SOURCES, TARGETS, convention)
    for weights, source, target in zip(found, SOURCES, TARGETS, strict=True):
        wanted = expected(model, source, target, offset)
        assert weights.shape == (len(target.split()), len(source.split()))
        np.testing.assert_allclose(weights, wanted, rtol=1e-4, atol=1e-6)


def test_weights_of_steps_beside_a_word_are_shifted(model):
    shifted = shifted_weights(model, CODECS, SOURCES, TARGETS, [0, -1, 1])
    assert [*shifted] == [0, -1, 1]
    for shift, found in shifted.items():
        for weights, source, target in zip(found, SOURCES, TARGETS, strict=True):
            wanted = expected(model, source, target, shift)
            np.testing.assert_allclose(weights, wanted, rtol=1e-4, atol=1e-6)
    assert not shifted[-1][0][0].any()  # "c" has one piece, and no step is before it
    with pytest.raises(ValueError, match="shifts must be among -1, 0 and 1, got 2"):
        shifted_weights(model, CODECS, SOURCES, TARGETS, [0, 2])


@pytest.fixture(scope="module")
def subwords(tmp_path_factory):
    path = tmp_path_factory.mktemp("subwords") / "subwords.model"
    texts = ["a dog runs.", "two dogs run!", "the dog, a cat (small)", "runs, run", "a 5% b"] * 5
    train_subwords(texts, path, 44)
    return SubwordCodec(path)


def test_pieces_of_punctuation_are_those_of_text_as_people_write_it(subwords):
    """Only closing punctuation loses its space, and only after another word."""
    for given, written in (("a dog runs .", "a dog runs."), ("the dog , a cat", "the dog, a cat")):
        spaced = subwords.pieces(subwords.encode(tf.constant([given]))).to_list()[0]
        assert "\u2581".encode() in spaced  # a piece of its own, as of no text of the training
        read = [piece for word in _pieces(given, subwords) for piece in word]
        assert read == subwords.encode(tf.constant([written])).to_list()[0]
    whole = subwords.encode(tf.constant([".", "%", "!?"])).to_list()
    assert [len(one) for one in whole] == [2, 2, 3]
    assert _pieces(". %", subwords) == whole[:2]
    assert _pieces("a % !?", subwords)[1:] == [whole[1], whole[2][1:]]


def test_words_of_unknown_pieces_are_counted():
    assert unknown_share(TARGETS, CODECS[1]) == 1 / 9
    assert unknown_share(["", ""], CODECS[1]) == 0.0


def test_links_are_those_of_the_largest_weights_or_of_large_ones(model):
    weights = word_weights(model, CODECS, SOURCES, TARGETS)
    found = align_pairs(model, CODECS, SOURCES, TARGETS)
    assert [{(int(row.argmax()), v) for v, row in enumerate(w) if row.size} for w in weights] == [
        set(links) for links in found
    ]
    large = align_pairs(model, CODECS, SOURCES, TARGETS, threshold=0.3)
    assert [{(u, v) for v, u in np.argwhere(w >= 0.3).tolist()} for w in weights] == [
        set(links) for links in large
    ]
    assert large != found


def test_many_pairs_are_read_in_batches(model):
    sources, targets = 20 * SOURCES, 20 * TARGETS
    found = word_weights(model, CODECS, sources, targets)
    assert len(found) == 80
    for weights, first in zip(found, 20 * found[:4], strict=True):
        np.testing.assert_allclose(weights, first, rtol=1e-4, atol=1e-6)


def test_models_and_pairs_that_cannot_be_aligned_are_refused(model):
    with pytest.raises(ValueError, match="model must have an alignment, got RNNencdec"):
        word_weights(RNNencdec.from_preset("tiny"), CODECS, SOURCES, TARGETS)
    with pytest.raises(ValueError, match="targets must be one for each of the 4 sources, got 3"):
        word_weights(model, CODECS, SOURCES, TARGETS[:3])
