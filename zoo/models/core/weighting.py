"""Targets and weights of examples, tokens and classes, on their way to the loss and the metrics.

Weights multiply losses; the divisor of the loss is the number of units, whatever they weigh, so
that parts of a batch, replicas and batches of an epoch still add up. ``weighted_metrics`` divide by
the weights, as in Keras.
"""

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

import keras
from keras import ops

from zoo.models.core.declared import DeclaredModel
from zoo.models.core.targets import (
    Targets,
    check_class_weights,
    check_values,
    check_weights,
    standard_targets,
    standard_weights,
)
from zoo.ops.masking import Tensor, at_least_float32, mask_from_ids


class WeightedModel(DeclaredModel):
    """A keras.Model that says which targets it has, and takes weights of them in all entries."""

    PREDICTION: ClassVar[str | None] = None
    """The output that a target without a name belongs to."""
    TARGETS: ClassVar[Targets | None] = None
    """The targets; None: unknown, so that their shapes are not checked, and only examples have
    weights."""

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """As in Keras; ``class_weight`` is for models whose targets are classes.

        Raises:
            ValueError: if weights do not fit the targets, or targets the inputs.
        """
        return super().fit(**self._checked(super().fit, *args, **kwargs))

    def evaluate(self, *args: Any, **kwargs: Any) -> Any:
        """As in Keras.

        Raises:
            ValueError: if weights do not fit the targets, or targets the inputs.
        """
        return super().evaluate(**self._checked(super().evaluate, *args, **kwargs))

    def train_on_batch(self, *args: Any, **kwargs: Any) -> Any:
        """As in Keras; ``class_weight`` is for models whose targets are classes.

        Raises:
            ValueError: if weights do not fit the targets, or targets the inputs.
        """
        return super().train_on_batch(**self._checked(super().train_on_batch, *args, **kwargs))

    def test_on_batch(self, *args: Any, **kwargs: Any) -> Any:
        """As in Keras.

        Raises:
            ValueError: if weights do not fit the targets, or targets the inputs.
        """
        return super().test_on_batch(**self._checked(super().test_on_batch, *args, **kwargs))

    def _checked(self, method: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The arguments of a call, by name; Keras' own errors would not say what was wrong."""
        arguments = inspect.signature(method).bind(*args, **kwargs)
        found = {name: value for name, value in arguments.arguments.items() if name != "kwargs"}
        found |= arguments.arguments.get("kwargs", {})
        arrays = [(found.get("x"), found.get("y"), found.get("sample_weight"))]
        if isinstance(found.get("validation_data"), tuple | list):
            arrays.append(keras.utils.unpack_x_y_sample_weight(found["validation_data"]))
        for inputs, targets, weights in arrays:
            if inputs is not None:
                self.check_arrays(inputs)
            check_values(self.TARGETS, self._count_of_answers(), targets, inputs)
            if targets is not None and weights is not None:
                check_weights(self.TARGETS, targets, weights)
        if found.get("class_weight") is not None:
            weights = check_class_weights(self.TARGETS, self, found["class_weight"])
            found["class_weight"] = weights
        return found

    def _count_of_answers(self) -> int | None:
        """Number of classes, or of ids where tokens are the targets; None: unknown."""
        if self.TARGETS is not None and self.TARGETS.tokens:
            kind = self.input_kinds().get(self.TARGETS.tokens)
            return getattr(kind, "size", None)
        return getattr(self, "classes", None)

    def standard_data(self, data: Any, outputs: Any = None) -> tuple[Any, Any, Any]:
        """Inputs, targets and weights of a step, as the model and its loss expect them.

        Args:
            data: as ``fit`` got it.
            outputs: of the model. Sizes of targets are compared with theirs, if there are no
                inputs.
        """
        x, y, weights = keras.utils.unpack_x_y_sample_weight(data)
        if x is not None:
            x = self.checked_batch(x)
        like = x if outputs is None or x is not None else self._like_inputs(outputs)
        y = standard_targets(self.TARGETS, like, y, self._count_of_answers())
        return x, y, standard_weights(self.TARGETS, y, weights)

    def _like_inputs(self, outputs: Any) -> Any:
        """Tensors that have as many examples, and steps, as the inputs."""
        kind = self.TARGETS
        if kind is None or not isinstance(outputs, Mapping):
            return outputs
        if kind.positions:
            return {kind.positions: ops.ones_like(outputs[kind.names[0]], dtype="int32")}
        name = "losses" if self.PREDICTION not in outputs else self.PREDICTION
        values = outputs.get(name)
        if values is None:
            return outputs
        return {kind.tokens or kind.steps or name: values}

    def compute_metrics(
        self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None
    ) -> dict[str, Tensor]:
        """Updates compiled metrics with those outputs that have a target.

        A target without a name belongs to the output ``PREDICTION``.

        Raises:
            ValueError: if a metric is named for an output that has no target, or as in ``fit``.
        """
        if self._compile_metrics is None:
            return super().compute_metrics(x, y, y_pred, sample_weight)
        x, y, sample_weight = self.standard_data((x, y, sample_weight), y_pred)
        if not isinstance(y, Mapping) and self.PREDICTION is not None:
            y = {self.PREDICTION: y}
        if isinstance(y, Mapping):
            for argument in ("metrics", "weighted_metrics"):
                named = getattr(self._compile_metrics, f"_user_{argument}")
                if isinstance(named, Mapping) and (unknown := sorted(set(named) - set(y))):
                    raise ValueError(f"{argument} must name some of {sorted(y)}, got {unknown}")
            y, sample_weight = _of_outputs(y, sample_weight, y_pred)
            y_pred = {name: _precise(y_pred[name]) for name in y}
            y, y_pred = _with_last_axis(y, y_pred)
            if self.PREDICTION in y and (real := self.real_targets(y[self.PREDICTION])) is not None:
                y_pred[self.PREDICTION]._keras_mask = real
                if sample_weight is not None and self.TARGETS is not None and self.TARGETS.steps:
                    sample_weight = sample_weight[:, None]  # (B, 1), beside the mask's (B, T)
        return super().compute_metrics(x, y, y_pred, sample_weight)

    def real_targets(self, targets: Tensor) -> Tensor | None:
        """Marks the targets that a compiled metric counts: bool of their shape; None: all.

        Among the targets of tokens, padding does not count.
        """
        return mask_from_ids(targets) if self.TARGETS is not None and self.TARGETS.tokens else None


def _of_outputs(
    targets: Mapping[str, Tensor], weights: Any, outputs: Mapping[str, Tensor]
) -> tuple[dict[str, Tensor], Any]:
    """Leaves out targets, and their weights, that are of no output; the loss may use them."""
    kept = {name: values for name, values in targets.items() if name in outputs}
    if isinstance(weights, Mapping):
        weights = {name: weights[name] for name in kept}
    return kept, weights


def _precise(output: Tensor) -> Tensor:
    """An output in 32 bits at least: Keras compares ids in its dtype, and 16 bits hold few."""
    return at_least_float32(output) if keras.backend.is_float_dtype(output.dtype) else output


def _with_last_axis(
    targets: Mapping[str, Tensor], outputs: Mapping[str, Tensor]
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Gives values (B,) and their targets the shape (B, 1).

    Metrics of Keras take means over the last axis, so that (B,) would count as one example.
    """
    targets, outputs = dict(targets), dict(outputs)
    for name in targets:
        if len(targets[name].shape) == len(outputs[name].shape) == 1:
            targets[name] = ops.expand_dims(targets[name], -1)
            outputs[name] = ops.expand_dims(outputs[name], -1)
    return targets, outputs
