"""Means over real positions."""

import numpy as np

from zoo.ops.pooling import masked_mean


def test_padding_counts_neither_above_nor_below():
    values = np.array([[[1.0, 2.0], [3.0, 6.0], [1e3, -1e3]], [[5.0, 7.0], [9.0, 9.0], [9.0, 9.0]]])
    mask = np.array([[True, True, False], [True, False, False]])
    np.testing.assert_allclose(masked_mean(values, mask), [[2.0, 4.0], [5.0, 7.0]])


def test_nothing_real_has_the_mean_zero():
    mean = masked_mean(np.full((1, 2, 3), 7.0), np.zeros((1, 2), bool))
    assert not np.array(mean).any()


def test_a_sum_beyond_float16_has_a_mean_within():
    values = np.full((1, 1000, 2), 100.0, "float16")
    mean = np.array(masked_mean(values, np.ones((1, 1000), bool)))
    assert mean.dtype == "float16"
    np.testing.assert_array_equal(mean, [[100.0, 100.0]])
