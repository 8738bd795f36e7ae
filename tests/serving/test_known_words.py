"""Texts of mostly unknown words are found out by what the SavedModel knows."""

import dataclasses

import numpy as np
import pytest

from zoo.serving.cards import CARD_FILE, read_card
from zoo.serving.known_words import KnownWords, known_words
from zoo.serving.load import resolve


def outputs(**sides):
    return {
        f"{name}_tokens": np.array([[token.encode() for token in text.split(" ")]], object)
        for name, text in sides.items()
    }


def test_words_are_looked_up_in_the_vocabulary():
    words = KnownWords("squad_dcn")
    known = outputs(question="WHO repaired The lamp ? ?", context="Ida Moreau , a clockmaker .")
    assert words.strange(known) == []
    (found,) = words.strange(outputs(question="Who xqzt brlf ? ?", context="the lamp"))
    assert (found.name, found.unknown, found.words) == ("question", 2, 3)
    assert str(found).startswith("2 of the 3 words of question are unknown to the model, more than")


@pytest.mark.parametrize(("text", "strange"), [("the xqzt", False), ("the xqzt brlf", True)])
def test_more_than_half_must_be_unknown(text, strange):
    assert bool(KnownWords("sst_lstmn").strange(outputs(text=text))) == strange


@pytest.mark.parametrize("text", ["", ". , ! ?", "12 3.5", "</s>"])
def test_a_text_without_words_is_not_strange(text):
    assert KnownWords("sst_lstmn").strange(outputs(text=text)) == []


def test_case_counts_where_the_model_does_not_fold_it():
    assert KnownWords("wikitext_lstmn").strange(outputs(text="tHE oF aND"))
    assert not KnownWords("wikitext_lstmn").strange(outputs(text="The of and"))


def test_a_translator_folds_the_case_of_what_it_reads(monkeypatch):
    folder = resolve("sst_lstmn")
    card = read_card(folder)
    sides = {"source": {**card.tokenizer, "case_fold": True}, "target": {}}
    nested = dataclasses.replace(card, task="translation", tokenizer=sides)
    monkeypatch.setattr("zoo.serving.known_words.read_card", lambda _: nested)
    assert KnownWords(folder).strange(outputs(source="THE FILM")) == []
    assert KnownWords(folder).strange(outputs(source="THE XQZT BRLF"))


def test_a_word_of_several_pieces_was_rare_and_one_outside_is_unknown():
    words = KnownWords("multi30k_rnnsearch_en_de")
    captions = outputs(source="▁A ▁man ▁in ▁a ▁red ▁shirt ▁is ▁sleeping . </s>")
    assert words.strange(captions | outputs(target="▁x q zt")) == []
    (found,) = words.strange(outputs(source="▁The ▁c ent ral ▁b ank ▁rais ed ▁ra tes . </s>"))
    assert (found.name, found.unknown, found.words) == ("text", 4, 5)
    assert words.strange(outputs(source="▁ Центральный ▁ банк </s>"))


def test_the_row_is_that_of_the_example():
    rows = {"text_tokens": np.array([[b"the", b"film"], [b"xqzt", b""]], object)}
    words = KnownWords("sst_lstmn")
    assert words.strange(rows) == []
    assert words.strange(rows, 1)[0].words == 1


def test_of_another_program_s_model_nothing_is_known(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(
        (resolve("sst_lstmn") / "saved_model.pb").read_bytes()
    )
    assert known_words(tmp_path) is None
    card = (resolve("sst_lstmn") / CARD_FILE).read_text()
    (tmp_path / CARD_FILE).write_text(card)
    (tmp_path / "saved_model.pb").write_bytes(b"")
    known_words.cache_clear()
    assert known_words(tmp_path) is None
