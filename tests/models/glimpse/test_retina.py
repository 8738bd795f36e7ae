"""The retina: patches, their averages, what lies outside, and what a look costs."""

import math

import numpy as np
import pytest
import tensorflow as tf

from tests.references.recurrent_attention import acuity, retina
from zoo.models.glimpse import retina as fast
from zoo.models.glimpse.retina import look_at, pixel_centres, retina_weights

GENERATOR = np.random.default_rng(4)
IMAGES = GENERATOR.random((3, 9, 7, 2))
LOCATIONS = np.array([[0.0, 0.0], [-1.0, 1.0], [0.31, -0.77]])


def seen(images, locations, size, scales):
    return look_at(tf.constant(images), tf.constant(locations), size, scales).numpy()


@pytest.mark.parametrize(("size", "scales"), [(2, 1), (3, 2), (4, 3)])
def test_patches_are_those_of_the_reference_on_any_image_size(size, scales):
    found = seen(IMAGES, LOCATIONS, size, scales)
    maps = retina_weights(tf.constant(LOCATIONS[:, None]), 9, 7, size, scales)
    assert found.shape == (3, scales, size, size, 2)
    for row, (image, location) in enumerate(zip(IMAGES, LOCATIONS, strict=True)):
        np.testing.assert_allclose(found[row], retina(image, location, size, scales))
        np.testing.assert_allclose(maps[row, 0], acuity(image.shape, location, size, scales))


def test_a_glimpse_at_the_centre_is_the_crop_of_the_centre():
    image = GENERATOR.random((1, 28, 28, 1))
    found = seen(image, np.zeros((1, 2)), 8, 1)
    np.testing.assert_array_equal(found[0, 0], image[0, 10:18, 10:18])


def test_rows_come_before_columns_and_the_corners_are_those_of_the_image():
    corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [0.5, 0.0]])
    centres = pixel_centres(tf.constant(corners), 20, 10).numpy()
    np.testing.assert_array_equal(centres, [[0, 0], [0, 10], [20, 0], [15, 5]])


def test_an_image_that_moves_with_the_location_looks_the_same():
    image, moved = np.zeros((1, 40, 40, 1)), np.zeros((1, 40, 40, 1))
    digit = GENERATOR.random((10, 10, 1))
    image[0, 10:20, 12:22] = digit
    moved[0, 17:27, 8:18] = digit
    location = np.array([[-0.22, -0.13]])
    shift = 2.0 * np.array([[7, -4]]) / 40
    before, after = seen(image, location, 4, 3), seen(moved, location + shift, 4, 3)
    assert before.any()
    np.testing.assert_allclose(after, before)


def test_there_are_zeros_outside():
    found = seen(np.ones((1, 8, 8, 1)), np.array([[-1.0, 1.0]]), 4, 2)[0, ..., 0]
    expected = np.zeros((4, 4))
    expected[2:, :2] = 1.0
    np.testing.assert_array_equal(found, [expected, expected])


def test_a_coarse_patch_is_the_mean_of_its_blocks():
    image = GENERATOR.random((1, 8, 8, 1))
    found = seen(image, np.zeros((1, 2)), 2, 3)[0, 2, ..., 0]
    expected = [[image[0, i : i + 4, j : j + 4].mean() for j in (0, 4)] for i in (0, 4)]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("narrow", [True, False])
def test_whole_rows_and_single_pixels_give_the_same_and_the_same_gradient(monkeypatch, narrow):
    images, used = tf.constant(IMAGES), []
    name = "_read_by_rows" if narrow else "_read_by_pixels"
    read = getattr(fast, name)
    monkeypatch.setattr(fast, name, lambda *args: used.append(name) or read(*args))
    monkeypatch.setattr(fast, "_NARROW", 100 if narrow else 0)
    with tf.GradientTape() as tape:
        tape.watch(images)
        found = look_at(images, tf.constant(LOCATIONS), 3, 2)
        total = tf.reduce_sum(found)
    assert used == [name]
    for row, (image, location) in enumerate(zip(IMAGES, LOCATIONS, strict=True)):
        np.testing.assert_allclose(found[row], retina(image, location, 3, 2))
    # A pixel counts by the patches that it is in, and one of a block of four by a quarter.
    shares = retina_weights(tf.constant(LOCATIONS[:, None]), 9, 7, 3, 2)[:, 0, :, :, None] * 2 * 9
    np.testing.assert_allclose(tape.gradient(total, images), shares * np.ones(2))


def elements_of_a_look(height: int, width: int) -> int:
    """Numbers that one look computes or copies."""
    images = tf.TensorSpec((5, height, width, 1))
    look = tf.function(lambda *given: look_at(*given, 6, 2), autograph=False)
    graph = look.get_concrete_function(images, tf.TensorSpec((5, 2))).graph
    copied = [op for op in graph.get_operations() if op.type not in {"Placeholder", "Reshape"}]
    return sum(math.prod(one.shape) for op in copied for one in op.outputs)


def test_the_cost_of_a_look_is_that_of_its_pixels_whatever_the_size_of_the_image():
    small, large = elements_of_a_look(90, 70), elements_of_a_look(500, 300)
    assert small == large
