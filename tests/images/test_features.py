"""Annotations are computed once, and a file of them is whole or not there."""

import logging

import keras
import numpy as np
import pytest

from tests.images.files import encoded
from zoo.data.picture_files import PictureFiles
from zoo.images.encoders import annotation_encoder
from zoo.images.features import cached_annotations

LOGGER = logging.getLogger("tests.features")
GENERATOR = np.random.default_rng(2)
PICTURES = GENERATOR.integers(0, 256, (70, 8, 8, 3), dtype=np.uint8)
FILES = [encoded(pixels, "PNG") for pixels in PICTURES]


def files(contents=FILES, read=()):
    """Pictures that note down in a list which of them is read."""

    def reading(row):
        if isinstance(read, list):
            read.append(row)
        return contents[row]

    return PictureFiles([f"{row}.png" for row in range(len(contents))], reading)


def encoder_of(scale=1.0):
    pictures = keras.Input((8, 8, 3))
    vectors = keras.layers.AveragePooling2D(4)(pictures)
    kernel = keras.initializers.Constant(scale / 255)
    outputs = keras.layers.Conv2D(2, 1, kernel_initializer=kernel)(vectors)
    return annotation_encoder(keras.Model(pictures, outputs, name="means"))


def test_annotations_are_those_of_the_encoder_in_order(tmp_path):
    found = cached_annotations(files(), encoder_of(), LOGGER, tmp_path)
    assert (found.shape, found.dtype) == ((70, 4, 2), np.float16)
    cells = PICTURES.reshape(70, 2, 4, 2, 4, 3).mean(axis=(2, 4)).sum(axis=-1) / 255
    np.testing.assert_allclose(found[..., 0], cells.reshape(70, 4), rtol=2e-3)
    assert not found.flags.writeable


def test_they_are_computed_once_for_each_encoder_and_each_list_of_contents(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    for _ in range(2):
        cached_annotations(files(), encoder_of(), LOGGER, tmp_path)
    assert len([*tmp_path.iterdir()]) == len(caplog.records) == 1
    cached_annotations(files(), encoder_of(2.0), LOGGER, tmp_path)
    cached_annotations(files(FILES[::-1]), encoder_of(), LOGGER, tmp_path)
    assert len([*tmp_path.iterdir()]) == 3
    reversed_again = cached_annotations(files(FILES[::-1]), encoder_of(), LOGGER, tmp_path)
    expected = cached_annotations(files(), encoder_of(), LOGGER, tmp_path)
    np.testing.assert_array_equal(reversed_again, expected[::-1])


def test_nothing_is_left_of_a_list_with_a_damaged_picture(tmp_path):
    damaged = [*FILES[:66], FILES[66][:-30], *FILES[67:]]
    with pytest.raises(ValueError, match=r"66\.png: Invalid PNG data"):
        cached_annotations(files(damaged), encoder_of(), LOGGER, tmp_path)
    assert not [*tmp_path.iterdir()]


def test_annotations_beyond_float16_are_refused(tmp_path):
    with pytest.raises(ValueError, match="annotations must be finite in float16"):
        cached_annotations(files(), encoder_of(1e6), LOGGER, tmp_path)


def test_a_file_of_other_numbers_is_refused(tmp_path):
    cached_annotations(files(), encoder_of(), LOGGER, tmp_path)
    (path,) = tmp_path.iterdir()
    np.save(path, np.zeros((70, 4, 3), np.float16))
    with pytest.raises(ValueError, match=r"must hold float16 \(70, 4, 2\), got float16 \(70, 4, 3"):
        cached_annotations(files(), encoder_of(), LOGGER, tmp_path)
