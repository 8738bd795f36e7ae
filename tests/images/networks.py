"""Files of weights in the layout of the released SqueezeNet, with random numbers."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np

FIRES = {2: (64, 16, 64), 3: (128, 16, 64), 4: (128, 32, 128), 5: (256, 32, 128)} | {
    6: (256, 48, 192),
    7: (384, 48, 192),
    8: (384, 64, 256),
    9: (512, 64, 256),
}
"""Number of a fire module -> its channels: read, squeezed, expanded by either size of kernel."""


def random_weights(seed: int = 0) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Layer, as the file names it -> kernel and bias, of a size that keeps outputs near 1."""
    generator = np.random.default_rng(seed)
    shapes = {"conv1": (3, 3, 3, 64)}
    for number, (read, squeezed, expanded) in FIRES.items():
        shapes[f"fire{number}/squeeze1x1"] = (1, 1, read, squeezed)
        shapes[f"fire{number}/expand1x1"] = (1, 1, squeezed, expanded)
        shapes[f"fire{number}/expand3x3"] = (3, 3, squeezed, expanded)
    return {
        name: (
            generator.normal(0, np.sqrt(2 / np.prod(shape[:3])), shape).astype("float32"),
            generator.normal(0, 0.1, shape[-1:]).astype("float32"),
        )
        for name, shape in shapes.items()
    }


def write_weights(path: Path, weights: dict[str, Any]) -> None:
    """Writes a file as Keras 1 did."""
    with h5py.File(path, "w") as file:
        for number, (name, (kernel, bias)) in enumerate(weights.items()):
            top = name.split("/")[0]
            inner = f"{name}/{top}/{name.split('/')[1]}_b" if "/" in name else f"{name}/{name}_b"
            file[f"{name}/uniform{number}"] = kernel
            file[inner] = bias
