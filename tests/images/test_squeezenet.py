"""SqueezeNet against loops over its equations, and files of weights that do not fit."""

import keras
import numpy as np
import pytest

from tests.images.networks import FIRES, random_weights, write_weights
from zoo.images.squeezenet import build_squeezenet, find_squeezenet, load_squeezenet

WEIGHTS = random_weights()


def convolve(values, kernel, bias, stride=1):
    """A rectified convolution (H, W, C) without padding."""
    side = kernel.shape[0]
    rows, columns = ((length - side) // stride + 1 for length in values.shape[:2])
    out = np.zeros((rows, columns, kernel.shape[-1]))
    for row in range(rows):
        for column in range(columns):
            top, left = row * stride, column * stride
            patch = values[top : top + side, left : left + side]
            out[row, column] = np.maximum(np.tensordot(patch, kernel, 3) + bias, 0)
    return out


def pool(values):
    """The largest of 3 x 3, two apart."""
    rows, columns = ((length - 3) // 2 + 1 for length in values.shape[:2])
    out = np.zeros((rows, columns, values.shape[-1]))
    for row in range(rows):
        for column in range(columns):
            patch = values[2 * row : 2 * row + 3, 2 * column : 2 * column + 3]
            out[row, column] = patch.max(axis=(0, 1))
    return out


def network(picture):
    values = pool(convolve(picture, *WEIGHTS["conv1"], stride=2))
    for number in FIRES:
        narrow = convolve(values, *WEIGHTS[f"fire{number}/squeeze1x1"])
        padded = np.pad(narrow, ((1, 1), (1, 1), (0, 0)))
        values = np.concatenate(
            [
                convolve(narrow, *WEIGHTS[f"fire{number}/expand1x1"]),
                convolve(padded, *WEIGHTS[f"fire{number}/expand3x3"]),
            ],
            axis=-1,
        )
        values = pool(values) if number in (3, 5) else values
    return values


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = tmp_path_factory.mktemp("squeezenet") / "squeezenet_1.1_notop.h5"
    write_weights(found, WEIGHTS)
    return found


def test_it_equals_loops_over_its_equations(path):
    model = load_squeezenet(path)
    picture = np.random.default_rng(1).normal(size=(47, 40, 3))
    expected = network(picture)
    assert expected.shape == (2, 1, 512)
    np.testing.assert_allclose(model(picture[None].astype("float32"))[0], expected, atol=2e-4)


def test_sizes_of_the_paper():
    model = build_squeezenet(160)
    assert model.output_shape == (None, 9, 9, 512)
    assert model.count_params() == 722_496
    assert build_squeezenet(227).output_shape == (None, 13, 13, 512)


def test_channels_are_last_whatever_keras_is_set_to(monkeypatch):
    monkeypatch.setattr(keras.src.backend.config, "_IMAGE_DATA_FORMAT", "channels_first")
    assert keras.config.image_data_format() == "channels_first"
    assert build_squeezenet(160).output_shape == (None, 9, 9, 512)


def test_a_file_is_found_or_named(path):
    assert find_squeezenet(path.parent) == path
    with pytest.raises(FileNotFoundError, match=r"squeezenet_1.1_notop.h5: not found in"):
        find_squeezenet(path.parent / "elsewhere")


def test_files_that_do_not_fit_are_refused(path, tmp_path):
    with pytest.raises(FileNotFoundError):
        load_squeezenet(tmp_path / "none.h5")
    (tmp_path / "text.h5").write_text("no weights")
    with pytest.raises(ValueError, match=r"text.h5 must be a file in HDF5"):
        load_squeezenet(tmp_path / "text.h5")
    name, wrong = "fire5/expand3x3", tmp_path / "wrong.h5"
    kernel, bias = WEIGHTS[name]
    write_weights(wrong, WEIGHTS | {name: (kernel[..., :-1], bias)})
    told = r"fire5/expand3x3 must have a weight of the shape \(3, 3, 32, 128\), got \(3, 3, 32, 127"
    with pytest.raises(ValueError, match=told):
        load_squeezenet(wrong)
    write_weights(wrong, {one: both for one, both in WEIGHTS.items() if one != name})
    with pytest.raises(ValueError, match=r"fire5/expand3x3 must have a weight .* got none"):
        load_squeezenet(wrong)
