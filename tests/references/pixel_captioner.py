"""PixelCaptioner in NumPy: `tests.references.show_attend_tell` on annotations from convolutions.

One image (H, W, C). To its weights are added, stored as Keras stores them:

    C0, C1, C2 (5, 5, channels, filters) and C0_b, C1_b, C2_b (filters,)
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.references import show_attend_tell
from tests.references.translation import Weights

OPTIONS = {"attention": ("soft", "hard")}

example_loss = show_attend_tell.example_loss


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path below the model, by the names of this module."""
    weights = show_attend_tell.named_weights(values)
    for number in range(3):
        weights[f"C{number}"] = values[f"convolution_{number}/kernel"]
        weights[f"C{number}_b"] = values[f"convolution_{number}/bias"]
    return weights


def convolve(values: np.ndarray, kernel: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Rectified filters of 5 x 5 at every other pixel of (H, W, c): (ceil H/2, ceil W/2, filters).

    The image is framed by zeros: by two lines on each side if there is an odd number of pixels,
    and else by one before the first and two after the last.
    """
    height, width, _ = values.shape
    result = np.zeros((-(-height // 2), -(-width // 2), kernel.shape[-1]))
    for i in range(result.shape[0]):
        for j in range(result.shape[1]):
            total = bias.copy()
            for di in range(5):
                for dj in range(5):
                    row, column = 2 * i + di - 1 - height % 2, 2 * j + dj - 1 - width % 2
                    if 0 <= row < height and 0 <= column < width:
                        total = total + values[row, column] @ kernel[di, dj]
            result[i, j] = np.maximum(total, 0.0)
    return result


def annotate(weights: Weights, image: np.ndarray) -> np.ndarray:
    """Annotations (h, w, D) of the cells of an image (H, W, C)."""
    values = image.astype("float64")
    for number in range(3):
        values = convolve(values, weights[f"C{number}"], weights[f"C{number}_b"])
    return values


def predict(
    weights: Weights,
    inputs: dict[str, np.ndarray],
    config: Mapping[str, Any],
    constants: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One example's outputs by the model's names, as in `show_attend_tell.predict`."""
    cells = annotate(weights, inputs["image"])
    base = cells if constants is None else annotate(constants["weights"], inputs["image"])
    flat, flat_base = (one.reshape(-1, one.shape[-1]) for one in (cells, base))
    config = {**config, "grid": cells.shape[:2]}
    return show_attend_tell.outputs_of(weights, flat, inputs, config, constants, flat_base)
