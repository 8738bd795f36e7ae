"""Test sentences joined, translated in order of length and scored by bucket."""

import pandas as pd
import pytest
import tensorflow as tf

from tests.tasks.translation.translators import WordByWord, make_codecs
from zoo.tasks.translation.endpoint import TranslationEndpoint
from zoo.tasks.translation.lengths import (
    buckets_of_words,
    join_sentences,
    score_buckets,
    translate,
)


def test_neighbours_are_joined_on_both_sides():
    pairs = pd.DataFrame({"source": ["a", "b", "c", "d", "e"], "target": ["A", "B", "C", "D", "E"]})
    frame = join_sentences(pairs.set_index([[7, 3, 5, 9, 1]]), 3)  # the order, not the index
    expected = ["a", "b", "c", "d", "e", "a b", "c d", "a b c"]
    assert frame["source"].tolist() == expected
    assert frame["target"].tolist() == [text.upper() for text in expected]
    assert frame["sentences"].tolist() == [1] * 5 + [2] * 2 + [3]


def test_more_sentences_than_there_are_cannot_be_joined():
    pairs = pd.DataFrame({"source": ["a"], "target": ["A"]})
    with pytest.raises(ValueError, match="joined must be at most the number of pairs, 1, got 2"):
        join_sentences(pairs, 2)


def test_buckets_count_words():
    sources = ["", "one", "one two, three", " 1 2 3  4 ", "1 2 3 4 5 6", "1 2 3 4 5 6 7"]
    assert buckets_of_words(sources, 3) == [(1, 3), (1, 3), (1, 3), (4, 6), (4, 6), (7, 9)]


class Upper:
    """A servable that shouts, and keeps the batches that it was given."""

    def __init__(self):
        self.calls = []

    def __call__(self, text, beam_width, length_penalty):
        self.calls.append([one.decode() for one in text.numpy()])
        assert beam_width.dtype == tf.int32
        assert length_penalty.dtype == tf.float32
        best = tf.strings.upper(text)
        return {
            "translation": tf.stack([best] + [best + "?"] * (int(beam_width) - 1), axis=1),
            "source_length": tf.cast(tf.strings.length(text), tf.int32),
        }


SEARCH = {"beam_width": 3, "length_penalty": 0.5, "batch_size": 2, "maximum_tokens": 6}


def test_translations_come_in_the_order_of_the_sources():
    search, seen = Upper(), []
    sources = pd.Series(["dddd", "a", "ccc", "bb", "eeeee"], index=[4, 4, 2, 1, 0])
    translations = translate(search, sources, progress=seen.append, **SEARCH)
    assert translations == ["DDDD", "A", "CCC", "BB", "EEEEE"]
    assert search.calls == [["a", "bb"], ["ccc", "dddd"], ["eeeee"]]
    assert seen == [2, 2, 1]


def test_a_source_that_may_be_cut_is_refused():
    with pytest.raises(ValueError, match="fewer than the 6 tokens that the model reads, got 6"):
        translate(Upper(), ["a", "ffffff"], **SEARCH)


def test_what_a_translator_is_shipped_as_can_be_measured(tmp_path):
    codecs = make_codecs(tmp_path)
    endpoint = TranslationEndpoint(WordByWord(), *codecs)
    function, signature, _ = endpoint.endpoints()["beam"]
    search = tf.function(function, input_signature=signature, autograph=False)
    sources = ["two dogs run .", "a dog runs ."]
    expected = ["zwei Hunde rennen.", "ein Hund rennt."]
    assert translate(search, sources, **SEARCH) == expected


GOOD = "the old man reads a long book"
BAD = "the old man"


def test_buckets_are_scored_by_themselves():
    buckets = [(11, 20), (1, 10), (1, 10), (101, 110), (11, 20)]
    translations = {"one": [GOOD] * 5, "two": [BAD, GOOD, GOOD, BAD, BAD]}
    rows = score_buckets(buckets, [GOOD] * 5, translations)
    assert [row["bucket"] for row in rows] == ["1-10", "11-20", "101-110"]
    assert [row["sources"] for row in rows] == [2, 2, 1]
    assert [row["bleu"]["one"] for row in rows] == pytest.approx([100.0] * 3)
    assert rows[0]["bleu"]["two"] == pytest.approx(100.0)
    assert rows[1]["bleu"]["two"] < 50
    assert rows[1]["length_ratio"] == {"one": 1.0, "two": pytest.approx(3 / 7)}


def test_small_buckets_are_left_out():
    rows = score_buckets([1, 10, 2, 10], [GOOD] * 4, {"one": [GOOD] * 4}, minimum_sources=2)
    assert [(row["bucket"], row["sources"]) for row in rows] == [("10", 2)]
    with pytest.raises(
        ValueError, match="minimum_sources must be at most the sources of some bucket, got 3"
    ):
        score_buckets([1, 10, 2, 10], [GOOD] * 4, {"one": [GOOD] * 4}, minimum_sources=3)
