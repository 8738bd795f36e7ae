"""Strings to ids, in one piece or in several."""

import pytest
import tensorflow as tf

from zoo.tasks.shared import text_input
from zoo.text.vocabulary import END, write_vocabulary
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


@pytest.mark.parametrize("value", [None, float("nan"), 3, ["a"]])
def test_what_is_no_text_is_named(codec, value):
    with pytest.raises(ValueError, match=r"strings\[1\] must be text, got "):
        text_input.encode_strings(["a dog", value], codec)


@pytest.mark.parametrize("end", [False, True])
def test_texts_are_cut_and_padded_to_a_rectangle(codec, end):
    read = text_input.read_texts(tf.constant(TEXTS), codec, 3 + end, end=end)
    whole = [codec.encode(tf.constant([text])).to_list()[0][:3] for text in TEXTS]
    whole = [[*ids, *[END] * (end and len(ids) > 0)] for ids in whole]
    assert read.lengths.numpy().tolist() == [len(ids) for ids in whole]
    assert read.ids.numpy().tolist() == [ids + [0] * (3 + end - len(ids)) for ids in whole]
    tokens = [b"two", b"dogs", b"run", *[b"</s>"] * end]
    assert read.tokens.numpy()[0].tolist() == tokens
    assert read.tokens.numpy()[1].tolist() == [b""] * (3 + end)
    assert read.ragged(read.ids).to_list() == whole
    assert read.ragged(read.tokens).to_list()[2] == [b"a", b"dog", *[b"</s>"] * end]


@pytest.mark.parametrize(("texts", "rows"), [([], 1), ([""], 1), (["", ""], 2)])
def test_no_text_and_no_token_are_a_row_and_a_column_of_padding(codec, texts, rows):
    read = text_input.read_texts(tf.constant(texts, tf.string), codec, 3, end=True)
    assert read.ids.numpy().tolist() == [[0]] * rows
    assert read.tokens.numpy().tolist() == [[b""]] * len(texts)
    assert read.lengths.numpy().tolist() == [0] * len(texts)
    assert read.ragged(read.ids).to_list() == [[]] * len(texts)


def test_of_a_long_text_the_beginning_is_read():
    texts = tf.constant(["ab" * text_input.BYTES_PER_TOKEN + "c", "漢 \0", "", b"\xff" * 500])
    cut = ["ab" * text_input.BYTES_PER_TOKEN, "漢 \0", "", b"\xff" * 2 * text_input.BYTES_PER_TOKEN]
    expected = [text if isinstance(text, bytes) else text.encode() for text in cut]
    assert text_input.beginnings(texts, 2).numpy().tolist() == expected
