"""Sinusoids as in section 3.5, and learned vectors."""

import numpy as np
import pytest

from tests.references.transformer import position
from zoo.models.transformer.positions import LearnedPositions, SinusoidalPositions, sinusoids


@pytest.mark.parametrize("dim", [1, 6, 7])
def test_sinusoids_are_those_of_the_paper(dim):
    expected = np.array([position(p, dim) for p in (0, 1, 5, 900)])
    actual = sinusoids(np.array([0, 1, 5, 900]), dim, "float64")
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)
    single = SinusoidalPositions(dim)(np.array([[0, 1], [5, 900]], "int32"))
    assert single.dtype == "float32"
    np.testing.assert_allclose(single, expected.reshape(2, 2, dim), atol=1e-4)


def test_half_precision_rounds_once():
    layer = SinusoidalPositions(8, dtype="mixed_bfloat16")
    positions = np.arange(300)
    exact = sinusoids(positions, 8).numpy()
    actual = layer(positions)
    assert actual.dtype == "bfloat16"
    np.testing.assert_allclose(actual.numpy().astype("float32"), exact, atol=4e-3)


@pytest.mark.parametrize("distance", [1, 4])
def test_a_distance_is_a_rotation_of_every_pair_wherever_it_begins(distance):
    dim, starts = 8, np.arange(20)
    here, there = (sinusoids(p, dim, "float64").numpy() for p in (starts, starts + distance))
    for pair in range(dim // 2):
        angle = distance / 10_000 ** (2 * pair / dim)
        rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        columns = slice(2 * pair, 2 * pair + 2)
        np.testing.assert_allclose(there[:, columns], here[:, columns] @ rotation.T, atol=1e-12)


def test_learned_positions_end_with_the_last():
    layer = LearnedPositions(3, 4)
    layer.build()
    vectors = layer.vectors.numpy()
    np.testing.assert_array_equal(layer(np.array([0, 2, 3, 70])), vectors[[0, 2, 2, 2]])
    assert len(np.unique(vectors)) == vectors.size


@pytest.mark.parametrize("layer", [SinusoidalPositions(4), LearnedPositions(3, 4, "ones")])
def test_a_configuration_makes_the_same_layer(layer):
    copy = type(layer).from_config(layer.get_config())
    assert copy.get_config() == layer.get_config()
