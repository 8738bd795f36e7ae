import gzip
import shutil

import pytest
import tensorflow as tf

from zoo.text.vocabulary import (
    SPECIAL_WORDS,
    Vocabulary,
    choose_words,
    count_words,
    write_vocabulary,
)


@pytest.fixture
def path(tmp_path):
    write_vocabulary(tmp_path / "words.txt", ["the", "cat", "naïve", "a b", "\u2028"])
    return tmp_path / "words.txt"


def test_ids_are_line_numbers_after_the_special_words(path):
    vocabulary = Vocabulary(path)
    assert vocabulary.words == [*SPECIAL_WORDS, "the", "cat", "naïve", "a b", "\u2028"]
    assert len(vocabulary) == 9
    ids = vocabulary.ids(tf.constant(vocabulary.words[4:]))
    assert ids.dtype == tf.int32
    assert ids.numpy().tolist() == [4, 5, 6, 7, 8]


def test_unknown_and_special_words_in_running_text_are_unknown(path):
    tokens = tf.constant([*SPECIAL_WORDS, "dog", "", "\x00", b"\xff"])
    assert Vocabulary(path).ids(tokens).numpy().tolist() == [1] * 8


def test_shape_and_kind_are_kept(path):
    vocabulary = Vocabulary(path)
    ragged = vocabulary.ids(tf.ragged.constant([["the", "dog"], [], ["cat"]]))
    assert ragged.to_list() == [[4, 1], [], [5]]
    assert ragged.dtype == tf.int32
    assert vocabulary.ids(tf.constant([["the"], ["cat"]])).numpy().tolist() == [[4], [5]]
    assert vocabulary.ids(tf.constant("cat")).numpy() == 5
    assert vocabulary.ids(tf.zeros([0, 3], tf.string)).shape == (0, 3)


def test_travels_inside_a_saved_model(path, tmp_path):
    module = tf.Module()
    module.vocabulary = Vocabulary(path)
    module.look_up = tf.function(
        module.vocabulary.ids, input_signature=[tf.TensorSpec([None], tf.string)], autograph=False
    )
    tf.saved_model.save(module, str(tmp_path / "model"))
    shutil.move(tmp_path / "model", tmp_path / "moved")
    path.unlink()
    loaded = tf.saved_model.load(str(tmp_path / "moved"))
    assert loaded.look_up(tf.constant(["cat", "dog"])).numpy().tolist() == [5, 1]


def test_a_file_that_changes_changes_no_vocabulary_read_before(path):
    words = "\n".join(SPECIAL_WORDS)
    path.write_text(f"{words}\nriver\nboat\n", encoding="utf-8")
    first = Vocabulary(path)
    path.write_text(f"{words}\nboat\nriver\n", encoding="utf-8")
    second = Vocabulary(path)
    for vocabulary, expected in ((first, [4, 5]), (second, [5, 4])):
        assert vocabulary.ids(tf.constant(["river", "boat"])).numpy().tolist() == expected


def test_count_words_over_tensors_of_any_shape():
    ragged = tf.ragged.constant([["a", "b"], [], ["a"]])
    counts = count_words(ragged, tf.constant([["b", "c"]]), tf.zeros([0], tf.string))
    assert counts == {b"a": 2, b"b": 2, b"c": 1}


def test_choose_words_by_count_then_alphabet():
    counts = {b"z": 3, b"b": 2, b"a": 2, b"rare": 1}
    assert choose_words(counts) == ["z", "a", "b", "rare"]
    assert choose_words(counts, maximum_size=2) == ["z", "a"]
    assert choose_words(counts, minimum_count=2) == ["z", "a", "b"]
    assert choose_words(counts, keep={"b", "rare", "other"}) == ["b", "rare"]
    assert choose_words(counts, maximum_size=0) == []
    assert choose_words(dict(reversed(counts.items()))) == choose_words(counts)


def test_choose_words_leaves_out_what_a_line_cannot_hold():
    counts = {b"": 9, b"\xff": 9, b"a\nb": 9, b"\r": 9, b"<s>": 9, b"<pad>": 9, b"ok": 1}
    assert choose_words(counts) == ["ok"]


def test_choose_words_refuses_a_negative_size():
    with pytest.raises(ValueError, match="maximum_size must not be negative, got -1"):
        choose_words({b"a": 1}, maximum_size=-1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "b", "a"], "distinct and not special, got 'a' again"),
        (["<unk>"], "distinct and not special, got '<unk>' again"),
        ([""], "non-empty text on one line, got ''"),
        (["a\nb"], "non-empty text on one line"),
        (["\ud800"], "valid non-empty text"),
    ],
)
def test_write_refuses_words_and_leaves_the_old_file(path, words, message):
    before = path.read_bytes()
    with pytest.raises(ValueError, match=message):
        write_vocabulary(path, words)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("the\ncat\n", "must start with the lines"),
        ("", "must start with the lines"),
        ("<pad>\n<unk>\n<s>\n</s>\ncat\ncat\n", "words must be distinct, got 'cat'"),
        ("<pad>\n<unk>\n<s>\n</s>\na\rb\n", r"on one line, got 'a\\rb'"),
        ("<pad>\n<unk>\n<s>\n</s>\n\ncat\n", "words must be non-empty .*, got ''"),
    ],
)
def test_broken_files_are_refused(tmp_path, content, message):
    path = tmp_path / "words.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message) as error:
        Vocabulary(path)
    assert str(path) in str(error.value)


def test_compressed_files_are_refused(path):
    """The graph would look words up among the compressed bytes, and find none."""
    compressed = path.with_name("words.txt.gz")
    with pytest.raises(ValueError, match=r"path must name an uncompressed .*words\.txt\.gz"):
        write_vocabulary(compressed, ["cat"])
    assert not compressed.exists()
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(ValueError, match=r"path must name an uncompressed .*words\.txt\.gz"):
        Vocabulary(compressed)


def test_line_ends_and_a_byte_order_mark_change_no_id(tmp_path):
    """The graph reads the file by itself: it and Python must agree what a line is."""
    path = tmp_path / "words.txt"
    lines = [*SPECIAL_WORDS, "cat", "a\u2028b", "dog"]
    for mark, end in (("", "\n"), ("", "\r\n"), ("\ufeff", "\n"), ("\ufeff", "\r\n")):
        path.write_bytes((mark + "".join(line + end for line in lines)).encode())
        vocabulary = Vocabulary(path)
        assert vocabulary.words == lines
        assert vocabulary.ids(tf.constant(lines)).numpy().tolist() == [1, 1, 1, 1, 4, 5, 6]
