"""What is shipped: whole, as its card says, and able to answer."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.serving.cards import verify
from zoo.serving.load import list_models, load, load_servable, resolve

MEGABYTE = 2**20


@pytest.mark.parametrize("name", list_models())
def test_a_shipped_model_is_what_its_card_says(name):
    folder = resolve(name)
    card = verify(folder)
    assert (folder / "attention.png").is_file()
    assert sum(file.stat().st_size for file in folder.rglob("*")) <= 25 * MEGABYTE
    model = load(name)
    assert card.model_class.endswith(type(model).__name__)
    trainable = sum(int(np.prod(weight.shape)) for weight in model.trainable_weights)
    assert trainable == card.trainable_parameters


def test_the_shipped_reader_answers_a_question():
    serve = load_servable("squad_dcn").signatures["serving_default"]
    context = "The lamp of the lighthouse was repaired by a clockmaker, Ida Moreau."
    result = serve(
        question=tf.constant(["Who repaired the lamp of the lighthouse?"]),
        context=tf.constant([context]),
    )
    assert result["answer"].numpy()[0].decode() == "Ida Moreau"
    start, end = int(result["start"][0]), int(result["end"][0])
    assert context[start:end] == "Ida Moreau"
    assert 0 < float(result["score"][0]) <= 1


def test_the_shipped_translator_translates_and_shows_what_it_looked_at():
    serve = load_servable("multi30k_rnnsearch_en_de").signatures["serving_default"]
    result = serve(text=tf.constant(["A man in a red shirt is sleeping.", ""]))
    assert result["translation"].numpy()[0].decode() == "Ein Mann in einem roten Hemd schläft."
    assert result["translation"].numpy()[1] == b""
    source = [token.decode() for token in result["source_tokens"].numpy()[0]]
    target = [token.decode() for token in result["target_tokens"].numpy()[0]]
    looked_at = result["attention_alignment"].numpy()[0].argmax(axis=-1)
    assert source[looked_at[target.index("▁roten")]] == "▁red"
