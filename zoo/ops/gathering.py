"""Gathering rows of a padded sequence."""

from collections.abc import Callable

from keras import ops

from zoo.ops.masking import Tensor


def position_gatherer(values: Tensor) -> Callable[[Tensor], Tensor]:
    """Makes a function that picks one vector per example, for picking again and again.

    It gathers from the flattened sequence, because the gradient of ``take_along_axis`` is far
    slower. The gradients of several picks are added up before they become one dense tensor. No
    gradient flows to the positions.

    Args:
        values: (B, T, d).

    Returns:
        A function of int positions (B,), each in [0, T), to (B, d): row b holds
        ``values[b, positions[b]]``.
    """
    batch, length, dim = ops.shape(values)
    flat = ops.reshape(values, (batch * length, dim))
    first = ops.arange(batch, dtype="int32") * length

    def gather(positions: Tensor) -> Tensor:
        return ops.take(flat, first + ops.cast(positions, "int32"), axis=0)

    return gather


def gather_positions(values: Tensor, positions: Tensor) -> Tensor:
    """Picks one vector per example: (B, T, d) and int (B,) to (B, d)."""
    return position_gatherer(values)(positions)
