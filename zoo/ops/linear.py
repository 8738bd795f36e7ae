"""Products with weights outside of ``Layer.__call__``, where Keras casts nothing."""

from keras import ops

from zoo.ops.masking import Tensor


def project(values: Tensor, kernel: Tensor, bias: Tensor | None = None) -> Tensor:
    """``values`` (..., d) times ``kernel`` (d, n) plus ``bias`` (n), in the dtype of ``values``."""
    projected = ops.matmul(values, ops.cast(kernel, values.dtype))
    return projected if bias is None else projected + ops.cast(bias, projected.dtype)
