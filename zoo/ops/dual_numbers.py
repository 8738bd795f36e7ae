"""Arithmetic of programs on log weights, on plain and on dual numbers.

A dual number is a value and its tangent, the rate at which it changes when the inputs move in a
given direction. A program that uses only this arithmetic and copies of elements computes with dual
numbers the tangents of its results, in one pass and without keeping anything (forward-mode
differentiation). Where the derivatives form a symmetric matrix, that is also the gradient.

Shape letters: B, the last axis of all numbers.
"""

import tensorflow as tf

from zoo.ops.masking import Tensor


class Numbers:
    """Plain numbers (..., B)."""

    def sum_up(self, pieces: Tensor) -> tuple[Tensor, Tensor]:
        """Sums over the first axis in log space.

        Args:
            pieces: log weights (n, ..., B).

        Returns:
            The log of the sum (..., B), and the share of each piece in it (n, ..., B).
        """
        largest = tf.stop_gradient(tf.reduce_max(pieces, axis=0))
        sizes = tf.exp(pieces - largest)
        total = tf.reduce_sum(sizes, axis=0)
        return tf.math.log(total) + largest, sizes / total

    def multiply(self, left: Tensor, right: Tensor) -> Tensor:
        """Multiplies numbers, which are broadcast but for the last axis."""
        return left * right

    def add_constant(self, values: Tensor, constant: Tensor) -> Tensor:
        """Adds what does not depend on the inputs, and has no axis B or one of size 1."""
        return values + constant

    def lift(self, constant: Tensor) -> Tensor:
        """Makes numbers of constants (..., B)."""
        return constant


class DualNumbers(Numbers):
    """Values, and after them in the last axis their tangents: (..., 2 B)."""

    def sum_up(self, pieces: Tensor) -> tuple[Tensor, Tensor]:
        """Sums in log space; the sum moves by the mean tangent, weighted with the shares."""
        pieces, tangents = tf.split(pieces, 2, axis=-1)
        total, shares = super().sum_up(pieces)
        mean = tf.reduce_sum(shares * tangents, axis=0)
        return _join(total, mean), _join(shares, shares * (tangents - mean))

    def multiply(self, left: Tensor, right: Tensor) -> Tensor:
        """Multiplies by the product rule."""
        left, left_tangents = tf.split(left, 2, axis=-1)
        right, right_tangents = tf.split(right, 2, axis=-1)
        return _join(left * right, left_tangents * right + left * right_tangents)

    def add_constant(self, values: Tensor, constant: Tensor) -> Tensor:
        """Adds a constant to the values alone."""
        values, tangents = tf.split(values, 2, axis=-1)
        return _join(values + constant, tangents)

    def lift(self, constant: Tensor) -> Tensor:
        """Gives constants (..., B) tangents of zero."""
        return _join(constant, tf.zeros_like(constant))


def _join(values: Tensor, tangents: Tensor) -> Tensor:
    return tf.concat([values, tangents], axis=-1)
