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
