"""Pictures in numbers, bytes and files, asked of one model."""

import io

import numpy as np
import pytest
import tensorflow as tf
from matplotlib.image import imsave

from zoo.models.glimpse import RecurrentAttentionModel
from zoo.plots import answer
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
        ("image", "float32", [None, 6, 4, 1]),
    ]
    assert [*specs] == ["serving_default", "bytes", "encoded", "locations"]


def test_locations_are_those_of_the_answer_with_maps(endpoint):
    images = tf.constant(PIXELS / np.float32(255))
    whole, found = endpoint.serve(images), endpoint.serve_locations(images)
    assert whole.keys() - found.keys() == {"attention_glimpses"}
    for name, value in found.items():
        np.testing.assert_array_equal(value, whole[name], err_msg=name)


def test_no_tensor_of_locations_grows_with_the_image():
    model = RecurrentAttentionModel.from_preset("tiny", image_size=None)
    model.build()
    endpoint = ImageEndpoint(model, ("a", "b", "c"))

    def wide(serve):
        spec = tf.TensorSpec((1, 500, 500, 1), tf.float32)
        graph = tf.function(serve, autograph=False).get_concrete_function(spec).graph
        made = [output for operation in graph.get_operations() for output in operation.outputs]
        sizes = [(one.op.type, one.shape.num_elements()) for one in made]  # None: not known
        return {kind for kind, size in sizes if (size or 0) >= 500}

    given = {"Placeholder", "Reshape"}  # the image, and the same numbers in another shape
    assert wide(endpoint.serve_locations) == given
    assert wide(endpoint.serve) > given


def test_frames_can_be_drawn_from_locations_alone(endpoint):
    images = PIXELS / np.float32(255)
    figure = answer(endpoint.serve_locations(tf.constant(images)), inputs={"image": images})
    assert figure.axes[0].patches


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused(endpoint, number):
    images = (PIXELS / np.float32(255)).copy()
    images[1, 3, 2] = number  # at the centre, where it looks first
    for serve in (endpoint.serve, endpoint.serve_locations):
        traced = tf.function(serve, autograph=False)
        with pytest.raises(tf.errors.InvalidArgumentError, match="image must be finite numbers"):
            traced(tf.constant(images))
    images[1, 3, 2], images[0, 5, 3] = 0.5, number  # in a corner
    with pytest.raises(tf.errors.InvalidArgumentError, match="image must be finite numbers"):
        endpoint.serve(tf.constant(images))


@pytest.mark.parametrize("labels", [("a", "b"), ("a", "b", "b"), ("a", "b", "c", "d")])
def test_labels_that_do_not_fit_are_refused(endpoint, labels):
    with pytest.raises(ValueError, match="labels must be 3 different ones, got"):
        ImageEndpoint(endpoint.model, labels)
