"""The penalty: its zeros, its other form, and its two reductions."""

import numpy as np
import pytest

from tests.references.self_attentive import penalty
from zoo.models.self_attentive.redundancy import redundancy

GENERATOR = np.random.default_rng(1)
WEIGHTS = GENERATOR.dirichlet(np.ones(5), size=(4, 3))  # (B, r, T)


def test_it_is_zero_where_each_hop_has_one_word_of_its_own_and_only_there():
    one_hot = np.eye(5)[[[0, 3, 1], [0, 3, 3], [2, 4, 0]]]
    found = redundancy(one_hot).numpy()
    np.testing.assert_array_equal(found, [0.0, 2.0, 0.0])  # both entries of the two that are alike
    assert (redundancy(WEIGHTS).numpy() > 0.0).all()


def test_it_is_the_squared_norm_without_a_root():
    overlaps = WEIGHTS @ WEIGHTS.transpose(0, 2, 1)
    traces = overlaps.trace(axis1=1, axis2=2)
    expected = np.square(overlaps).sum(axis=(1, 2)) - 2 * traces + 3
    np.testing.assert_allclose(redundancy(WEIGHTS), expected, rtol=1e-12)


@pytest.mark.parametrize(("reduction", "factor"), [("sum", 1), ("mean", 9)])
def test_each_text_has_its_own(reduction, factor):
    found = redundancy(WEIGHTS, reduction).numpy()
    expected = [penalty(weights, reduction) for weights in WEIGHTS]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(found * factor, redundancy(WEIGHTS), rtol=1e-12)


def test_padding_adds_nothing_and_an_empty_text_has_the_norm_of_the_identity():
    padded = np.pad(WEIGHTS, [[0, 0], [0, 0], [0, 4]])
    np.testing.assert_allclose(redundancy(padded), redundancy(WEIGHTS), rtol=1e-12)
    np.testing.assert_array_equal(redundancy(np.zeros((1, 3, 5))), [3.0])


def test_half_precision_is_widened():
    found = redundancy(WEIGHTS.astype("float16"))
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, redundancy(WEIGHTS), rtol=1e-2)
