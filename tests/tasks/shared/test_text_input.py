"""Strings to ids, in one piece or in several."""

import pytest
import tensorflow as tf

from zoo.tasks.shared import text_input
from zoo.text.vocabulary import write_vocabulary
from zoo.text.words import WordCodec

TEXTS = ["two dogs run .", "", "a dog", "ł"]


@pytest.fixture
def codec(tmp_path):
    write_vocabulary(tmp_path / "words.txt", ["a", "dog", "dogs", "run", "two", "."])
    return WordCodec(tmp_path / "words.txt")


def test_chunks_make_no_difference(codec, monkeypatch):
    whole = text_input.encode_strings(TEXTS, codec).to_list()
    assert [len(ids) for ids in whole] == [4, 0, 2, 1]
    for size in (1, 2, len(TEXTS)):
        monkeypatch.setattr(text_input, "_CHUNK", size)
        assert text_input.encode_strings(TEXTS, codec).to_list() == whole


def test_no_strings_are_no_rows(codec):
    encoded = text_input.encode_strings([], codec)
    assert encoded.dtype == tf.int32
    assert encoded.to_list() == []


def test_of_a_long_text_the_beginning_is_read():
    texts = tf.constant(["ab" * text_input.BYTES_PER_TOKEN + "c", "漢 \0", "", b"\xff" * 500])
    cut = ["ab" * text_input.BYTES_PER_TOKEN, "漢 \0", "", b"\xff" * 2 * text_input.BYTES_PER_TOKEN]
    expected = [text if isinstance(text, bytes) else text.encode() for text in cut]
    assert text_input.beginnings(texts, 2).numpy().tolist() == expected
