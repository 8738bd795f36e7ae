"""Rows of a table with their targets: batches, answers and scores."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import keras
import numpy as np
import pandas as pd
import tensorflow as tf

from zoo.metrics.ranks import area_under_curve
from zoo.tasks.tabular.columns import RowCodec, to_categories, to_numbers
from zoo.tasks.tabular.endpoint import Target
from zoo.text.batching import BucketedBatches

_ROWS = 4096  # asked at a time


class Rows(NamedTuple):
    """Encoded rows and their targets."""

    rows: np.ndarray
    """float32 (N, F)"""
    targets: np.ndarray
    """int32 (N,) classes, or float32 (N,) values in deviations above the mean."""

    def batches(self, batch_size: int, seed: int = 0) -> BucketedBatches:
        """Makes the batches of a training, in an order that depends on seed and epoch."""
        columns = {"row": self.rows, "target": self.targets}
        lengths = np.ones(len(self.rows), np.int64)
        return BucketedBatches(columns, ("row",), "target", lengths, batch_size, seed)


def encode_rows(table: pd.DataFrame, codec: RowCodec, target: Target) -> Rows:
    """Encodes a table.

    Raises:
        ValueError: there is no row, a column is missing, or a target is no class or no number;
            names column and row, as the table's index does.
    """
    if not len(table):
        raise ValueError("table must have at least one row, got none")
    if target.column not in table:
        raise ValueError(f"table must have the target {target.column!r}, got {[*table.columns]}")
    column = table[target.column]
    if not target.labels:
        values = to_numbers(column)
        _check(column, ~np.isnan(values), "a finite number")
        return Rows(codec.encode(table), ((values - target.mean) / target.deviation).astype("f4"))
    names = to_categories(column, target.labels)
    numbers = names.map({name: number for number, name in enumerate(target.labels)})
    _check(column, numbers.notna().to_numpy(), f"one of {', '.join(map(repr, target.labels))}")
    return Rows(codec.encode(table), numbers.to_numpy("int32"))


def _check(column: pd.Series, right: np.ndarray, expected: str) -> None:
    if not right.all():
        row = int((~right).argmax())
        raise ValueError(
            f"{column.name} of row {column.index[row]} must be {expected}, got {column.iloc[row]!r}"
        )


class Answers(NamedTuple):
    """Outputs and weights of a model for rows."""

    outputs: np.ndarray
    """Probabilities (N, C), or values (N,) in deviations above the mean."""
    weights: np.ndarray
    """(N, F)"""

    def losses(self, targets: np.ndarray) -> np.ndarray:
        """Cross entropy of each row, or half its squared error: (N,)."""
        if self.outputs.ndim == 1:
            return np.asarray(0.5 * (self.outputs - targets) ** 2)
        chosen = np.take_along_axis(self.outputs, targets[:, None], axis=1)[:, 0]
        return np.asarray(-np.log(np.maximum(chosen, 1e-30)))


class Asking:
    """Asks a model about encoded rows; one graph for any number of them."""

    def __init__(self, model: keras.Model) -> None:
        spec = tf.TensorSpec([None, None], tf.float32)
        self._graph: Callable[..., Any] = tf.function(
            self._outputs, input_signature=[spec], autograph=False
        )
        self._model = model

    def __call__(self, rows: np.ndarray) -> Answers:
        """Answers for rows (N, F), one at least."""
        parts = [self._graph(rows[i : i + _ROWS]) for i in range(0, len(rows), _ROWS)]
        outputs, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Answers(outputs, weights)

    def _outputs(self, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        features = self._model.input_kinds()["row"].shape[0]
        outputs = self._model({"row": tf.ensure_shape(rows, [None, features])}, training=False)
        weights = tf.cast(outputs["attention"]["features"][:, 0], tf.float32)
        if "value" in outputs:
            return tf.cast(outputs["value"], tf.float32), weights
        return tf.nn.softmax(tf.cast(outputs["logits"], tf.float32)), weights


class TabularEvaluator:
    """Scores a model of rows.

    Args:
        model: a built model; it is scored as it is when this is called.
        examples: what it is scored on.
        target: what is predicted.
    """

    def __init__(self, model: keras.Model, examples: Rows, target: Target) -> None:
        self.examples = examples
        self.target = target
        self._ask = Asking(model)

    def __call__(self) -> Mapping[str, float]:
        """Returns the scores of `scores`."""
        return scores(self._ask(self.examples.rows), self.examples.targets, self.target)


def scores(answers: Answers, targets: np.ndarray, target: Target) -> dict[str, float]:
    """Scores answers.

    Returns:
        Of classes ``accuracy`` in percent, ``loss``, the mean cross entropy, and of two of them
        ``auc``, from 0 to 1; of values ``rmse`` in the target's unit, ``r2`` and ``loss``.
    """
    loss = float(answers.losses(targets).mean())
    if not target.labels:
        error = float(np.mean((answers.outputs - targets) ** 2))
        spread = float(np.var(targets))
        r2 = 1 - error / spread if spread else float("nan")
        return {"rmse": error**0.5 * target.deviation, "r2": r2, "loss": loss}
    right = answers.outputs.argmax(axis=1) == targets
    found = {"accuracy": 100 * float(right.mean()), "loss": loss}
    if len(target.labels) == 2:
        found["auc"] = area_under_curve(answers.outputs[:, 1], targets == 1)
    return found
