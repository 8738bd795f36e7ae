import re
import unicodedata

import pytest
import tensorflow as tf

from tests.text.timing import growth
from zoo.text.tokenizer import LONGEST_FOLDED, SpaceTokenizer, WordTokenizer

TOKENIZE = WordTokenizer()


def tokens_of(text: str | bytes) -> list[str]:
    """Returns the surface tokens of one string, bytes that are no UTF-8 as surrogates."""
    surface = TOKENIZE([text]).surface.to_list()[0]
    return [token.decode("utf-8", "surrogateescape") for token in surface]


def folded_of(text: str, tokenizer: WordTokenizer = TOKENIZE) -> list[str]:
    return [token.decode() for token in tokenizer([text]).folded.to_list()[0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who wrote it?", ["Who", "wrote", "it", "?"]),
        ("a well-known 1914–1918 war", ["a", "well", "-", "known", "1914", "–", "1918", "war"]),
        ("Ada's cat, the dogs' owner", ["Ada", "'s", "cat", ",", "the", "dogs", "'", "owner"]),
        ("Ada’s don't", ["Ada", "’s", "don", "'", "t"]),
        ("'sea' 'S", ["'", "sea", "'", "'S"]),
        ("$1,000.5, 3.", ["$", "1,000.5", ",", "3", "."]),
        ("the 19th mp3 H2O", ["the", "19th", "mp3", "H2O"]),
        ("the U.S. of J.R.R. X. End.", ["the", "U.S.", "of", "J.R.R.", "X", ".", "End", "."]),
        ("(a/b) [c_d] 5%", ["(", "a", "/", "b", ")", "[", "c", "_", "d", "]", "5", "%"]),
        ("one\ttwo\r\nthree\x0bfour\nfive\x0c", ["one", "two", "three", "four", "five"]),
    ],
)
def test_latin_text(text: str, expected: list[str]):
    assert tokens_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\u00a0b\u2009c\u3000d\u2028e\x85f", list("abcdef")),
        ("a\u200bb\ufeffc\u200fd\u061ce", list("abcde")),
        ("", []),
        (" \t\u00a0 ", []),
        ("日本語のテスト。", [*"日本語のテスト", "。"]),
        ("二〇〇八年 5〇, 〇.〇", [*"二〇〇八年5〇,〇.〇"]),
        ("Ⅳ.Ⅴ ½,² ٣٫١.٢", ["Ⅳ.Ⅴ", "½,²", "٣", "٫", "١.٢"]),
        ("か\u3099き", ["か\u3099", "き"]),
        ("שלום, עולם", ["שלום", ",", "עולם"]),
        ("کتاب\u200cها", ["کتاب\u200cها"]),
        ("cafe\u0301 e\u0301\u0323", ["cafe\u0301", "e\u0301\u0323"]),
        ("hi👍🏽!", ["hi", "👍🏽", "!"]),
        ("👩‍👩‍👧👨", ["👩‍👩‍👧", "👨"]),
        ("🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]),
        ("x≠y ∑€", ["x", "≠", "y", "∑", "€"]),
        ("a\u00adb", ["a\u00adb"]),
        ("He said 'sí' twice.", ["He", "said", "'", "sí", "'", "twice", "."]),
        ("‘Señor’ ’Són’ 's½ 'S\u0301", [*"‘", "Señor", *"’’", "Són", *"’'", "s½", "'", "S\u0301"]),
        ("été's Noë’s 's漢 's€", ["été", "'s", "Noë", "’s", "'s", "漢", "'s", "€"]),
        ("şa.b.c éa.b.c. a.b.é", [*("şa", *".b.c"), "éa", ".", "b.c.", "a.b.", "é"]),
    ],
)
def test_unicode_text(text: str, expected: list[str]):
    assert tokens_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a\x00b", [b"a", b"\x00", b"b"]),
        (b"\x00\x01\x00", [b"\x00", b"\x01", b"\x00"]),
        (b"\xff\xfe x", [b"\xff\xfe", b"x"]),
        (b"ab\xffcd ef\xe2\x82", [b"ab\xffcd", b"ef\xe2\x82"]),
        (b"\xed\xa0\x80 \xf0\x90", [b"\xed\xa0\x80", b"\xf0\x90"]),
    ],
)
def test_any_bytes_are_tokens(text: bytes, expected: list[bytes]):
    tokens = TOKENIZE([text])
    assert tokens.surface.to_list() == [expected]
    assert tokens.folded.to_list() == [expected]


def test_offsets_are_exact_on_random_bytes():
    """For any bytes, tokens equal the text at their offsets, with only spaces in between."""
    space = re.compile("[\\s\u200b]*")
    pieces = [
        b"",
        b"\n",
        b"\t",
        b"\r\n",
        b"\xe2\x80\x8b",
        b"\x00",
        b"\xff",
        b"\xc3",
        b" ",
        b"A",
        b"1",
        b".",
        b"'s",
        b"\xc2\xa0",
        b"-",
    ]
    pieces += [piece.encode() for piece in ("é", "İ", "ﬁ", "\u0301", "語", "😀", "\u200d", "ẞ")]
    random = tf.random.stateless_uniform([1000, 8], [1, 2], 0, len(pieces), tf.int32).numpy()
    strings = [b"".join(pieces[i] for i in row) for row in random]
    tokens = TOKENIZE(strings)
    columns = (tokens.surface, tokens.starts, tokens.ends)
    for string, surface, starts, ends in zip(strings, *(c.to_list() for c in columns), strict=True):
        assert [string[a:b] for a, b in zip(starts, ends, strict=True)] == surface
        assert starts == sorted(starts)
        assert all(a < b for a, b in zip(starts, ends, strict=True))
        assert not any(space.fullmatch(token.decode("utf-8", "replace")) for token in surface)
        gaps = zip([0, *ends], [*starts, len(string)], strict=True)
        assert all(space.fullmatch(string[a:b].decode("utf-8", "replace")) for a, b in gaps)
    assert tokens.starts.dtype == tokens.ends.dtype == tf.int32


def test_folding_normalises_tokens_and_not_the_string():
    text = "İSTANBUL ﬁne Ⅳ Ｆull STRASSE straße É"
    assert folded_of("Ｆull ﬁne Ⅳ") == ["full", "fine", "iv"]
    assert folded_of("STRASSE straße") == ["strasse", "strasse"]
    composed, decomposed = folded_of("É E\u0301")
    assert composed == decomposed == "é"
    tokens = TOKENIZE([text])
    surface = [token.decode() for token in tokens.surface.to_list()[0]]
    assert surface == text.split(" ")


def test_folding_never_empties_a_token():
    """Case folding removes invisible characters, here the soft hyphen."""
    assert folded_of("\u00ad a\u00adb") == ["\u00ad", "ab"]


@pytest.mark.parametrize("case_fold", [False, True])
def test_words_are_the_same_without_invisible_characters(case_fold):
    tokenizer = WordTokenizer(case_fold=case_fold)
    expected = ["dog", "❤", "x\udcff", "\ufe0f"]
    found = tokenizer(
        [b"do\xe2\x80\x8dg\xef\xb8\x8f \xe2\x9d\xa4\xef\xb8\x8f x\xc2\xad\xff \xef\xb8\x8f"]
    )
    folded = [token.decode(errors="surrogateescape") for token in found.folded.to_list()[0]]
    assert folded == expected
    assert found.surface.to_list()[0][1] == "❤\ufe0f".encode()


def test_a_long_token_is_not_folded():
    short, long = "É" * (LONGEST_FOLDED // 2), "É" * (LONGEST_FOLDED // 2 + 1)
    assert folded_of(f"{short} {long} É") == [short.lower(), long, "é"]


@pytest.mark.parametrize(
    "unit",
    ["〇", "5〇", "\u0301\u0316", "\u0301\u0316" * 200 + " ", ".", "1,", b"\xff", "\0", "x'"],
)
def test_the_time_is_linear_in_the_length_of_a_text(unit):
    assert growth(lambda text: TOKENIZE(text).folded.flat_values, unit, 30_000) < 9


def test_case_can_be_kept():
    tokenizer = WordTokenizer(case_fold=False)
    assert folded_of("Ｆull İ", tokenizer) == ["Full", unicodedata.normalize("NFKC", "İ")]
    assert tokenizer.get_config() == {"case_fold": False}
    assert WordTokenizer(**tokenizer.get_config()).case_fold is False


def test_empty_batch():
    tokens = TOKENIZE(tf.zeros([0], tf.string))
    assert [column.shape[0] for column in tokens] == [0] * 4
    assert tokens.folded.flat_values.dtype == tf.string


def test_batch_equals_strings_alone():
    strings = ["", "One two.", "\x00", "日本 x", "  a  "]
    together = TOKENIZE(strings)
    for row, string in enumerate(strings):
        alone = TOKENIZE([string])
        for batched, single in zip(together, alone, strict=True):
            assert batched[row].numpy().tolist() == single[0].numpy().tolist()


@pytest.mark.parametrize("strings", ["a b", [["a b"]]])
def test_other_ranks_are_refused(strings):
    with pytest.raises(ValueError, match=r"strings must have shape \(batch,\), got"):
        TOKENIZE(strings)


def test_runs_in_tf_data_and_in_a_saved_model(tmp_path):
    strings = ["Ada's\x00 cat", "", "日本"]
    expected = TOKENIZE(strings)
    dataset = tf.data.Dataset.from_tensor_slices(strings).batch(2).map(TOKENIZE)
    assert [row for batch in dataset for row in batch.folded.to_list()] == expected.folded.to_list()

    module = tf.Module()
    module.tokenize = tf.function(
        lambda text: {"tokens": TOKENIZE(text).surface.to_tensor("")},
        input_signature=[tf.TensorSpec([None], tf.string, name="text")],
        autograph=False,
    )
    tf.saved_model.save(module, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    assert loaded.tokenize(tf.constant(strings))["tokens"].numpy().tolist() == (
        expected.surface.to_tensor("").numpy().tolist()
    )


def test_text_that_was_cut_before_is_cut_at_white_space_alone():
    tokenizer = SpaceTokenizer()
    texts = ["  the <unk> cost $ 1 @,@ 000\tN 's\u00a0A.B.\n", "", " \u3000", "a\x00b Éa\x1fc"]
    texts.append("\x00abc \x00d")
    tokens = tokenizer(tf.constant(texts))
    for row, text in zip(tokens.surface.to_list(), texts, strict=True):
        assert row == [word.encode() for word in text.replace("\0", "\1").split()]
    assert tokens.folded.to_list() == tokens.surface.to_list()
    for text, starts, ends in zip(
        texts, tokens.starts.to_list(), tokens.ends.to_list(), strict=True
    ):
        places = zip(starts, ends, strict=True)
        cut = [text.encode()[start:end] for start, end in places]
        assert cut == [word.encode() for word in text.split()]
    assert tokenizer.get_config() == {"split_on": "spaces"}
