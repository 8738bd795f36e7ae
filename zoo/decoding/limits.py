"""Limits of a search: forbidden tokens, and output lengths."""

from typing import NamedTuple

import tensorflow as tf

from zoo.decoding.protocol import Number
from zoo.text.vocabulary import SPECIAL_WORDS

SPECIALS = len(SPECIAL_WORDS)


class Limits(NamedTuple):
    """Limits of each sentence."""

    minimum: tf.Tensor
    """int32 (B,): ``</s>`` is forbidden until so many tokens are written."""
    maximum: tf.Tensor
    """int32 (B,): the search stops when so many tokens are written, ``</s>`` included."""
    forbid_unknown: bool | tf.Tensor

    def of(self, places: tf.Tensor) -> "Limits":
        """Returns the limits of the sentences at ``places``, int32 (A,)."""
        minimum, maximum = (tf.gather(length, places) for length in (self.minimum, self.maximum))
        return Limits(minimum, maximum, self.forbid_unknown)

    def forbidden(self, step: tf.Tensor) -> tf.Tensor:
        """Marks which of the four special ids are forbidden after ``step`` tokens: bool (B, 4).

        Padding and ``<s>`` are always forbidden.
        """
        end = step < self.minimum
        never = tf.zeros_like(end)
        always = ~never
        return tf.stack([always, never | self.forbid_unknown, always, end], axis=1)


def make_limits(
    batch: tf.Tensor,
    minimum_length: Number,
    maximum_length: Number,
    forbid_unknown: bool | tf.Tensor,
) -> Limits:
    """Broadcasts limits over a batch; lengths are numbers, scalar tensors or tensors (B,).

    Raises:
        ValueError: if a Python number is negative, or the maximum is 0.
    """
    at_least("minimum_length", minimum_length, 0)
    at_least("maximum_length", maximum_length, 1)
    minimum, maximum = (
        tf.broadcast_to(tf.cast(length, tf.int32), [batch])
        for length in (minimum_length, maximum_length)
    )
    return Limits(minimum, maximum, forbid_unknown)


def at_least(name: str, number: Number | None, least: float) -> None:
    """Refuses a Python number below ``least``; a tensor's value is not known yet."""
    if isinstance(number, int | float) and not number >= least:
        raise ValueError(f"{name} must be at least {least}, got {number}")


def checked(name: str, number: tf.Tensor, holds: tf.Tensor, expected: str) -> tf.Tensor:
    """Returns ``number``, after an assertion in the graph that the condition holds."""
    check = tf.debugging.Assert(holds, [f"{name} must be {expected}, got", number])
    with tf.control_dependencies([check] if check is not None else []):
        return tf.identity(number)


def one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuses a value that is not among the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {sorted(choices)}, got {value!r}")
