"""Initialisers for layers with several weights of one kind."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from zoo.ops.masking import Tensor


def fresh(initializer: Any, number: int = 0) -> Any:
    """Copies an initialiser: Keras initialisers repeat their values, so each weight needs its own.

    Args:
        initializer: a ``keras.initializers.Initializer``, or a function, which is returned itself.
        number: index of the copy, added to the seed if there is one.
    """
    if not isinstance(initializer, keras.initializers.Initializer):
        return initializer  # a function
    config = initializer.get_config()
    if isinstance(config.get("seed"), int):
        config = config | {"seed": config["seed"] + number}
    return drawable(initializer.__class__.from_config(config))


def drawable(initializer: Any) -> Any:
    """Makes an orthogonal initialiser draw bfloat16 too, as rounded float32.

    It decomposes a matrix, which TensorFlow cannot do in bfloat16. Others are returned themselves.
    """
    if not isinstance(initializer, keras.initializers.Orthogonal):
        return initializer

    def drawn(shape: tuple[int, ...], dtype: Any = None) -> Tensor:
        dtype = keras.backend.standardize_dtype(dtype)
        narrow = dtype == "bfloat16"
        return ops.cast(initializer(shape, dtype="float32" if narrow else dtype), dtype)

    return drawn


def forget_bias(units: int) -> Callable[..., Tensor]:
    """Makes an initialiser of gate biases (4n,): one for the forget gate, zero elsewhere."""

    def initializer(shape: tuple[int, ...], dtype: str | None = None) -> Tensor:
        parts = [ops.zeros(units, dtype), ops.ones(units, dtype), ops.zeros(2 * units, dtype)]
        return ops.concatenate(parts)

    return initializer
