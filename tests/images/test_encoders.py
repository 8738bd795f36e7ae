"""Encoders of pictures: the networks there are, and the grids of vectors they give."""

import keras
import numpy as np
import pytest

from tests.images.networks import random_weights, write_weights
from zoo.images.encoders import annotation_encoder, restored_encoder
from zoo.images.squeezenet import BGR_MEAN, load_squeezenet

PICTURES = np.random.default_rng(0).uniform(0, 255, (2, 40, 40, 3)).astype("float32")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("weights")
    write_weights(found / "squeezenet_1.1_notop.h5", random_weights())
    return found


@pytest.fixture(scope="module")
def encoder(folder):
    return annotation_encoder(size=40, data_dir=folder)


def small_network(size=None):
    """A grid of 3 x 3 cells of 5 numbers for pictures of 12 pixels."""
    pictures = keras.Input((size, size, 3))
    vectors = keras.layers.Conv2D(5, 4, strides=4, name="cells")(pictures)
    return keras.Model(pictures, keras.layers.Activation("tanh")(vectors), name="small")


def test_squeezenet_reads_blue_green_red_less_the_mean(folder, encoder):
    network = load_squeezenet(folder / "squeezenet_1.1_notop.h5")
    prepared = PICTURES[..., ::-1] - np.array(BGR_MEAN, "float32")
    expected = np.asarray(network(prepared)).reshape(2, -1, 512)
    assert encoder.grid == (1, 1)
    np.testing.assert_allclose(encoder(PICTURES), expected, rtol=1e-5, atol=1e-5)


def test_cells_are_row_by_row():
    network = small_network()
    encoder = annotation_encoder(network, size=12, preprocess=lambda pictures: pictures / 255)
    assert (encoder.grid, encoder.dim, encoder.title) == ((3, 3), 5, "small")
    vectors = np.asarray(network(PICTURES[:, :12, :12] / 255))
    found = np.asarray(encoder(PICTURES[:, :12, :12]))
    np.testing.assert_allclose(found[:, 5], vectors[:, 1, 2], rtol=1e-5)


def test_a_layer_in_the_middle_and_a_file():
    network = small_network(12)
    inner = annotation_encoder(network, layer="cells")
    assert inner.title == "small, cells"
    np.testing.assert_allclose(
        np.tanh(inner(PICTURES[:, :12, :12])),
        annotation_encoder(network)(PICTURES[:, :12, :12]),
        rtol=1e-5,
    )
    with pytest.raises(ValueError, match=r"layer must be one of .* got 'conv5'"):
        annotation_encoder(network, layer="conv5")


def test_a_keras_file(tmp_path):
    network = small_network(12)
    network.save(tmp_path / "mine.keras")
    encoder = annotation_encoder(str(tmp_path / "mine.keras"))
    expected = annotation_encoder(network)(PICTURES[:, :12, :12])
    np.testing.assert_allclose(encoder(PICTURES[:, :12, :12]), expected, rtol=1e-5)
    with pytest.raises(
        ValueError, match="weights must be left out with a network that has its own"
    ):
        annotation_encoder(str(tmp_path / "mine.keras"), weights="w")


def test_a_network_of_keras_with_its_own_preprocessing(tmp_path):
    make = keras.applications.MobileNet
    network = make(include_top=False, weights=None, input_shape=(32, 32, 3), alpha=1.0)
    network.save_weights(tmp_path / "mobile.weights.h5")
    weights = tmp_path / "mobile.weights.h5"
    encoder = annotation_encoder("MobileNet", size=32, weights=weights)
    pictures = PICTURES[:, :32, :32]
    prepared = keras.applications.mobilenet.preprocess_input(pictures.copy())
    expected = np.asarray(network(prepared, training=False)).reshape(2, 1, 1024)
    np.testing.assert_allclose(encoder(pictures), expected, rtol=1e-4, atol=1e-5)


def test_other_networks_are_refused():
    with pytest.raises(ValueError, match=r"encoder must be squeezenet, .*'VGG16'.* got 'LeNet'"):
        annotation_encoder("LeNet")
    flat = keras.Sequential([keras.Input((4, 4, 3)), keras.layers.Flatten()], name="flat")
    with pytest.raises(ValueError, match=r"flat must give a grid of vectors \(B, h, w, D\), got"):
        annotation_encoder(flat)
    with pytest.raises(ValueError, match="size must be given"):
        annotation_encoder(small_network())


@pytest.mark.parametrize("size", [0, -3])
def test_a_size_that_is_none_is_not_replaced_by_the_networks_own(size):
    for network in ("squeezenet", "VGG16", small_network()):
        with pytest.raises(ValueError, match=f"size must be at least 1, got {size}"):
            annotation_encoder(network, size=size)


def test_the_fingerprint_is_of_weights_and_size(folder, encoder):
    again = annotation_encoder(size=40, data_dir=folder)
    assert encoder.fingerprint == again.fingerprint
    assert annotation_encoder(size=47, data_dir=folder).fingerprint != again.fingerprint
    kernel = again.named_weights["fire9_expand1x1/bias"]
    kernel.assign(kernel + 1e-3)
    assert encoder.fingerprint != again.fingerprint


def test_the_fingerprint_is_of_the_preprocessing_too():
    network = small_network(12)
    scales = (None, lambda pictures: pictures / 255, lambda pictures: pictures / 127.5 - 1)
    prints = [annotation_encoder(network, preprocess=scale).fingerprint for scale in scales]
    assert len({*prints}) == 3
    again = annotation_encoder(network, preprocess=lambda pictures: pictures * (1 / 255))
    assert again.fingerprint == prints[1]


def test_the_fingerprint_of_an_own_network_is_of_its_layers_but_not_of_their_names():
    def convolved(name=None, *, twice=False, **changes):
        inputs = keras.Input((12, 12, 3))
        chosen = {"activation": "relu", "kernel_initializer": "ones"} | changes
        rows = keras.layers.Conv2D(2, 3, strides=3, **chosen)(inputs)
        return keras.Model(inputs, rows + rows if twice else rows, name=name)

    networks = [convolved(), convolved(), convolved("own")]
    networks += [convolved(activation="tanh"), convolved(twice=True), convolved(dtype="bfloat16")]
    first, *prints = (annotation_encoder(network).fingerprint for network in networks)
    assert prints[:2] == [first, first]
    assert len({first, *prints}) == 4


def test_layers_that_are_named_after_their_options_are_told_apart():
    def activated(function):
        inputs = keras.Input((12, 12, 3))
        rows = keras.layers.Conv2D(2, 3, strides=3, kernel_initializer="ones")(inputs)
        return keras.Model(inputs, keras.layers.Activation(function, name=function)(rows))

    names = ("relu", "tanh", "relu")
    first, other, again = (annotation_encoder(activated(name)).fingerprint for name in names)
    assert first == again != other


def test_a_layer_without_a_configuration_hides_no_other_layer():
    class Shift(keras.layers.Layer):
        def __init__(self, by):
            super().__init__()
            self.by = by

        def call(self, rows):
            return rows + self.by

    def shifted(activation):
        inputs = keras.Input((12, 12, 3))
        chosen = {"strides": 3, "kernel_initializer": "ones", "activation": activation}
        rows = keras.layers.Conv2D(2, 3, **chosen)(inputs)
        return keras.Model(inputs, Shift(np.ones(2, "float32"))(rows))

    with pytest.raises(RuntimeError, match="get_config"):
        shifted("relu").get_config()
    prints = [annotation_encoder(shifted(name)).fingerprint for name in ("relu", "tanh", "relu")]
    assert prints[0] == prints[2] != prints[1]


def test_a_network_of_a_class_without_a_configuration_is_taken():
    class Cells(keras.Model):
        def __init__(self, network):
            super().__init__()
            self.network = network

        def call(self, pictures):
            return self.network(pictures)

        def compute_output_shape(self, shape):
            return self.network.compute_output_shape(shape)

    network = Cells(small_network(12))
    network.build((None, 12, 12, 3))
    with pytest.raises(RuntimeError, match="get_config"):
        network.get_config()
    encoder = annotation_encoder(network, size=12)
    assert encoder.fingerprint != annotation_encoder(small_network(12)).fingerprint
    assert encoder(PICTURES[:, :12, :12]).shape == (2, 9, 5)


@pytest.mark.parametrize("network", ["squeezenet", "VGG16"])
def test_a_named_network_has_its_own_preprocessing(network):
    with pytest.raises(ValueError, match=f"preprocess must be left out with {network}, which has"):
        annotation_encoder(network, preprocess=lambda pictures: pictures)


def test_an_encoder_is_made_again_of_its_weights(encoder):
    values = {name: weight.numpy() for name, weight in encoder.named_weights.items()}
    again = restored_encoder(encoder.get_config(), values)
    np.testing.assert_array_equal(encoder(PICTURES), again(PICTURES))
    assert again.fingerprint == encoder.fingerprint
    with pytest.raises(ValueError, match=r"title must be SqueezeNet 1.1, got 'VGG16'"):
        restored_encoder(encoder.get_config() | {"title": "VGG16"}, values)
    del values["conv1/bias"]
    with pytest.raises(ValueError, match=r"values must hold all weights .* \['conv1/bias'"):
        restored_encoder(encoder.get_config(), values)
