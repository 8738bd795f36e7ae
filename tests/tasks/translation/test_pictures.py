"""A translator as a folder: its card, its answers, and the picture that is drawn from it."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import tensorflow as tf

from tests.tasks.translation.test_endpoint import make_model
from tests.tasks.translation.translators import make_codecs
from zoo.serving.cards import DataRecord, read_card
from zoo.serving.load import load, load_servable, resolve
from zoo.serving.servable import Servable
from zoo.tasks.shared.endpoints import export_endpoint
from zoo.tasks.shared.pictures import draw_answer
from zoo.tasks.translation.endpoint import TranslationEndpoint
from zoo.tasks.translation.pictures import draw_heads
from zoo.text.subwords import SubwordCodec, train_subwords

TEXT = "two dogs run ."


def export(folder, model, codecs, **search):
    export_endpoint(
        folder,
        TranslationEndpoint(model, *codecs, **search),
        task="translation",
        data=DataRecord("sample", training="train", evaluation="test"),
        metrics={"bleu": np.float32(12.5)},
        seed=3,
        seconds=1.5,
    )


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """Folder, model and codecs of a translator that reads words."""
    folder = tmp_path_factory.mktemp("words")
    codecs = make_codecs(folder)
    model = make_model("RNNsearch", codecs)
    export(folder / "model", model, codecs, beam_width=2, length_penalty=0.6)
    return folder / "model", model, codecs


def test_the_card_tells_the_search_and_both_codecs(words):
    folder, model, _ = words
    card = read_card(folder)
    assert card.task == "translation"
    assert card.config == model.get_config()
    assert card.metrics == {"bleu": 12.5}
    assert card.limits["beam_width"] == 2
    assert card.limits["length_penalty"] == 0.6
    codec = {"class": "WordCodec", "case_fold": False, "language": None}
    assert card.tokenizer == {"source": codec, "target": codec}


def test_the_folder_searches_as_it_was_told(words):
    folder, model, codecs = words
    served = load_servable(folder).signatures["serving_default"](text=tf.constant([TEXT]))
    endpoint = TranslationEndpoint(model, *codecs, beam_width=2, length_penalty=0.6)
    for name, value in endpoint.serve(tf.constant([TEXT])).items():
        if value.dtype == tf.float32:
            np.testing.assert_allclose(served[name], value, rtol=1e-5, atol=1e-6, err_msg=name)
        else:
            assert served[name].numpy().tolist() == value.numpy().tolist(), name


@pytest.fixture(scope="module")
def subwords(tmp_path_factory):
    """Folder, model and answer of a translator without attention, one codec for both sides."""
    folder = tmp_path_factory.mktemp("subwords")
    texts = ["two dogs run .", "a dog runs .", "zwei Hunde rennen .", "ein Hund rennt ."]
    train_subwords(texts, folder / "subwords.model", 40)
    codec = SubwordCodec(folder / "subwords.model")
    model = make_model("SutskeverTranslator", (codec, codec))
    export(folder / "model", model, (codec, codec), beam_width=1, length_penalty=1.0)
    endpoint = TranslationEndpoint(model, codec, codec, beam_width=1)
    expected = endpoint.serve(tf.constant([TEXT]))["translation"].numpy()
    (folder / "subwords.model").unlink()
    return folder / "model", model, expected


def test_one_subword_model_for_both_sides_travels_with_the_folder(subwords):
    folder, model, expected = subwords
    served = load_servable(folder).signatures["serving_default"]
    assert served(text=tf.constant([TEXT]))["translation"].numpy() == expected
    assert load(folder).get_config() == model.get_config()
    assert read_card(folder).tokenizer["target"]["class"] == "SubwordCodec"


def test_the_picture_has_a_row_a_target_word_and_a_column_a_source_word(words, tmp_path):
    folder, model, codecs = words
    (translation,) = draw_answer(Servable(folder), {"text": TEXT}, tmp_path / "picture.png")[
        "translation"
    ]
    endpoint = TranslationEndpoint(model, *codecs, beam_width=2, length_penalty=0.6)
    assert translation == endpoint.serve(tf.constant([TEXT]))["translation"].numpy()[0]
    assert plt.imread(tmp_path / "picture.png").ndim == 3
    assert plt.get_fignums() == []


def test_without_a_translation_there_is_no_picture(words, tmp_path):
    answer = draw_answer(Servable(words[0]), {"text": " "}, tmp_path / "picture.png")
    assert answer["translation"].tolist() == [b""]
    assert list(tmp_path.iterdir()) == []


def test_without_attention_there_is_no_picture(subwords, tmp_path):
    folder, _, expected = subwords
    answer = draw_answer(Servable(folder), {"text": TEXT}, tmp_path / "picture.png")
    assert answer["translation"] == expected
    assert list(tmp_path.iterdir()) == []


def test_all_heads_of_a_transformer_are_drawn(tmp_path):
    folder = resolve("multi30k_transformer_en_de")
    assert not draw_heads(folder, " ", tmp_path / "heads.png")
    assert not (tmp_path / "heads.png").exists()
    assert draw_heads(folder, TEXT, tmp_path / "heads.png")
    height, width, _ = plt.imread(tmp_path / "heads.png").shape
    assert width > 1.5 * height  # three grids, as many layers as heads in each, side by side


def test_without_heads_nothing_is_drawn(words, tmp_path):
    assert not draw_heads(words[0], TEXT, tmp_path / "heads.png")
    assert not list(tmp_path.iterdir())
