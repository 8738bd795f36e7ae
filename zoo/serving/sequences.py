"""Sequences of vectors as a servable takes them, and its answers without their padding."""

from collections.abc import Mapping, Sequence

import numpy as np

from zoo.models.core.axes import Axes, Steps
from zoo.serving.padding import texts_of

_OF_STEPS = ("probabilities", "reads", "adds", "erases")
"""Outputs (batch, T, ...), whose axes are not declared."""


def pad_sequences(sequences: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Pads sequences (T, d) with zeros: `vectors` (n, T, d), T at least 1, and `length` (n,).

    Raises:
        ValueError: their vectors have different sizes.
    """
    sizes = sorted({one.shape[1] for one in sequences})
    if len(sizes) > 1:
        raise ValueError(f"vectors must have the same size in all sequences, got {sizes}")
    length = np.array([len(one) for one in sequences], "int32")
    vectors = np.zeros((len(sequences), length.max(initial=1), sizes[0]), "float32")
    for row, one in enumerate(sequences):
        vectors[row, : len(one)] = one
    return {"vectors": vectors, "length": length}


def without_padding(
    outputs: Mapping[str, np.ndarray], length: int, axes: Mapping[str, Axes] | None
) -> dict[str, np.ndarray]:
    """Cuts the outputs (1, ...) of a sequence to its steps."""
    found = {}
    for name, value in outputs.items():
        texts = texts_of(tuple((axes or {}).get(name, ())))
        if name in _OF_STEPS:
            value = value[:, :length]
        for place, (_, axis) in enumerate(texts, value.ndim - len(texts)):
            if isinstance(axis, Steps):
                value = np.take(value, range(length), axis=place)
        found[name] = value
    return found
