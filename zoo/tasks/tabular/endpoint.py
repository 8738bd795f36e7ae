"""Columns by name in, a label or a value and the weights of the features out."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from zoo.models.core.axes import Axes, Listed
from zoo.models.core.base import BaseModel
from zoo.serving.export import Endpoint
from zoo.tasks.shared.endpoints import attention_maps, map_axes, same_batch
from zoo.tasks.tabular.columns import RowCodec
from zoo.tasks.tabular.numeric_texts import MISSING, NUMBER
from zoo.text.white_space import strip

NAMES = "row_features"
"""Output with the names of the features, in the order of their weights."""
WEIGHTS = "weights"
"""Output with the weights of the features."""
AXES: dict[str, Axes] = {name: (Listed(NAMES),) for name in (NAMES, WEIGHTS)}
"""The meaning of their last axes."""


class Target(NamedTuple):
    """The column that is predicted."""

    column: str
    labels: tuple[str, ...] = ()
    """Names of the classes; none: a value is predicted."""
    mean: float = 0.0
    """Mean of a value; the model predicts how many deviations it is above."""
    deviation: float = 1.0


class TabularEndpoint:
    """One tensor a column in; label or value, weights and names of the features out.

    Args:
        model: a built model of rows, which gives ``logits`` or a ``value``.
        codec: as in training.
        target: as in training.

    Raises:
        ValueError: labels of which two are alike, or another number of them than the model's.
    """

    def __init__(self, model: BaseModel, codec: RowCodec, target: Target) -> None:
        classes = getattr(model, "classes", None) or 0
        if len({*target.labels}) != len(target.labels) or len(target.labels) != classes:
            raise ValueError(f"labels must be {classes} different names, got {list(target.labels)}")
        self.model = model
        self.codec = codec
        self.target = target

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes; none of a model that predicts values."""
        return self.target.labels

    @property
    def limits(self) -> dict[str, int]:
        """Nothing is cut."""
        return {}

    @property
    def assets(self) -> list[tf.Module]:
        """Everything is in the graph."""
        return []

    def get_config(self) -> dict[str, Any]:
        """How columns become features, and what is predicted, for the model card."""
        target = self.target._asdict() | {"labels": [*self.target.labels]}
        return self.codec.get_config() | {"target": target}

    @classmethod
    def from_config(cls, model: BaseModel, config: Mapping[str, Any]) -> "TabularEndpoint":
        """Makes the endpoint of what `get_config` gave."""
        target = dict(config["target"])
        labels = tuple(target.pop("labels"))
        return cls(model, RowCodec.from_config(config), Target(labels=labels, **target))

    @property
    def axes(self) -> dict[str, Axes]:
        """The meaning of the last axes of the outputs."""
        return AXES | map_axes(self.model)

    def endpoints(self) -> dict[str, Endpoint]:
        """The signatures to export, as `zoo.serving.export.export_servable` takes them."""
        texts = [tf.TensorSpec([None], tf.string, name=name) for name in self.codec.inputs]
        return {
            "serving_default": Endpoint(self.serve, self.codec.specs(), self.axes),
            "strings": Endpoint(self.serve_strings, texts, self.axes),
        }

    def serve(self, *columns: tf.Tensor) -> dict[str, tf.Tensor]:
        """Answers for a batch of rows.

        Args:
            *columns: (batch,) one tensor a column, in the order of the codec: float32 or float64,
                NaN being missing, or strings, of which "" and all that training did not know are
                missing.

        Returns:
            A flat dict:
            `label` (batch,) string and `probabilities` (batch, C) float32, or `value` (batch,);
            `weights` (batch, F) float32, 0 where missing; `attention_features` (batch, 1, F), the
            same as the model's map;
            `row_features` (batch, F) string, the names of the columns.

        Raises:
            tf.errors.InvalidArgumentError: columns differ in their length.
        """
        checked = same_batch(**dict(zip(self.codec.inputs, columns, strict=True)))
        outputs = self.model({"row": self.codec.read(*checked)}, training=False)
        maps = attention_maps(outputs)
        weights = maps["attention_features"][:, 0]  # (batch, F)
        names = tf.broadcast_to(tf.constant(self.codec.names), tf.shape(weights))
        return self._answer(outputs) | maps | {WEIGHTS: weights, NAMES: names}

    def serve_strings(self, *columns: tf.Tensor) -> dict[str, tf.Tensor]:
        """Answers for rows of strings, as of a CSV file; "" is missing in any column.

        Args:
            *columns: (batch,) strings.

        Returns:
            As `serve`.

        Raises:
            tf.errors.InvalidArgumentError: likewise, or a string of a numeric column is no finite
                number in decimal digits.
        """
        numeric = len(self.codec.numeric)
        inputs = self.codec.inputs[:numeric]
        numbers = [_to_number(*one) for one in zip(inputs, columns[:numeric], strict=True)]
        return self.serve(*numbers, *columns[numeric:])

    def _answer(self, outputs: Mapping[str, Any]) -> dict[str, tf.Tensor]:
        if not self.labels:
            value = tf.cast(outputs["value"], tf.float32)
            return {"value": value * self.target.deviation + self.target.mean}
        logits = tf.cast(outputs["logits"], tf.float32)
        return {
            "label": tf.gather(tf.constant(self.labels), tf.argmax(logits, axis=-1)),
            "probabilities": tf.nn.softmax(logits),
        }


def _to_number(name: str, strings: tf.Tensor) -> tf.Tensor:
    """Reads numbers (batch,) in float64, NaN where there is none; others than tables have fail."""
    stripped = strip(strings)
    missing = tf.reduce_any(stripped[:, None] == tf.constant(sorted(MISSING))[None], axis=1)
    decimal = tf.strings.regex_full_match(stripped, NUMBER)
    # `tf.strings.to_number` would stop at others with an error that names no column.
    numbers = tf.strings.to_number(tf.where(decimal, stripped, "0"), tf.float64)
    right = missing | (decimal & tf.math.is_finite(numbers))
    wrong = tf.boolean_mask(strings, ~right)
    told = [f"{name} must be finite numbers in decimal digits, got", wrong]
    check = tf.debugging.Assert(tf.reduce_all(right), told)
    with tf.control_dependencies([] if check is None else [check]):  # None: checked eagerly
        return tf.where(missing, tf.constant(float("nan"), tf.float64), numbers)
