"""Limits of a search: forbidden tokens, and output lengths."""

import math
from numbers import Integral, Real
from typing import NamedTuple

import tensorflow as tf

from zoo.decoding.protocol import Number
from zoo.text.vocabulary import SPECIAL_WORDS

SPECIALS = len(SPECIAL_WORDS)
_LARGEST = 2**31 - 2
"""Largest whole number of a search: one more is still an int32."""


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

    A length in a tensor that is negative is 0.

    Raises:
        ValueError: if a number is negative, the maximum is 0, or a length is not a whole number or
            none of 32 bits.
    """
    lengths = (
        whole_number("minimum_length", minimum_length, 0),
        whole_number("maximum_length", maximum_length, 1),
    )
    in_range = (tf.clip_by_value(tf.cast(n, tf.int64), 0, _LARGEST) for n in lengths)
    minimum, maximum = (tf.broadcast_to(tf.cast(n, tf.int32), [batch]) for n in in_range)
    return Limits(minimum, maximum, forbid_unknown)


def at_least(name: str, number: Number | None, least: float) -> None:
    """Refuses a number, also of NumPy, below ``least``; a tensor's value is not known yet."""
    if isinstance(number, Real) and not _exact(number) >= least:
        raise ValueError(f"{name} must be at least {least}, got {number}")


def _exact(number: Real) -> int | float:
    """Returns a number of Python's; whole ones not by way of a float, which has 53 bits."""
    return int(number) if isinstance(number, Integral) else float(number)


def whole_number(name: str, number: Number, least: int, most: int = _LARGEST) -> int | tf.Tensor:
    """Returns a number, also of NumPy, as a checked int, and arrays as tensors of integers.

    Raises:
        ValueError: if the number is below ``least`` or above ``most``, or it or the type is not
            whole.
    """
    if isinstance(number, Real):
        at_least(name, number, least)
        whole = _exact(number)
        if isinstance(whole, float) and not whole.is_integer():
            raise ValueError(f"{name} must be a whole number, got {number}")
        if whole > most:
            raise ValueError(f"{name} must be at most {most}, got {number}")
        return int(whole)
    number = tf.convert_to_tensor(number)
    if not number.dtype.is_integer:
        raise ValueError(f"{name} must be a whole number, got {number.dtype.name}")
    return number


def finite_number(name: str, number: Number, least: float | None = None) -> float | tf.Tensor:
    """Returns a number, also of NumPy, as a checked float; tensors are checked at run time.

    Raises:
        ValueError: if the number is below ``least``, NaN, or infinite in float32.
    """
    if isinstance(number, Real):
        if not math.isfinite(number):
            raise ValueError(f"{name} must be finite, got {number}")
        if abs(number) > tf.float32.max:
            raise ValueError(f"{name} must be finite in float32, got {number}")
        if least is not None:
            at_least(name, number, least)
        return float(number)
    number = tf.cast(number, tf.float32)
    number = checked(name, number, tf.math.is_finite(number), "finite")
    return number if least is None else checked(name, number, number >= least, f"at least {least}")


def checked(name: str, number: tf.Tensor, holds: tf.Tensor, expected: str) -> tf.Tensor:
    """Returns ``number``, after an assertion in the graph that the condition holds."""
    check = tf.debugging.Assert(holds, [f"{name} must be {expected}, got", number])
    with tf.control_dependencies([check] if check is not None else []):
        return tf.identity(number)


def one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuses a value that is not among the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {sorted(choices)}, got {value!r}")
