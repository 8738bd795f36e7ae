"""Shapes of targets and of their weights.

Losses multiply and compare them element by element, and arrays of other shapes would broadcast: of
losses (B,) and weights (B, 1) there would be (B, B) products. So a shape that can only mean one
thing is brought to the standard one, and all others are refused: where shapes are known, when a
step is traced, and otherwise when it runs.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from keras import ops, tree

from zoo.models.core.asked import (
    as_array,
    assert_asked_steps,
    assert_asked_tokens,
    assert_bits,
    check_asked_steps,
    check_asked_tokens,
    check_positions,
    is_array,
)
from zoo.models.core.target_shapes import check_shape, check_spread, fitted, shape_of, with_axes
from zoo.ops.masking import Tensor


class Targets(NamedTuple):
    """The targets that a model is trained with; by default one integer an example, (B,)."""

    names: tuple[str, ...] = ()
    """Keys of the dict that they are; none: an array."""
    positions: str | None = None
    """Name of the input whose tokens these are positions of."""
    tokens: str | None = None
    """Name of the input each token of which has a target, (B, T)."""
    classes: bool = False
    """Whether a target is one of the model's ``classes``."""
    steps: str | None = None
    """Name of an input (B, T, ...). An example's one target has a vector for each of its steps,
    (B, T, n)."""
    width: int | None = None
    """Size n of those vectors; None: it is not known."""
    lengths: str | None = None
    """Name of the input that says how many of those steps are no padding; None: there is none."""
    bits: bool = False
    """Whether they hold 0, 1 or, where no answer is asked for, -1."""


def standard_targets(
    kind: Targets | None, inputs: Any, targets: Any, classes: int | None = None
) -> Any:
    """Targets in the shape that the loss expects.

    Args:
        kind: which targets the model has; None: unknown, they are returned as they are.
        inputs: of the model, in any structure; None: the targets' sizes are not compared to theirs.
        classes: number of classes, or of ids of tokens; None: it is not known.
        targets: (B,), (B, T) or (B, T, n) as ``kind`` says, or with one more axis of size one, as
            in Keras.

    Returns:
        The targets without that axis. Targets of other names than those of ``kind`` stay as they
        are.

    Raises:
        ValueError: if names are missing, or a shape differs.
        tensorflow.errors.InvalidArgumentError: likewise, for sizes that are only known in a run; or
            a class, a token or a position is negative, beyond the last one or no whole number; a
            bit is none; or padding has a target.
    """
    if kind is None:
        return targets
    _check_names(kind, targets)
    if inputs is None:
        return targets
    targets = tree.map_structure(_without_bool, targets)
    if kind.steps:
        return _targets_of_steps(kind, inputs, targets)
    if kind.names:
        return _named_targets(kind, inputs, targets)
    return _one_target(kind, inputs, targets, classes)


def _targets_of_steps(kind: Targets, inputs: Any, targets: Any) -> Tensor:
    """Targets (B, T, n) of an input's steps."""
    targets = fitted("targets", targets, inputs[kind.steps], 2, (kind.width,))
    if kind.bits:
        targets = assert_bits(targets)
    if kind.lengths and kind.lengths in inputs:
        targets = assert_asked_steps(targets, kind.lengths, inputs[kind.lengths])
    return targets


def _named_targets(kind: Targets, inputs: Any, targets: Any) -> dict[str, Tensor]:
    """Targets (B,) of several names, or (B, T) of tokens; those of other names stay."""
    like, axes = _like(kind, inputs)
    places = _places(inputs[kind.positions]) if kind.positions else None
    checked = {name: fitted(f"targets[{name!r}]", targets[name], like, axes) for name in kind.names}
    for name, values in checked.items():
        checked[name] = _counted(f"targets[{name!r}]", values, places)
    return {**targets, **checked}


def _one_target(kind: Targets, inputs: Any, targets: Any, classes: int | None) -> Tensor:
    """Targets (B,), or (B, T) of tokens."""
    like, axes = _like(kind, inputs)
    targets = fitted("targets", targets, like, axes)
    if kind.tokens or kind.classes:
        targets = _counted("targets", targets, classes)
    if kind.tokens:
        targets = assert_asked_tokens(targets, kind.tokens, ops.convert_to_tensor(like))
    return targets


def _like(kind: Targets, inputs: Any) -> tuple[Any, int]:
    """An input, and how many of its first axes targets have."""
    if kind.tokens:
        return inputs[kind.tokens], 2
    return next(one for one in tree.flatten(inputs) if one is not None), 1


def _check_names(kind: Targets, targets: Any) -> None:
    given = sorted(targets) if isinstance(targets, Mapping) else []
    if kind.names and not set(kind.names) <= set(given):
        came = given if isinstance(targets, Mapping) else type(targets).__name__
        raise ValueError(f"targets must be a dict of {sorted(kind.names)}, got {came}")
    if not kind.names and (targets is None or isinstance(targets, Mapping)):
        raise ValueError(f"targets must be one array, got {given or targets}")


def check_values(
    kind: Targets | None, classes: int | None, targets: Any, inputs: Any = None
) -> None:
    """Checks numbers in NumPy arrays; XLA would take another class for the last one.

    Args:
        kind: which targets the model has; None: unknown, and not checked.
        classes: number of the model's classes, or of ids of tokens.
        targets: of a batch or of a whole data set, arrays, tensors on the host, or columns of
            pandas; others are not checked.
        inputs: likewise; positions are compared with them.

    Raises:
        ValueError: if there is no such class, id or position, a bit is neither 0, 1 nor -1, or
            padding has a target.
    """
    if kind is None:
        return
    targets, inputs = (tree.map_structure(as_array, one) for one in (targets, inputs))
    if kind.positions and isinstance(targets, Mapping) and isinstance(inputs, Mapping):
        for name in kind.names:
            check_positions(name, targets.get(name), kind.positions, inputs.get(kind.positions))
    if is_array(targets):
        _check_numbers(kind, classes, targets, inputs if isinstance(inputs, Mapping) else {})


def _check_numbers(
    kind: Targets, classes: int | None, targets: np.ndarray, inputs: Mapping[str, Any]
) -> None:
    if (kind.classes or kind.tokens) and classes:
        of = "classes" if kind.classes else "ids"
        low, high, allowed = 0, classes - 1, f"at least 0 and below the {classes} {of}"
    elif kind.bits:
        low, high, allowed = -1, 1, "0, 1 or -1"
    else:
        return
    if (wrong := targets[~((targets >= low) & (targets <= high))]).size:
        raise ValueError(f"targets must be {allowed}, got {wrong[0]}")
    if (wrong := targets[targets != np.floor(targets)]).size:  # cut off, 1.5 would be class 1
        raise ValueError(f"targets must be whole numbers, got {wrong[0]}")
    if kind.tokens:
        check_asked_tokens(targets, kind.tokens, inputs.get(kind.tokens))
    if kind.lengths:
        check_asked_steps(targets, kind.width, kind.lengths, inputs.get(kind.lengths))


def check_weights(kind: Targets | None, targets: Any, weights: Any) -> None:
    """Checks names and shapes as far as they are known.

    Args:
        kind: which targets the model has; None: unknown, and only examples have weights.
        targets: arrays, of a batch or of a whole data set.
        weights: of examples, (B,) or (B, 1); of tokens, (B, T), if they have targets; or a dict of
            weights of examples, with the names of the targets.

    Raises:
        ValueError: if names or shapes differ.
    """
    if isinstance(weights, Mapping):
        given = sorted(name for name, one in weights.items() if one is not None)
        names = sorted(targets) if isinstance(targets, Mapping) else []
        if given != names or (kind is None and len(names) > 1):
            expected = f"one array or a dict of {names}" if names else "one array"
            raise ValueError(f"sample_weight must be {expected}, got a dict of {given}")
        for name in names:
            (batch, *_) = shape_of(targets[name])
            check_shape(f"sample_weight[{name!r}]", weights[name], [(batch,), (batch, 1)])
        return
    shape = shape_of(tree.flatten(targets)[0])
    lawful = [shape[:1], (*shape[:1], 1)]
    check_shape("sample_weight", weights, [*lawful, shape[:2]] if _of_tokens(kind) else lawful)


def standard_weights(kind: Targets | None, targets: Any, weights: Any) -> Any:
    """Weights of the structure and the shape of the targets that they belong to.

    Args:
        kind: as in ``check_weights``.
        targets: as ``standard_targets`` returned them.
        weights: as in ``check_weights``; None: no weights.

    Returns:
        Weights with the shape of the targets; (B,) if these are unknown; None if there are none.

    Raises:
        ValueError: if names or shapes differ.
        tensorflow.errors.InvalidArgumentError: likewise, for sizes that are only known in a run.
    """
    if weights is None:
        return None
    if isinstance(weights, Mapping):
        weights = {n: one if one is None else with_axes(one, 1) for n, one in weights.items()}
    else:
        weights = with_axes(weights, 2 if _of_tokens(kind) else 1)
    check_weights(kind, targets, weights)
    if _of_tokens(kind):
        weights = weights[:, None] if len(weights.shape) == 1 else weights
        with tf.control_dependencies(check_spread("sample_weight", weights, targets)):
            return ops.broadcast_to(tf.identity(weights), ops.shape(targets))
    if isinstance(weights, Mapping):
        named = {n: fitted(f"sample_weight[{n!r}]", weights[n], targets[n], 1) for n in targets}
        return named if kind is not None else next(iter(named.values()))
    if kind is not None and kind.names:
        return {name: fitted("sample_weight", weights, one, 1) for name, one in targets.items()}
    return fitted("sample_weight", weights, tree.flatten(targets)[0], 1)


def check_class_weights(
    kind: Targets | None, model: Any, class_weight: Mapping[int, float]
) -> dict[int, float]:
    """Weights of all classes, 1 for those without.

    Raises:
        ValueError: if the model's targets are no classes, or there is no such class.
    """
    if kind is None or not kind.classes:
        raise ValueError(
            f"class_weight must be None, got {dict(class_weight)}: the targets of "
            f"{type(model).__name__} are no classes; sample_weight weighs examples"
        )
    if unknown := sorted(set(class_weight) - set(range(model.classes))):
        raise ValueError(f"class_weight must name classes below {model.classes}, got {unknown}")
    return {number: class_weight.get(number, 1.0) for number in range(model.classes)}


def _of_tokens(kind: Targets | None) -> bool:
    return kind is not None and kind.tokens is not None


def _without_bool(values: Any) -> Tensor:
    """Returns True and False as 1 and 0, which can be compared with numbers."""
    values = ops.convert_to_tensor(values)
    return ops.cast(values, "int32") if values.dtype == "bool" else values


def _counted(name: str, values: Tensor, limit: Tensor | int | None) -> Tensor:
    """Returns numbers of classes, tokens or positions, all of which are below the limit.

    Counted from the end, -1, with which some data sets mark what has no label, would be a class.
    """
    lowest = tf.reduce_min(values)
    message = [f"{name} must not be negative, got", lowest]
    made = [tf.debugging.Assert(tf.reduce_all(values >= 0), message)]
    if values.dtype.is_floating:  # cut off, 1.5 would be class 1
        message = [f"{name} must be whole numbers, got", values]
        made.append(tf.debugging.Assert(tf.reduce_all(values == tf.floor(values)), message))
    if limit is not None:
        # In 64 bits: in 8 bits, 256 classes would be none.
        wide = values if values.dtype.is_floating else tf.cast(values, "int64")
        limit = tf.cast(limit, wide.dtype)
        message = [f"{name} must be below", limit, "got", values]
        made.append(tf.debugging.Assert(tf.reduce_all(wide < limit), message))
    with tf.control_dependencies(made):
        return tf.identity(values)


def _places(ids: Tensor) -> Tensor:
    """Numbers (B,) of the positions in ids (B, T) that a target can name: those of real tokens.

    A text without tokens has one, 0, for none: its loss is finite.
    """
    return tf.maximum(tf.reduce_sum(tf.cast(tf.not_equal(ids, 0), "int32"), axis=1), 1)
