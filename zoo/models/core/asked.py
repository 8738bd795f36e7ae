"""Where targets can be: at real tokens and steps, and nowhere on padding.

Outputs on padding depend on no weight, or on the vector of padding. Losses of targets there would
count, and no training could lower them.

Shape letters: B examples, T tokens or steps, n numbers of a step.
"""

from typing import Any, TypeGuard

import numpy as np
import tensorflow as tf

from zoo.models.core.input_checks import is_on_host
from zoo.ops.masking import Tensor

NOT_ASKED_TOKEN, NOT_ASKED_BIT = 0, -1
"""Targets that stand for none: of a token, and of a step."""


def check_asked_tokens(targets: np.ndarray, tokens: str, ids: Any) -> None:
    """Raises a ValueError if a token of padding has a target.

    Args:
        targets: ids (B, T), or (B, T, 1).
        tokens: name of the input whose tokens have them.
        ids: that input, (B, T). An array of another shape is not looked at: the step refuses it.
    """
    if not is_array(ids) or targets.shape not in (ids.shape, (*ids.shape, 1)):
        return
    asked = targets.reshape(ids.shape) != NOT_ASKED_TOKEN
    wrong = targets[asked & (ids == 0)]
    if wrong.size:
        raise ValueError(f"targets must be 0 where {tokens} is padding, got {wrong.flat[0]}")


def check_asked_steps(targets: np.ndarray, width: int | None, lengths: str, ends: Any) -> None:
    """Raises a ValueError if a step of padding has a target.

    Args:
        targets: (B, T, n), or (B, T, n, 1).
        width: n; None: it is not known.
        lengths: name of the input that says how many steps are no padding.
        ends: that input, (B,). Arrays of other shapes are not looked at: the step refuses them.
    """
    size = targets.shape[2:3] or (0,)
    if not is_array(ends) or ends.shape != targets.shape[:1] or size != (width or size[0],):
        return
    beyond = np.arange(targets.shape[1]) >= ends[:, None]  # (B, T)
    wrong = targets[beyond]
    if (wrong := wrong[wrong != NOT_ASKED_BIT]).size:
        raise ValueError(
            f"targets must be {NOT_ASKED_BIT} at the padding behind the {lengths}, got {wrong[0]}"
        )


def check_positions(name: str, targets: Any, of: str, ids: Any) -> None:
    """Raises a ValueError for a position that is none of the real tokens.

    Where there are none, 0 stands for no position.

    Args:
        name: of the targets.
        targets: positions (B,) or (B, 1); others are not looked at.
        of: name of the input.
        ids: that input, (B, T).
    """
    if not (is_array(targets) and is_array(ids)) or ids.ndim != 2:
        return
    if targets.shape not in ((len(ids),), (len(ids), 1)):
        return  # refused for that by the step
    places, lengths = targets.reshape(-1), np.sum(ids != 0, axis=1)
    (wrong,) = np.nonzero(~((places >= 0) & (places < np.maximum(lengths, 1))))
    if wrong.size:
        tokens = lengths[wrong[0]]
        expected = f"at least 0 and below the {tokens} tokens of {of}"
        if not tokens:
            expected = f"0, where {of} has no tokens"
        raise ValueError(f"targets[{name!r}] must be {expected}, got {places[wrong[0]]}")


def as_array(values: Any) -> Any:
    """Returns tensors whose numbers are known, and columns, as arrays of NumPy; others as is."""
    if hasattr(values, "to_numpy"):
        return values.to_numpy()
    return np.asarray(values) if isinstance(values, tf.Tensor) and is_on_host(values) else values


def is_array(values: Any) -> TypeGuard[np.ndarray]:
    """Tells whether values are numbers of NumPy."""
    return isinstance(values, np.ndarray) and values.dtype.kind in "biuf"


def assert_asked_tokens(targets: Tensor, tokens: str, ids: Any) -> Tensor:
    """Returns targets (B, T), none of which is that of padding in ids (B, T), checked in a run."""
    if not ids.dtype.is_integer:  # outputs of the model, in place of inputs
        return targets
    asked = targets != tf.cast(NOT_ASKED_TOKEN, targets.dtype)
    lawful = tf.reduce_all((ids != 0) | ~asked)
    return _once(lawful, targets, f"targets must be 0 where {tokens} is padding, got")


def assert_bits(targets: Tensor) -> Tensor:
    """Returns targets that are 0, 1 or, where nothing is asked, -1, checked in a run."""
    targets = tf.convert_to_tensor(targets)
    if targets.dtype.is_unsigned:  # as such a number, -1 is another one
        targets = tf.cast(targets, "int32")
    known = [targets == tf.cast(value, targets.dtype) for value in (0, 1, NOT_ASKED_BIT)]
    lawful = tf.reduce_all(known[0] | known[1] | known[2])
    return _once(lawful, targets, "targets must be 0, 1 or -1, got")


def assert_asked_steps(targets: Tensor, name: str, lengths: Any) -> Tensor:
    """Returns targets (B, T, n), none of which is beyond its length, (B,), checked in a run."""
    steps = tf.range(tf.shape(targets)[1])
    beyond = steps >= tf.cast(lengths, steps.dtype)[:, None]  # (B, T)
    asked = targets != tf.cast(NOT_ASKED_BIT, targets.dtype)
    lawful = ~tf.reduce_any(asked & beyond[..., None])
    return _once(lawful, targets, f"targets must be -1 at the padding behind the {name}, got")


def _once(lawful: Tensor, targets: Tensor, message: str) -> Tensor:
    with tf.control_dependencies([tf.debugging.Assert(lawful, [message, targets])]):
        return tf.identity(targets)
