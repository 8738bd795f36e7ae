"""Weights of features beside what happens when the features are changed.

A weight is not a cause: the model may give a feature a large weight and a short vector. So weights
never stand alone here. Beside them are

- the drop of the output when a feature is set to its mean, or a category to the most frequent one;
- the drop when it is missing, which a model trained with ``feature_dropout`` is used to;
- permutation importance: how much the loss rises when the values of a feature are dealt out to
  other rows;

and the rank correlations of the weights with each of them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from zoo.metrics.ranks import rank_correlation
from zoo.tasks.tabular.columns import RowCodec
from zoo.tasks.tabular.examples import Answers, Asking, Rows

WEIGHT, MEAN, MISSING = "weight", "drop when set to its mean", "drop when missing"
PERMUTATION = "rise of the loss when permuted"


class Importance(NamedTuple):
    """Measures of the importance of each feature."""

    names: tuple[str, ...]
    measures: Mapping[str, np.ndarray]
    """Measure, the weight first -> (F,)."""

    def correlations(self) -> dict[str, float]:
        """Rank correlation of the weights with each other measure; NaN where all are equal."""
        weights, *others = self.measures
        return {
            name: rank_correlation(self.measures[weights], self.measures[name]) for name in others
        }

    def to_json(self) -> dict[str, Any]:
        """All numbers, ready for JSON; a correlation that there is not is None."""
        found: dict[str, Any] = {
            measure: dict(zip(self.names, map(float, values), strict=True))
            for measure, values in self.measures.items()
        }
        correlations = self.correlations().items()
        told = {name: None if np.isnan(value) else value for name, value in correlations}
        return found | {"rank correlation with the weights": told}


def typical_row(rows: np.ndarray, codec: RowCodec) -> np.ndarray:
    """The mean of each number and the most frequent of each category, of rows (N, F): (F,)."""
    numeric = len(codec.numeric)
    typical = np.zeros(rows.shape[1], "float32")
    for feature in range(rows.shape[1]):
        known = rows[~np.isnan(rows[:, feature]), feature]
        if not len(known):
            typical[feature] = np.nan
        elif feature < numeric:
            typical[feature] = known.mean()
        else:
            typical[feature] = np.bincount(known.astype(int)).argmax()
    return typical


def drops(ask: Asking, rows: np.ndarray, replacement: np.ndarray) -> np.ndarray:
    """How much the output drops when each feature is replaced: (N, F).

    Args:
        ask: the model.
        rows: (N, F)
        replacement: (F,), NaN for missing.

    Returns:
        Of classes, the drop of the probability of the class that the model chose; of values, the
        drop of the value in deviations. A negative drop is a rise.
    """
    before = ask(rows)
    chosen = _chosen(before, before)
    found = np.zeros(rows.shape, "float64")
    for feature, value in enumerate(replacement):
        changed = rows.copy()
        changed[:, feature] = value
        found[:, feature] = chosen - _chosen(ask(changed), before)
    return found


def _chosen(answers: Answers, before: Answers) -> np.ndarray:
    """The output that is watched: (N,)."""
    if answers.outputs.ndim == 1:
        return answers.outputs
    classes = before.outputs.argmax(axis=1)[:, None]
    return np.take_along_axis(answers.outputs, classes, axis=1)[:, 0]


def importance_of_row(
    ask: Asking, codec: RowCodec, row: np.ndarray, typical: np.ndarray
) -> Importance:
    """Measures the importance of the features of one row.

    Args:
        ask: the model.
        codec: of the rows.
        row: (F,)
        typical: as `typical_row` gives it of the data.
    """
    rows = row[None]
    nothing = np.full(len(row), np.nan, "float32")
    measures = {
        WEIGHT: ask(rows).weights[0],
        MEAN: drops(ask, rows, typical)[0],
        MISSING: drops(ask, rows, nothing)[0],
    }
    return Importance(codec.names, measures)


def importance_of_data(
    ask: Asking, codec: RowCodec, examples: Rows, *, repeats: int = 3, seed: int = 0
) -> Importance:
    """Measures the importance of the features for a whole data set.

    Args:
        ask: the model.
        codec: of the rows.
        examples: rows and targets.
        repeats: how often the values of a feature are dealt out anew.
        seed: of the draws.

    Returns:
        The mean weights, the mean sizes of the drops, and the rise of the mean loss.
    """
    rows = examples.rows
    nothing = np.full(rows.shape[1], np.nan, "float32")
    measures = {
        WEIGHT: ask(rows).weights.mean(axis=0),
        MEAN: np.abs(drops(ask, rows, typical_row(rows, codec))).mean(axis=0),
        MISSING: np.abs(drops(ask, rows, nothing)).mean(axis=0),
        PERMUTATION: _permutation(ask, examples, repeats, seed),
    }
    return Importance(codec.names, measures)


def _permutation(ask: Asking, examples: Rows, repeats: int, seed: int) -> np.ndarray:
    """Rise of the mean loss when a feature's values are dealt out to other rows: (F,)."""
    generator = np.random.default_rng(seed)
    rows, targets = examples
    before = ask(rows).losses(targets).mean()
    found = np.zeros(rows.shape[1])
    for feature in range(rows.shape[1]):
        for _ in range(repeats):
            changed = rows.copy()
            changed[:, feature] = generator.permutation(changed[:, feature])
            found[feature] += (ask(changed).losses(targets).mean() - before) / repeats
    return found


def found_features(weights: np.ndarray, relevant: np.ndarray) -> dict[str, float]:
    """Compares weights with features that are known to be relevant.

    Args:
        weights: (N, F)
        relevant: bool (N, F), one at least in each row.

    Returns:
        In percent, of the rows' k largest weights, k being the number of relevant features,
        ``found``: the relevant features among them (the rest of the k are false, so the false
        discovery rate is 100 less this); and of all weights above 1 / F ``found_above`` and
        ``false_above``, the share of false ones among them.
    """
    counts = relevant.sum(axis=1)
    order = np.argsort(-weights, axis=1, kind="stable")
    ranks = np.argsort(order, axis=1, kind="stable")
    largest = ranks < counts[:, None]
    above = weights > 1 / weights.shape[1]
    return {
        "found": 100 * _mean((relevant & largest).sum(axis=1) / counts),
        "found_above": 100 * _mean((relevant & above).sum(axis=1) / counts),
        "false_above": 100 * _mean((~relevant & above).sum(axis=1) / np.maximum(above.sum(1), 1)),
    }


def _mean(values: Sequence[float] | np.ndarray) -> float:
    return float(np.mean(values))
