"""Means over the real positions of a padded sequence."""

import keras
from keras import ops

from zoo.ops.masking import Tensor, as_mask, at_least_float32, mask_rows


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Mean over real positions: (B, T, d) and bool (B, T) to (B, d); zeros if there is none."""
    mask = as_mask(mask, values.shape[:2])
    rows = mask_rows(values, mask)
    total = ops.sum(at_least_float32(rows), axis=1)  # (B, d); in float16 it would overflow
    count = ops.maximum(ops.sum(ops.cast(mask, "int32"), axis=1), 1)
    mean = total / ops.cast(count, total.dtype)[:, None]
    return ops.cast(mean, keras.backend.result_type(rows.dtype, float))
