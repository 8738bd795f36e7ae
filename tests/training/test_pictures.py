"""Pictures of the attention in TensorBoard, from a script of one's own."""

import logging
import struct

import keras
import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from zoo.tasks.shared.endpoints import asking
from zoo.training.distribution import make_strategy
from zoo.training.pictures import AttentionPictures

EXAMPLES, BATCH_SIZE, EPOCHS = 12, 4, 3


@pytest.fixture
def model():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def fit(model, *callbacks):
    values = np.ones((EXAMPLES, 2), "float32")
    model.fit(
        values, values[:, :1], BATCH_SIZE, epochs=EPOCHS, callbacks=list(callbacks), verbose=0
    )


def answered(words):
    return {
        "source_tokens": np.array([[b"a", b"dog"]]),
        "source_length": np.array([2]),
        "target_tokens": np.array([[b"ein", b"Hund", b"."]])[:, :words],
        "target_length": np.array([words]),
        "attention_alignment": np.full((1, words, 2), 0.5, "float32"),
    }


def pictures(folder):
    """(step, width, height) of each picture."""
    events = EventAccumulator(str(folder))
    events.Reload()
    if "attention" not in events.Tags()["tensors"]:
        return []
    points = events.Tensors("attention")
    shapes = [tuple(map(int, point.tensor_proto.string_val[:2])) for point in points]
    for point in points:
        data = point.tensor_proto.string_val[2]
        assert data.startswith(b"\x89PNG")
        assert struct.unpack(">II", data[16:24]) == shapes[0]
    return [(point.step, *shape) for point, shape in zip(points, shapes, strict=True)]


def test_there_is_a_picture_an_epoch_at_the_step_of_the_optimizer(model, tmp_path):
    fit(model, AttentionPictures(tmp_path, lambda: answered(3)))
    found = pictures(tmp_path)
    steps = EXAMPLES // BATCH_SIZE
    assert [step for step, *_ in found] == [steps * epoch for epoch in range(1, EPOCHS + 1)]
    assert min(found[0][1:]) > 100


def test_there_are_pictures_of_a_model_on_several_devices(tmp_path):
    with make_strategy("mirrored", ["CPU:0", "CPU:1"]).scope():
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    fit(model, AttentionPictures(tmp_path, lambda: answered(3)))
    assert [step for step, *_ in pictures(tmp_path)] == [3, 6, 9]


def test_what_cannot_be_drawn_is_logged_and_training_goes_on(model, tmp_path, caplog):
    written = iter([0, 2, 0])
    logger = logging.getLogger("test")
    with caplog.at_level(logging.INFO, "test"):
        fit(model, AttentionPictures(tmp_path, lambda: answered(next(written)), logger=logger))
    assert [step for step, *_ in pictures(tmp_path)] == [2 * EXAMPLES // BATCH_SIZE]
    lines = [record.message for record in caplog.records if record.name == "test"]
    assert [line.split(":")[0] for line in lines] == [
        f"no picture of the attention after epoch {epoch}" for epoch in (1, 3)
    ]


def test_an_endpoint_is_asked_with_the_weights_of_the_moment(model):
    model.build((None, 2))
    ask = asking(lambda text: {"text": text, "sum": model(np.ones((1, 2), "float32"))}, "a dog")
    assert ask()["text"].numpy().tolist() == [b"a dog"]
    before = float(ask()["sum"][0, 0])
    model.layers[0].bias.assign_add([1.0])
    assert float(ask()["sum"][0, 0]) == pytest.approx(before + 1)
