import pytest
import tensorflow as tf

from tests.text import codecs
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import choose_words, count_words, write_vocabulary
from zoo.text.words import WordCodec

TEXTS = [
    "Ein Mann mit einem „roten“ Hut läuft.",
    "The dog's owner (a man) said: don't run, it's a T-shirt!",
    "L'homme",
]


def write_words(path, case_fold: bool):
    folded = WordTokenizer(case_fold=case_fold)(TEXTS).folded
    write_vocabulary(path, choose_words(count_words(folded)))
    return path


@pytest.fixture
def path(tmp_path):
    return write_words(tmp_path / "words.txt", case_fold=False)


@pytest.fixture
def codec(path):
    return WordCodec(path)


def test_protocol(codec, path):
    codecs.check_protocol(codec)
    assert codec.files == (path,)
    assert codec.vocabulary_size == len(path.read_text().splitlines())
    assert codec.get_config() == {"case_fold": False, "language": None}
    again = WordCodec(path, case_fold=True, language="fr")
    assert again.get_config() == {"case_fold": True, "language": "fr"}


def test_strange_strings(codec):
    codecs.check_strange_strings(codec)
    codecs.check_rows_are_independent(codec)


def test_zero_rows(codec):
    codecs.check_zero_rows(codec)


def test_round_trip(codec):
    assert [text.decode() for text in codec.decode(codec.encode(TEXTS)).numpy()] == TEXTS


def test_decoding_and_pieces(codec):
    codecs.check_decoding(codec, TEXTS[0])
    codecs.check_pieces(codec, TEXTS[0])


def test_tokens_show_unknown_words(codec):
    assert codec.encode(["The cat"])[0].numpy()[1] == 1
    assert codec.tokens(["The cat"]).to_list() == [[b"The", b"cat"]]
    assert codec.decode(codec.encode(["The cat"])).numpy().tolist() == [b"The"]
    assert codec.join([[b"The", b"<unk>", b"c\xff"]]).numpy()[0].decode() == "The c\ufffd"


def test_case_can_be_folded(tmp_path):
    codec = WordCodec(write_words(tmp_path / "folded.txt", case_fold=True), case_fold=True)
    assert codec.decode(codec.encode(["EIN Mann"])).numpy().tolist() == [b"ein mann"]
    assert codec.tokens(["EIN Mann"]).to_list() == [[b"EIN", b"Mann"]]


def test_language_reaches_the_detokenizer(path):
    ids = WordCodec(path).encode(["run!"])
    assert WordCodec(path).decode(ids).numpy().tolist() == [b"run!"]
    assert WordCodec(path, language="fr").decode(ids).numpy().tolist() == [b"run !"]


def test_in_tf_data(codec):
    codecs.check_in_tf_data(codec)


@pytest.mark.parametrize("strings", ["a b", [["a b"]]])
def test_other_ranks_are_refused(codec, strings):
    for method in (codec.encode, codec.tokens):
        with pytest.raises(ValueError, match=r"strings must have shape \(batch,\), got"):
            method(strings)
    with pytest.raises(ValueError, match=r"ids must have shape \(rows, tokens\), got \(\)"):
        codec.decode(tf.constant(4))


def test_a_file_that_is_no_vocabulary_is_refused(tmp_path):
    (tmp_path / "words.txt").write_text("a\nb\n")
    with pytest.raises(ValueError, match="must start with the lines"):
        WordCodec(tmp_path / "words.txt")
