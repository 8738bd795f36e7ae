"""Windows of a few positions in long sequences: local attention reads and writes them.

A window is W = 2D + 1 slots around the integer part of its centre. It may extend beyond the
sentence: such slots have positions below 0 or past the end, and the caller masks them.

Shape letters: B batch, Q windows of each example, S positions of each example, D half-width,
W slots of a window.
"""

from keras import ops

from zoo.ops.masking import Tensor, as_mask


def sequence_lengths(mask: Tensor) -> Tensor:
    """Counts the real positions of each row of ``mask`` bool (B, S): int32 (B,)."""
    return ops.sum(ops.cast(as_mask(mask, (None, None)), "int32"), axis=1)


def is_right_padded(mask: Tensor) -> Tensor:
    """Tells which rows of ``mask`` bool (B, S) have their padding behind all real positions.

    Returns:
        bool (B,).

    Raises:
        ValueError: if a row has not, and the mask is known: outside of graphs.
    """
    places = ops.arange(ops.shape(mask)[1], dtype="int32")
    right = ops.all(mask == (places < sequence_lengths(mask)[:, None]), axis=1)
    if hasattr(right, "numpy") and not right.numpy().all():
        row = ops.convert_to_numpy(mask)[right.numpy().argmin()]
        raise ValueError(f"mask must be False behind all real positions alone, got {row}")
    return right


def window_starts(centres: Tensor, half_width: int) -> Tensor:
    """Computes the first slot's position, ``floor(centre) - D``: int32 (B, Q), possibly below 0.

    Args:
        centres: float (B, Q).
        half_width: D.
    """
    return ops.cast(ops.floor(centres), "int32") - half_width


def window_positions(starts: Tensor, width: int) -> Tensor:
    """Lists the positions int32 (B, Q, W) of the ``width`` slots from ``starts`` on."""
    return starts[:, :, None] + ops.arange(width, dtype="int32")


def gather_windows(values: Tensor, positions: Tensor) -> Tensor:
    """Gathers windows from sequences, at a cost independent of S.

    It gathers from the flattened sequences, as ``position_gatherer`` does. The gradient with
    respect to the values is dense, (B, S, d).

    Args:
        values: (B, S, d); in a graph, S is at least 1 unless it is static.
        positions: int32 (B, Q, W).

    Returns:
        (B, Q, W, d); outside the sequence it repeats the first or the last position. For an
        empty sequence it returns zeros.
    """
    if values.shape[1] == 0:
        values = ops.pad(values, [[0, 0], [0, 1], [0, 0]])
    batch, length, dim = ops.shape(values)
    flat = ops.reshape(values, (batch * length, dim))
    first = ops.arange(batch, dtype="int32") * length
    index = first[:, None, None] + ops.clip(positions, 0, length - 1)
    return ops.take(flat, index, axis=0)


def scatter_window(weights: Tensor, starts: Tensor, length: int | Tensor) -> Tensor:
    """Lays windows of weights back onto the positions that they were taken from.

    It costs O(S) a window: a decoder keeps its windows, and does this once, after its loop.

    Args:
        weights: (B, Q, W).
        starts: int32 (B, Q), the position of each window's first slot.
        length: S.

    Returns:
        (B, Q, S), 0 outside the windows; slots outside the sequence are dropped.
    """
    batch, count, width = ops.shape(weights)
    slots = ops.arange(length, dtype="int32") - starts[:, :, None]  # (B, Q, S)
    rows = ops.reshape(ops.arange(batch * count, dtype="int32"), (batch, count, 1))
    flat = ops.reshape(weights, (batch * count * width,))
    picked = ops.take(flat, rows * width + ops.clip(slots, 0, width - 1), axis=0)
    inside = (slots >= 0) & (slots < width)
    return ops.where(inside, picked, ops.zeros((), weights.dtype))
