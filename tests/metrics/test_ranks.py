"""Scores of ranks against counting."""

import numpy as np
import pytest

from zoo.metrics.ranks import area_under_curve, rank_correlation


def test_the_area_counts_pairs():
    generator = np.random.default_rng(0)
    scores = generator.integers(0, 6, 40).astype(float)
    positive = generator.random(40) < 0.4
    pairs = [
        1.0 if one > other else 0.5 if one == other else 0.0
        for one in scores[positive]
        for other in scores[~positive]
    ]
    np.testing.assert_allclose(area_under_curve(scores, positive), np.mean(pairs), rtol=1e-12)
    assert area_under_curve(np.arange(4), np.array([0, 0, 1, 1])) == 1
    assert np.isnan(area_under_curve(np.arange(3), np.ones(3, bool)))


def test_correlations_are_of_ranks():
    values = np.array([0.1, 5.0, 2.0, 2.5])
    assert rank_correlation(values, np.exp(values)) == pytest.approx(1)
    assert rank_correlation(values, -values) == pytest.approx(-1)
    # Without ties: 1 - 6 sum d^2 / (n (n^2 - 1)), d being 1, 0, 1, 0.
    assert rank_correlation(np.array([1, 2, 3, 4]), np.array([2, 9, 1, 10])) == pytest.approx(
        1 - 6 * (1 + 1 + 4 + 0) / 60
    )
    assert np.isnan(rank_correlation(values, np.ones(4)))


@pytest.mark.parametrize("place", [0, 3])
def test_nan_has_no_rank(place):
    scores = np.arange(4.0)
    scores[place] = np.nan
    with pytest.raises(ValueError, match="scores must be numbers, got NaN"):
        area_under_curve(scores, np.array([0, 0, 1, 1]))


def test_lists_of_other_lengths_are_refused():
    with pytest.raises(
        ValueError, match=r"^positive must have the shape \(3,\) of scores, got \(2,\)"
    ):
        area_under_curve([1.0, 2.0, 3.0], [True, False])
    with pytest.raises(
        ValueError, match=r"^second must have the shape \(3,\) of first, got \(1,\)"
    ):
        rank_correlation([1.0, 2.0, 3.0], [1.0])
    with pytest.raises(ValueError, match=r"^scores must have the shape \(N,\), got \(1, 2\)"):
        area_under_curve([[1.0, 2.0]], [[True, False]])
