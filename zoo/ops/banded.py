"""Attention within a band: each position attends to the r positions centred on it.

Source: Vaswani et al. 2017 (arXiv 1706.03762), section 4 and table 1, "restricted self-attention".

The sentence is cut into blocks of c queries. A block sees w = c + r - 1 keys: its own and those
within reach on either side. Products are therefore (c, w) per block, never (T, T), and time and
memory grow as T (c + r), for the gradient too. Each row of a block sees r of the w keys, shifted by
one from the row above; the rest is masked.

Slices use ``ops.slice`` because the gradient of indexing is many times slower.

Shape letters: B batch, h heads, T positions, r window, k size of queries and keys, v of values,
c queries of a block, N = ceil(T / c) blocks, w = c + r - 1 keys that a block sees.
"""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from keras import ops

from zoo.ops.masking import Tensor, as_mask, at_least_float32, masked_softmax
from zoo.ops.windows import scatter_window

SMALLEST_BLOCK, LARGEST_BLOCK = 16, 64
"""Bounds of c: smaller products are slow; larger blocks are mostly empty in short sentences."""


def banded_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor,
    window: int,
    drop: Callable[[Tensor], Tensor] | None = None,
    block_size: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Dot-product attention of each position i to those with ``|i - j| <= (r - 1) / 2``.

    Args:
        queries: (B, h, T, k), scaled.
        keys: (B, h, T, k).
        values: (B, h, T, v).
        mask: bool (B, T), the keys that are real.
        window: r, odd.
        drop: dropout of the weights that mix the values; the returned weights are undropped.
        block_size: c; affects speed only. None: near r.

    Returns:
        The mixed values (B, h, T, v), and the weights (B, h, T, r): slot s of row i is the weight
        of position i - (r - 1) / 2 + s, exactly 0 where that is padding or outside the sentence.
        Both are zeros in rows with no real key within reach, in the dtype of the values, and
        computed in float32 at least.

    Raises:
        ValueError: if ``window`` is not odd and positive, or ``mask`` is not (B, T).
    """
    check_window(window)
    mask = as_mask(mask, (queries.shape[0], queries.shape[2]))
    length = ops.shape(queries)[2]
    size = block_size or min(max(SMALLEST_BLOCK, window - 1), LARGEST_BLOCK)
    dtype = values.dtype
    queries, keys, values = (at_least_float32(x) for x in (queries, keys, values))
    scores = ops.einsum("bhnck,bhnwk->bhncw", _blocks(queries, size), _reach(keys, size, window))
    real = ops.squeeze(_reach(mask[:, None, :, None], size, window), -1)  # (B, 1, N, w)
    weights = masked_softmax(scores, real[:, :, :, None] & _band(size, window))
    dropped = weights if drop is None else drop(weights)
    mixed = ops.matmul(dropped, _reach(values, size, window))  # (B, h, N, c, v)
    mixed, weights = ops.cast(mixed, dtype), ops.cast(weights, dtype)
    return _joined(mixed, length), _joined(_skewed(weights, window), length)


def check_window(window: Any) -> None:
    """Raises ValueError unless ``window`` is odd and positive, so that it has a centre."""
    if isinstance(window, bool) or not isinstance(window, Integral) or window < 1 or not window % 2:
        raise ValueError(f"window must be an odd, positive integer, got {window!r}")


def scatter_band(weights: Tensor) -> Tensor:
    """Scatters ``banded_attention`` weights (B, h, T, r) onto all pairs, at a cost of O(T^2).

    Returns:
        (B, h, T, T), 0 outside the band.
    """
    batch, heads, length, window = ops.shape(weights)
    rows = ops.reshape(weights, (batch * heads, length, window))
    starts = ops.arange(length, dtype="int32") - (window - 1) // 2
    starts = ops.broadcast_to(starts, (batch * heads, length))
    return ops.reshape(scatter_window(rows, starts, length), (batch, heads, length, length))


def _blocks(values: Tensor, size: int) -> Tensor:
    """Cuts (B, h, T, k) into blocks (B, h, N, c, k), the last filled with zeros."""
    batch, heads, length, dim = ops.shape(values)
    count = (length + size - 1) // size
    padded = ops.pad(values, [[0, 0], [0, 0], [0, count * size - length], [0, 0]])
    return ops.reshape(padded, (batch, heads, count, size, dim))


def _reach(values: Tensor, size: int, window: int) -> Tensor:
    """Cuts (B, h, T, k) into one window per block, (B, h, N, w, k), padded with zeros."""
    batch, heads, length, dim = ops.shape(values)
    count, beside = (length + size - 1) // size, window - 1
    further = (beside + size - 1) // size  # blocks that the last row of a block reaches into
    after = (count + further) * size - length - beside // 2
    padded = ops.pad(values, [[0, 0], [0, 0], [beside // 2, after], [0, 0]])
    blocks = ops.reshape(padded, (batch, heads, count + further, size, dim))
    lengths = [size] * further + [size + beside - further * size]
    parts = [
        ops.slice(blocks, (0, 0, j, 0, 0), (batch, heads, count, rows, dim))
        for j, rows in enumerate(lengths)
    ]
    return ops.concatenate(parts, axis=3)  # (B, h, N, w, k)


def _band(size: int, window: int) -> np.ndarray:
    """Marks the keys that each row of a block sees: bool (c, w)."""
    slots = np.arange(size + window - 1) - np.arange(size)[:, None]
    return (slots >= 0) & (slots < window)


def _skewed(weights: Tensor, window: int) -> Tensor:
    """Extracts the band of each block: (B, h, N, c, w) to (B, h, N, c, r)."""
    batch, heads, count, size, width = ops.shape(weights)
    flat = ops.reshape(weights, (batch, heads, count, size * width))
    flat = ops.pad(flat, [[0, 0], [0, 0], [0, 0], [0, size]])
    rows = ops.reshape(flat, (batch, heads, count, size, width + 1))  # row i begins at key i
    return ops.slice(rows, (0, 0, 0, 0, 0), (batch, heads, count, size, window))


def _joined(blocks: Tensor, length: Tensor) -> Tensor:
    """Joins blocks (B, h, N, c, k) into (B, h, T, k)."""
    batch, heads, count, size, dim = ops.shape(blocks)
    whole = ops.reshape(blocks, (batch, heads, count * size, dim))
    return ops.slice(whole, (0, 0, 0, 0), (batch, heads, length, dim))
