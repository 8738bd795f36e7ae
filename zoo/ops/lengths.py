"""Lengths of the examples of a batch: refused where they are known, NaN in graphs.

Shape letter: B batch.
"""

import keras
from keras import ops

from zoo.ops.masking import Tensor


def check_lengths(lengths: Tensor, batch: int | None, most: int | Tensor) -> Tensor:
    """Tells which lengths are possible, from 0 to ``most``: bool (B,).

    Raises:
        ValueError: if they are not integers (B,), as a mask is not; if one is negative or beyond
            ``most``, and they are known: outside of graphs.
    """
    lengths = lengths if hasattr(lengths, "dtype") else ops.convert_to_tensor(lengths)
    dtype, shape = keras.backend.standardize_dtype(lengths.dtype), tuple(lengths.shape)
    fits = len(shape) == 1 and (batch is None or shape[0] in (None, batch))
    if not (dtype.startswith(("int", "uint")) and fits):
        raise ValueError(f"lengths must be whole numbers of shape ({batch},), got {dtype} {shape}")
    lengths = ops.cast(lengths, "int64")
    possible = (lengths >= 0) & (lengths <= ops.cast(most, "int64"))
    if hasattr(possible, "numpy") and not possible.numpy().all():
        wrong = ops.convert_to_numpy(lengths)[possible.numpy().argmin()]
        raise ValueError(f"lengths must be from 0 to the {most} positions there are, got {wrong}")
    return possible


def nan_unless_possible(
    scores: Tensor, lengths: Tensor, most: int | Tensor
) -> tuple[Tensor, Tensor]:
    """Makes scores (B, ...) NaN where a graph cannot refuse an impossible length.

    Returns:
        The scores, and lengths int32 (B,): ``most`` where they are impossible.

    Raises:
        ValueError: as ``check_lengths``.
    """
    possible = check_lengths(lengths, scores.shape[0], most)
    axes = tuple(range(1, len(scores.shape)))
    scores = ops.where(ops.expand_dims(possible, axes), scores, float("nan"))
    return scores, ops.where(possible, ops.cast(lengths, "int32"), most)
