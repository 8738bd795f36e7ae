"""Scores that depend on the order of numbers alone, with equal numbers sharing their ranks."""

import numpy as np
import pandas as pd


def area_under_curve(scores: np.ndarray, positive: np.ndarray) -> float:
    """Area under the ROC curve: how often a positive example is above a negative one.

    Args:
        scores: (N,), higher for positive examples.
        positive: bool (N,).

    Returns:
        From 0 to 1; pairs with equal scores count half. NaN if all examples are of one class.

    Raises:
        ValueError: if a score is NaN, which has no rank, or there are not as many of both.
    """
    _check_as_many("positive", positive, "scores", scores)
    if np.isnan(np.asarray(scores, "float64")).any():
        raise ValueError("scores must be numbers, got NaN")
    positive = np.asarray(positive, bool)
    count, others = int(positive.sum()), int((~positive).sum())
    if not count or not others:
        return float("nan")
    above = _ranks(scores)[positive].sum() - count * (count + 1) / 2
    return float(above / (count * others))


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's correlation of two lists of numbers (N,): that of their ranks.

    Returns:
        From -1 to 1; NaN if all numbers of a list are equal, or one is NaN.

    Raises:
        ValueError: if there are not as many of both.
    """
    _check_as_many("second", second, "first", first)
    ranks = [_ranks(values) for values in (first, second)]
    centred = [one - one.mean() for one in ranks]
    norms = float(np.sqrt(np.prod([np.sum(one**2) for one in centred])))
    return float(np.sum(centred[0] * centred[1]) / norms) if norms else float("nan")


def _ranks(values: np.ndarray) -> np.ndarray:
    return pd.Series(np.asarray(values, "float64")).rank().to_numpy()


def _check_as_many(name: str, values: np.ndarray, name_of_others: str, others: np.ndarray) -> None:
    """Raises a ValueError unless both are lists of the same number of values."""
    shape, expected = np.shape(values), np.shape(others)
    if len(expected) != 1:
        raise ValueError(f"{name_of_others} must have the shape (N,), got {expected}")
    if shape != expected:
        raise ValueError(f"{name} must have the shape {expected} of {name_of_others}, got {shape}")
