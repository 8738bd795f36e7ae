"""Tokenizers in plain Python cut texts as those in the graph do."""

from itertools import product

import pytest
import tensorflow as tf

from zoo.portable.runner.subwords import Subwords
from zoo.portable.runner.words import Words, cut
from zoo.portable.tokenizers import _subwords, write_tokenizers
from zoo.serving.codecs import load_codecs
from zoo.serving.load import load_card, resolve
from zoo.text.subwords import SubwordCodec, train_subwords
from zoo.text.tokenizer import WordTokenizer

TEXTS = [
    "",
    "   ",
    "A man in a red shirt, isn't he?",
    "the U.S. of J.R.R. X. End. $1,000.5, 3. 5%",
    "'sea' 'S Ada's cat it’s don't (a/b) [c_d]",
    "日本語のテスト。 二〇〇八年 5〇, 〇.〇 Ⅳ.Ⅴ ½,²",
    "ﬁne ½ Ａ ｶﾞ cafe\u0301 naïve Straße ß ẞ",
    "a\u200bb\tc\nd\u00a0e\u2028f\x85g a\u00adb",
    "hi👍🏽! 👩\u200d👩\u200d👧👨 🇩🇪🇫🇷 x≠y ∑€",
    "\x01z שלום, עולם کتاب\u200cها",
    "…“quoted” — and – dashed",
    "dog ❤\ufe0f do\u200dg \ufe0f 1\ufe0f\u20e3 a\u061cb Mon\u180bgol a\U000e0100b \u3164x",
]


@pytest.mark.parametrize("text", TEXTS)
def test_words_are_cut_as_in_the_graph(text):
    tokens = WordTokenizer()([text]).surface.to_list()[0]
    assert cut(text) == [token.decode() for token in tokens]


def test_words_are_cut_as_in_the_graph_whatever_stands_side_by_side():
    pieces = ["a.", "'s", "’S", "é", "\u0301", "1", "_", ".", "漢", " ", "\xad", "\u061c", "\u200d"]
    texts = ["".join(parts) for parts in product(pieces, repeat=3)]
    for text, tokens in zip(texts, WordTokenizer()(texts).surface.to_list(), strict=True):
        assert cut(text) == [token.decode() for token in tokens], ascii(text)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("case_fold", [False, True])
def test_words_are_folded_as_in_the_graph(text, case_fold, tmp_path):
    tokens = WordTokenizer(case_fold=case_fold)([text]).folded.to_list()[0]
    words = ["<pad>", "<unk>", "<s>", "</s>", *dict.fromkeys(token.decode() for token in tokens)]
    (tmp_path / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    ids, _ = Words(tmp_path / "words.txt", case_fold=case_fold, spaces=False).encode(text)
    assert [words[i] for i in ids] == [token.decode() for token in tokens]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory) -> tuple[Subwords, SubwordCodec]:
    """The subwords of a shipped translator, in plain Python and in the graph."""
    folder = tmp_path_factory.mktemp("subwords")
    source = resolve("multi30k_rnnsearch_en_de")
    found = write_tokenizers(source, load_card(source), folder)
    assert found["text"] == found["target"]
    return Subwords(folder / found["text"]["file"]), load_codecs(source)[0]


LONG = [f"{a}{b * 4000}" for a in ("", "x", "xy") for b in ("é", "漢", "\udcff", "\udc80", "\n")]
LONG.append("dog\u3000" * 4000)


@pytest.mark.parametrize("text", [*TEXTS, *LONG], ids=range(len(TEXTS) + len(LONG)))
def test_subwords_are_those_of_sentencepiece(shipped, text):
    own, codec = shipped
    ids = codec.encode(tf.constant([text.encode("utf-8", "surrogateescape")])).to_list()[0]
    found, tokens = own.encode(text)
    assert found == ids
    assert len(tokens) == len(ids)
    joined = own.join(own.tokens(ids))
    assert joined == codec.join(codec.pieces(tf.constant([ids], tf.int32))).numpy()[0].decode()


def test_subwords_of_a_unigram_model_are_refused(tmp_path):
    path = tmp_path / "unigram.model"
    train_subwords(["a b c ab abc"] * 9, path, 11, model_type="unigram")
    with pytest.raises(ValueError, match="model_type of subwords must be bpe"):
        _subwords(path.read_bytes())


def test_a_tokenizer_that_the_runner_does_not_know_is_left_out(tmp_path):
    source = resolve("sick_decomposable")
    assert write_tokenizers(source, load_card(source), tmp_path) == {}
    assert not list(tmp_path.iterdir())
