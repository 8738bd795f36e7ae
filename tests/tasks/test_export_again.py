"""A shipped model is exported again: the same weights, the same answers."""

import dataclasses
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from zoo.serving.cards import read_card, verify, write_card
from zoo.serving.codecs import load_labels
from zoo.serving.load import load, load_servable, resolve
from zoo.tasks import export_again as again
from zoo.tasks.export_again import export_again

TEXTS = ["A man in a red shirt is sleeping.", ""]


def answers(folder):
    serve = load_servable(folder).signatures["serving_default"]
    return {name: value.numpy() for name, value in serve(text=tf.constant(TEXTS)).items()}


@pytest.mark.parametrize("name", ["multi30k_luong_en_de", "sst_lstmn", "wikitext_lstmn"])
def test_weights_and_picture_are_equal_byte_for_byte_and_so_are_answers(name, tmp_path):
    source, folder = resolve(name), tmp_path / "again"
    card = export_again(name, folder)
    assert verify(folder) == card
    same = {"date": "", "versions": {}, "sha256": {}}
    assert dataclasses.replace(card, **same) == dataclasses.replace(read_card(source), **same)
    assert card.date > read_card(source).date
    kept = ["attention.png", *(file for file in card.sha256 if not file.endswith(".pb"))]
    assert len(kept) >= 3
    for file in kept:
        assert (folder / file).read_bytes() == (source / file).read_bytes(), file
    before, after = answers(source), answers(folder)
    assert before.keys() == after.keys()
    for output, value in before.items():
        if value.dtype == object:
            assert after[output].tolist() == value.tolist()
        else:
            np.testing.assert_allclose(after[output], value, atol=1e-6, err_msg=output)


@pytest.mark.parametrize("name", ["cloze_aoa", "squad_dcn"])
def test_readers_have_the_limits_and_words_of_their_cards(name):
    folder, card = resolve(name), read_card(resolve(name))
    endpoint, (vocabulary,) = again.ENDPOINTS[card.task](folder, card, load(folder))
    assert endpoint.limits == card.limits
    assert (
        len(vocabulary) + card.tokenizer.get("unknown_slots", 0) == card.config["vocabulary_size"]
    )
    inputs = [["Jenny led the horse"], ["The XXXXX drank"]]
    outputs = endpoint.serve(*map(tf.constant, inputs[:: -1 if name == "squad_dcn" else 1]))
    assert outputs["answer"].shape == [1]


def test_a_translator_keeps_its_options(monkeypatch):
    monkeypatch.setattr(again, "load_codecs", lambda _: ("source", "target"))
    made = lambda *_, **options: SimpleNamespace(assets=[], options=options)  # noqa: E731
    monkeypatch.setattr(again, "TranslationEndpoint", made)
    for tokenizer in ({}, {"bleu_tokenizer": "zh"}, {"convention": "input"}):
        card = SimpleNamespace(limits={}, tokenizer={"source": {}, "target": {}} | tokenizer)
        endpoint, _ = again.ENDPOINTS["translation"](Path("model"), card, None)
        assert endpoint.options == tokenizer
    card = SimpleNamespace(limits={}, tokenizer={"dictionary": True})
    with pytest.raises(ValueError, match="must have no dictionary of unknown words"):
        again.ENDPOINTS["translation"](Path("model"), card, None)


def test_the_names_of_classes_are_read_from_the_graph():
    labels = ("very negative", "negative", "neutral", "positive", "very positive")
    assert load_labels("sst_lstmn") == labels
    with pytest.raises(ValueError, match=r"must hold a classifier, got .*'translation'"):
        load_labels("multi30k_luong_en_de")


def test_a_task_of_ones_own_and_several_readings_are_refused(tmp_path):
    folder = shutil.copytree(resolve("cloze_aoa"), tmp_path / "mine")
    card = read_card(folder)
    write_card(folder, dataclasses.replace(card, tokenizer=card.tokenizer | {"readings": 8}))
    with pytest.raises(ValueError, match="readings must be 1, got 8"):
        export_again(folder, tmp_path / "again")
    write_card(folder, dataclasses.replace(card, task="weather"))
    with pytest.raises(ValueError, match=r"task must be one of \['algorithms'.*got 'weather'"):
        export_again(folder, tmp_path / "again")
    write_card(folder, dataclasses.replace(card, limits={"colour": 3}))
    with pytest.raises(ValueError, match=r"the card's limits or tokenizer do not fit: .*colour"):
        export_again(folder, tmp_path / "again")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
