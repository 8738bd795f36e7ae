"""Strings of symbols: ids, blank places, padding, and characters that are none."""

import re

import numpy as np
import pytest
import tensorflow as tf

from zoo.text.symbols import SymbolCodec


def test_strings_become_ids_with_blank_places_and_padding_behind_them():
    codec = SymbolCodec("01+", places_per_symbol=2)
    assert (codec.blank, codec.vocabulary_size) == (4, 5)
    ids, lengths = codec.encode(tf.constant(["1+", "", "0"]))
    assert ids.numpy().tolist() == [[2, 3, 4, 4], [0, 0, 0, 0], [1, 4, 0, 0]]
    assert lengths.numpy().tolist() == [4, 0, 2]
    assert codec.decode(ids).numpy().tolist() == [b"1+", b"", b"0"]
    assert codec.show(ids).numpy()[2].tolist() == [b"0", b"_", b"", b""]


def test_blank_places_are_left_out_at_the_end_alone():
    ids = [[2, 3, 1, 3], [3, 3, 1, 2], [3, 3, 3, 3], [2, 3, 3, 0], [0, 0, 0, 0]]
    found = SymbolCodec("01").decode(tf.constant(ids)).numpy().tolist()
    assert found == [b"1_0", b"__01", b"", b"1", b""]


@pytest.mark.parametrize("strings", [[], [""]])
def test_there_is_one_place_at_least(strings):
    ids, lengths = SymbolCodec("ab").encode(tf.constant(strings, tf.string))
    assert ids.shape == (len(strings), 1)
    np.testing.assert_array_equal(lengths, np.zeros(len(strings)))


@pytest.mark.parametrize("text", ["012", "0 1", "_", "é"])
def test_other_characters_are_refused_eagerly_and_in_graphs(text):
    codec = SymbolCodec("01")
    for encode in (codec.encode, tf.function(codec.encode, autograph=False)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="symbols must be some of 01, got"):
            encode(tf.constant(["01", text]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("",), "characters must be different ones of ASCII without '_', got ''"),
        (("aba",), "characters must be different ones"),
        (("a_",), "characters must be different ones"),
        (("aé",), "characters must be different ones"),
        (("ab", 0), "places_per_symbol must be positive, got 0"),
    ],
)
def test_unlawful_alphabets_are_refused(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        SymbolCodec(*arguments)
