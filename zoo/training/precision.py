"""Precision of computation: mixed with 16 bits, or float32 throughout."""

from collections.abc import Iterator
from contextlib import contextmanager

import keras


@contextmanager
def computing_in(precision: str) -> Iterator[None]:
    """Set the precision of models that are made and built inside the block.

    Args:
        precision: `float32`, `mixed_bfloat16` or `mixed_float16`: a Keras policy, in which weights
            are float32.
    """
    former = keras.config.dtype_policy()
    keras.config.set_dtype_policy(precision)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(former)


def to_float32(model: keras.Model) -> None:
    """Switch a model from mixed precision to float32.

    Weights do not change. Graphs that were traced before keep their precision.
    """
    mixed = model.dtype_policy.name
    if not mixed.startswith("mixed_"):
        return
    for layer in model._flatten_layers():
        if layer.dtype_policy.name == mixed:
            layer.dtype_policy = "float32"
    model.train_function = model.test_function = model.predict_function = None
