"""Means over the real positions of a padded sequence."""

from keras import ops

from zoo.ops.masking import Tensor, as_mask, mask_rows


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Mean over real positions: (B, T, d) and bool (B, T) to (B, d); zeros if there is none."""
    mask = as_mask(mask, values.shape[:2])
    total = ops.sum(mask_rows(values, mask), axis=1)  # (B, d)
    count = ops.maximum(ops.sum(ops.cast(mask, "int32"), axis=1), 1)
    return total / ops.cast(count, values.dtype)[:, None]
