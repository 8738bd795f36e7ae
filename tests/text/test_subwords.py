import io

import keras_nlp
import pytest
import sentencepiece
import tensorflow as tf

from tests.text import codecs
from tests.text.timing import growth
from zoo.text.long_words import _SPACES, LONGEST_WORD, spaces_of
from zoo.text.subwords import SubwordCodec, train_subwords
from zoo.text.vocabulary import SPECIAL_WORDS

TEXTS = [
    "A man in an orange hat is running.",
    "Two dogs are running on the green grass in front of a white fence.",
    "Ein Mann mit einem orangefarbenen Hut läuft.",
    "Zwei Hunde laufen über grünes Gras vor einem weißen Zaun.",
    "",
    "People are fixing the roof of a house; they don't stop!",
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("subwords")
    for model_type in ("bpe", "unigram"):
        train_subwords(TEXTS, folder / model_type, 60, model_type=model_type)
    return folder


@pytest.fixture(params=["bpe", "unigram"])
def codec(trained, request):
    return SubwordCodec(trained / request.param)


def test_protocol(codec):
    codecs.check_protocol(codec)
    assert codec.vocabulary_size == 60
    assert codec.get_config() == {}


def test_strange_strings(codec):
    codecs.check_strange_strings(codec)
    codecs.check_rows_are_independent(codec)


def test_zero_rows(codec):
    codecs.check_zero_rows(codec)


def test_round_trip_is_exact_on_known_characters(codec):
    texts = [*TEXTS, "Zaun house", "f"]
    ids = codec.encode(texts)
    assert [text.decode() for text in codec.decode(ids).numpy()] == texts
    assert [text.decode() for text in codec.join(codec.tokens(texts)).numpy()] == texts


def test_round_trip_normalises(codec):
    text = codec.decode(codec.encode(["  Ｔwo   dogs \n are "])).numpy()[0]
    assert text == b"Two dogs are"


def test_of_a_long_word_the_beginning_is_read_and_what_follows_the_word(codec):
    word = "dogs" * (LONGEST_WORD // 4)
    texts = [f"Two {word} are ", f"Two {word}{word} are ", f"Two  {word}x\n  are"]
    whole, cut, spaces = codec.decode(codec.encode(texts)).numpy()
    assert whole.decode() == f"Two {word} are"
    assert cut == whole
    assert spaces == whole.removesuffix(b" are") + b" are"
    tokens = codec.join(codec.tokens(texts)).numpy()
    assert tokens.tolist() == [whole, cut, spaces]


@pytest.mark.parametrize("space", ["\n", "\t", "\r\n", "\u3000", "\u200b", "\u2581", "\ufffd"])
def test_every_space_ends_a_word(codec, space):
    texts = [space.join(["dog"] * LONGEST_WORD), " ".join(["dog"] * LONGEST_WORD), f"dog{space}on"]
    for read in (codec.encode, codec.tokens):
        one, other, short = read(texts).to_list()
        assert one == other
        assert len(one) >= LONGEST_WORD
        assert short == read(["dog on"]).to_list()[0]


def test_spaces_are_those_of_the_model(trained):
    processor = sentencepiece.SentencePieceProcessor(model_file=str(trained / "bpe"))
    every = (chr(code) for code in range(1, 0x10000) if code not in range(0xD800, 0xE000))
    space = processor.Normalize("a b")
    expected = "".join(c for c in every if processor.Normalize(f"a{c}b") == space)
    assert spaces_of(processor) == f"[{expected}]"
    assert set(expected) < set(_SPACES)
    others = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS),
        model_writer=others,
        vocab_size=60,
        normalization_rule_name="identity",
        minloglevel=2,
    )
    processor.LoadFromSerializedProto(others.getvalue())
    assert spaces_of(processor) == "[ \u2581]"


@pytest.mark.parametrize("before", ["", "x", "xy", "xyz"])
@pytest.mark.parametrize("character", ["é", "漢", "😀"])
def test_no_character_is_cut(codec, before, character):
    cut, short = codec.tokens([f"Two {before}{character * 2000} are", "x"]).to_list()
    size = len(character.encode())
    read = (LONGEST_WORD - len(before)) // size
    expected = "\u2581Two\u2581" + before + read * character + "\u2581are"
    assert b"".join(cut).decode() == expected
    assert b"".join(short).decode() == "\u2581x"


def test_of_bytes_that_are_no_character_as_many_are_read(codec):
    for byte in (b"\x80", b"\xff"):
        tokens = codec.tokens([byte * 2 * LONGEST_WORD]).to_list()[0]
        assert b"".join(tokens).decode() == "\u2581" + LONGEST_WORD * "\ufffd"


@pytest.mark.parametrize("unit", ["漢", b"\xff", "\0", "漢" * 1000 + " ", "a", "a "])
def test_the_time_is_linear_in_the_length_of_a_text(trained, unit):
    codec = SubwordCodec(trained / "bpe")
    for tokenize in (codec.encode, codec.tokens):
        assert growth(lambda text, t=tokenize: t(text).flat_values, unit, 60_000) < 9


def test_decoding_and_pieces(codec):
    codecs.check_decoding(codec, TEXTS[2])
    codecs.check_pieces(codec, TEXTS[2])


def test_tokens_show_unknown_characters(codec):
    tokens = codec.tokens(["Zwei 語"])[0].numpy().tolist()
    assert tokens[-1] == "語".encode()
    assert codec.encode(["Zwei 語"])[0].numpy()[-1] == 1
    assert codec.join(codec.tokens(["Zwei 語"])).numpy()[0].decode() == "Zwei 語"


def test_in_tf_data(codec):
    codecs.check_in_tf_data(codec)


def test_keras_nlp_reads_the_model_and_gives_the_same_ids(trained):
    proto = (trained / "bpe").read_bytes()
    ids = keras_nlp.tokenizers.SentencePieceTokenizer(proto)(TEXTS)
    expected = SubwordCodec(trained / "bpe").encode(TEXTS).to_list()
    assert [list(row) for row in ids] == expected


@pytest.mark.parametrize("model_type", ["bpe", "unigram"])
def test_training_is_deterministic(trained, tmp_path, model_type):
    train_subwords(iter(TEXTS), tmp_path / "again", 60, model_type=model_type)
    assert (tmp_path / "again").read_bytes() == (trained / model_type).read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["again"]


def test_case_can_be_folded(tmp_path):
    train_subwords(TEXTS, tmp_path / "folded", 55, case_fold=True)
    codec = SubwordCodec(tmp_path / "folded")
    assert codec.decode(codec.encode(["Zwei HUNDE"])).numpy()[0] == b"zwei hunde"


def test_long_texts_are_not_left_out(tmp_path):
    """The trainer's own limit is 4,192 bytes."""
    train_subwords(["ab " * 2000, "cd"], tmp_path / "long", 12)
    codec = SubwordCodec(tmp_path / "long")
    assert codec.encode(["ab"]).to_list() != [[1]]
    assert codec.decode(codec.encode(["ab cd"])).numpy()[0] == b"ab cd"


def test_texts_that_are_no_unicode_are_refused(tmp_path):
    message = r"texts must be Unicode, got '\\ud800' in texts\[2\]: half of a surrogate pair"
    with pytest.raises(ValueError, match=message):
        train_subwords(["a", "", "b\ud800"], tmp_path / "none", 12)
    assert not list(tmp_path.iterdir())


def test_texts_may_all_be_short(tmp_path):
    """The trainer takes no limit below 10 bytes."""
    train_subwords(["abc", "cab"], tmp_path / "short", 8)
    codec = SubwordCodec(tmp_path / "short")
    assert codec.decode(codec.encode(["bca"])).numpy()[0] == b"bca"


def test_strange_texts_can_be_trained_on(tmp_path):
    texts = ["a\0b cd ab", "line\nbreak\r\n", *SPECIAL_WORDS, "👍🏽"]
    train_subwords(texts, tmp_path / "strange", 24)
    codec = SubwordCodec(tmp_path / "strange")
    assert codec.decode(codec.encode(["break ab 👍🏽"])).numpy()[0].decode() == "break ab 👍🏽"
    codecs.check_strange_strings(codec)


@pytest.mark.parametrize(
    ("texts", "size", "options", "message"),
    [
        (TEXTS, 4, {}, "vocabulary_size must be more than the 4 special ids, got 4"),
        (
            TEXTS,
            10,
            {},
            "10 does not fit the 5 texts: Vocabulary size is smaller than",
        ),
        (
            TEXTS,
            5000,
            {},
            "vocabulary_size: 5000 does not fit the 5 texts: Vocabulary size too high",
        ),
        (TEXTS, 5000, {"model_type": "unigram"}, "vocabulary_size: 5000 does not fit .* too high"),
        (TEXTS, 80, {"model_type": "word"}, "model_type must be one of .* got 'word'"),
        (TEXTS, 80, {"character_coverage": 0.0}, r"character_coverage must be in \(0, 1\], got 0"),
        ([], 80, {}, "texts must hold one that is not empty, got none"),
        (["", "  \n"], 80, {}, "texts must hold one that is not empty, got none"),
        (
            ["\u200b"],
            80,
            {},
            "80 does not fit the 1 texts: they hold nothing to learn",
        ),
    ],
)
def test_training_names_what_is_wrong_and_writes_nothing(tmp_path, texts, size, options, message):
    with pytest.raises(ValueError, match=message):
        train_subwords(texts, tmp_path / "model", size, **options)
    assert list(tmp_path.iterdir()) == []


def test_broken_models_are_refused(tmp_path):
    path = tmp_path / "model"
    for content in (b"", b"<pad>\n<unk>\n", b"\x00" * 100):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a SentencePiece model") as error:
            SubwordCodec(path)
        assert str(path) in str(error.value)
    with pytest.raises(FileNotFoundError):
        SubwordCodec(tmp_path / "missing")


def test_other_numbers_of_the_special_pieces_are_refused(tmp_path):
    import sentencepiece

    with (tmp_path / "usual").open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(TEXTS), model_writer=file, vocab_size=60, minloglevel=2
        )
    with pytest.raises(ValueError, match=r"first pieces must be .*, got \('<unk>', '<s>'"):
        SubwordCodec(tmp_path / "usual")


@pytest.mark.parametrize("strings", ["a b", [["a b"]]])
def test_other_ranks_are_refused(codec, strings):
    for method in (codec.encode, codec.tokens):
        with pytest.raises(ValueError, match=r"strings must have shape \(batch,\), got"):
            method(strings)
    with pytest.raises(ValueError, match=r"ids must have shape \(rows, tokens\), got \(3,\)"):
        codec.decode(tf.constant([4, 5, 6]))
    with pytest.raises(ValueError, match=r"pieces must have shape \(rows, tokens\), got \(1,\)"):
        codec.join(tf.constant(["a"]))
