"""Pictures in numbers, bytes and files, asked of one model."""

import io

import numpy as np
import pytest
import tensorflow as tf
from matplotlib.image import imsave

from zoo.models.glimpse import RecurrentAttentionModel
from zoo.tasks.images.endpoint import ImageEndpoint

PIXELS = np.random.default_rng(0).integers(0, 256, (2, 6, 4, 1), dtype=np.uint8)


@pytest.fixture(scope="module")
def endpoint():
    model = RecurrentAttentionModel.from_preset("tiny")
    model.build()
    return ImageEndpoint(model, ("a", "b", "c"))


def png(pixels):
    file = io.BytesIO()
    imsave(file, np.repeat(pixels, 3, axis=-1), format="png")
    return file.getvalue()


def test_numbers_bytes_and_files_give_the_same_answers(endpoint):
    numbers = endpoint.serve(tf.constant(PIXELS / np.float32(255)))
    files = tf.constant([png(one) for one in PIXELS])
    others = [endpoint.serve_bytes(tf.constant(PIXELS)), endpoint.serve_encoded(files)]
    outputs = endpoint.model({"image": PIXELS / np.float32(255)})
    chosen = np.array(outputs["logits"]).argmax(axis=-1)
    assert numbers["label"].numpy().tolist() == [b"abc"[n : n + 1] for n in chosen]
    np.testing.assert_allclose(tf.reduce_sum(numbers["probabilities"], axis=-1), 1.0, rtol=1e-6)
    np.testing.assert_array_equal(numbers["label_per_step"][:, -1], numbers["label"])
    shapes = {
        "label_per_step": (2, 3),
        "probabilities_per_step": (2, 3, 3),
        "locations": (2, 3, 2),
        "seen": (2, 3, 2, 2, 2, 1),
        "attention_glimpses": (2, 3, 6, 4),
    }
    for name, shape in shapes.items():
        assert numbers[name].shape == shape, name
    for answers in others:
        assert answers.keys() == numbers.keys()
        for name, value in numbers.items():
            if value.dtype == tf.string:
                np.testing.assert_array_equal(answers[name], value)
            else:
                np.testing.assert_allclose(answers[name], value, rtol=1e-5, atol=1e-6)


def test_files_of_another_size_are_resized(endpoint):
    file = tf.constant([png(np.full((12, 8, 1), 100, np.uint8))])
    small = np.full((1, 6, 4, 1), 100, np.uint8)
    expected = endpoint.serve_bytes(tf.constant(small))["probabilities"]
    np.testing.assert_allclose(endpoint.serve_encoded(file)["probabilities"], expected, rtol=1e-4)


def test_the_signatures_are_what_the_model_declares(endpoint):
    specs = {name: one.signature for name, one in endpoint.endpoints().items()}
    assert [(s[0].name, s[0].dtype.name, s[0].shape.as_list()) for s in specs.values()] == [
        ("image", "float32", [None, 6, 4, 1]),
        ("pixels", "uint8", [None, 6, 4, 1]),
        ("image_bytes", "string", [None]),
    ]


@pytest.mark.parametrize("labels", [("a", "b"), ("a", "b", "b"), ("a", "b", "c", "d")])
def test_labels_that_do_not_fit_are_refused(endpoint, labels):
    with pytest.raises(ValueError, match="labels must be 3 different ones, got"):
        ImageEndpoint(endpoint.model, labels)
