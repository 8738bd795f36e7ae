"""Codecs of a SavedModel, read back from it."""

import dataclasses
import shutil

import pytest
import tensorflow as tf

from tests.tasks.translation.test_endpoint import make_model
from tests.tasks.translation.test_pictures import export
from tests.tasks.translation.translators import make_codecs
from zoo.serving.cards import read_card, write_card
from zoo.serving.codecs import load_codecs
from zoo.serving.load import load_servable, resolve
from zoo.text.subwords import SubwordCodec, train_subwords
from zoo.text.vocabulary import write_vocabulary
from zoo.text.words import WordCodec

ENGLISH = ["two dogs run .", "a dog runs .", "one dog sleeps ."]
GERMAN = ["zwei Hunde rennen .", "ein Hund rennt .", "ein Hund schläft ."]


def subwords(folder, name, texts):
    train_subwords(texts, folder / f"{name}.model", 40)
    return SubwordCodec(folder / f"{name}.model")


def codecs_of(kind, folder):
    if kind == "words":
        return make_codecs(folder)
    if kind == "separate":
        return subwords(folder, "source", ENGLISH), subwords(folder, "target", GERMAN)
    joint = subwords(folder, "joint", ENGLISH + GERMAN)
    return joint, joint


@pytest.mark.parametrize("kind", ["words", "separate", "joint"])
def test_a_translator_gives_back_the_codecs_of_both_sides(kind, tmp_path):
    (tmp_path / "files").mkdir()
    codecs = codecs_of(kind, tmp_path / "files")
    model = make_model("SutskeverTranslator", codecs)
    export(tmp_path / "model", model, codecs, beam_width=1, length_penalty=1.0)
    shutil.rmtree(tmp_path / "files")
    loaded = load_codecs(tmp_path / "model")
    assert (loaded[0] is loaded[1]) == (kind == "joint")
    for texts, codec, again in zip((ENGLISH, GERMAN), codecs, loaded, strict=True):
        ids = codec.encode(tf.constant(texts))
        assert again.encode(tf.constant(texts)).to_list() == ids.to_list()
        assert again.decode(ids).numpy().tolist() == codec.decode(ids).numpy().tolist()
        assert again.vocabulary_size == codec.vocabulary_size
        assert again.get_config() == codec.get_config()


def test_sides_with_the_words_of_one_file_cut_texts_in_their_own_ways(tmp_path):
    write_vocabulary(tmp_path / "words.txt", ["two", "dogs"])
    codecs = tuple(WordCodec(tmp_path / "words.txt", case_fold=fold) for fold in (True, False))
    model = make_model("SutskeverTranslator", codecs)
    export(tmp_path / "model", model, codecs, beam_width=1, length_penalty=1.0)
    loaded = load_codecs(tmp_path / "model")
    assert [codec.get_config()["case_fold"] for codec in loaded] == [True, False]
    for codec, again in zip(codecs, loaded, strict=True):
        text = tf.constant(["TWO dogs"])
        assert again.encode(text).to_list() == codec.encode(text).to_list()


@pytest.mark.parametrize("name", ["sst_lstmn", "wikitext_lstmn"])
def test_a_reader_of_one_text_gives_back_its_codec(name):
    (codec,) = load_codecs(name)
    serve = load_servable(name).signatures["serving_default"]
    text = tf.constant(["The album was released in 1995 ."])
    assert codec.tokens(text).to_list() == serve(text=text)["text_tokens"].numpy().tolist()


def test_a_model_without_codecs_says_what_it_has():
    with pytest.raises(ValueError, match="squad_dcn: has no codecs; load_vocabulary gives"):
        load_codecs("squad_dcn")


@pytest.mark.parametrize(
    ("tokenizer", "problem"),
    [
        (
            {"source": "words", "target": "words"},
            "a codec in the card must be an object, got 'words'",
        ),
        ({"class": "WordCodec", "colour": 3}, "{'colour': 3} make no codec: .*colour"),
    ],
)
def test_a_card_that_describes_no_codec_is_refused(tokenizer, problem, tmp_path):
    folder = shutil.copytree(resolve("sst_lstmn"), tmp_path / "model")
    write_card(folder, dataclasses.replace(read_card(folder), tokenizer=tokenizer))
    with pytest.raises(ValueError, match=problem):
        load_codecs(folder)
