"""SqueezeNet 1.1 without its classifier: a small convolutional network that knows ImageNet.

Iandola et al. 2016, "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB model
size" (arXiv 1602.07360), figure 1 and section 3; version 1.1 moves the pooling forward and begins
with 64 kernels of 3 x 3. A fire module squeezes to few channels by 1 x 1 kernels and expands them
again by 1 x 1 and 3 x 3 kernels side by side.

    conv 3x3/2, 64; pool 3/2; fire 2-3 (16 -> 2 x 64); pool 3/2; fire 4-5 (32 -> 2 x 128);
    pool 3/2; fire 6-7 (48 -> 2 x 192); fire 8-9 (64 -> 2 x 256)

No convolution of stride above 1 and no pooling is padded, so 160 pixels give 9 x 9 cells of 512.
The weights are those of `squeezenet_1.1_notop.h5` (722,496 numbers, trained on ImageNet; MIT
licence), whose pictures are blue, green and red, from 0 to 255, less the mean of ImageNet.
"""

from pathlib import Path
from typing import Any

import h5py
import keras
import numpy as np

from zoo.data.download import locate_name, not_found

DATA_SET = "squeezenet"
WEIGHTS_FILE = "squeezenet_1.1_notop.h5"
BGR_MEAN = (103.939, 116.779, 123.68)
"""Mean of ImageNet's pictures: blue, green, red."""

_FIRES = {2: (16, 64), 3: (16, 64), 4: (32, 128), 5: (32, 128)} | {
    6: (48, 192),
    7: (48, 192),
    8: (64, 256),
    9: (64, 256),
}
"""Number of a fire module -> channels that it squeezes to, and expands to twice."""
_POOL_AFTER = (3, 5)
_LAST = "channels_last"


def build_squeezenet(size: int | None = None) -> keras.Model:
    """Makes the network with random weights.

    Args:
        size: height and width of pictures; None: any.

    Returns:
        A model from pictures (B, H, W, 3), blue, green, red, less their mean, to (B, h, w, 512).
    """
    pictures = keras.Input((size, size, 3), name="pictures")
    values = _convolution(64, 3, "conv1", strides=2)(pictures)
    values = _pool(values)
    for number, (squeezed, expanded) in _FIRES.items():
        values = _fire(values, number, squeezed, expanded)
        if number in _POOL_AFTER:
            values = _pool(values)
    return keras.Model(pictures, values, name="squeezenet")


def load_squeezenet(path: str | Path, size: int | None = None) -> keras.Model:
    """Makes the network with the weights of a file.

    Args:
        path: file in HDF5, as `find_squeezenet` returns it.
        size: as in `build_squeezenet`.

    Raises:
        ValueError: it is no such file, or lacks a weight, or has one of another shape; names it.
    """
    model = build_squeezenet(size)
    try:
        with h5py.File(path, "r") as file:
            for layer in model.layers:
                if layer.weights:
                    layer.set_weights(_weights(file, layer, path))
    except OSError as error:
        if not Path(path).is_file():
            raise
        raise ValueError(f"{path} must be a file in HDF5: {error}") from error
    return model


def find_squeezenet(data_dir: str | Path | None = None) -> Path:
    """Finds the file of the weights on this machine.

    Args:
        data_dir: folder that holds `squeezenet/` or the file; by default `$ZOO_DATA`, then the
            Keras cache.

    Raises:
        FileNotFoundError: it is missing; says where it was expected.
    """
    path = locate_name(DATA_SET, WEIGHTS_FILE, data_dir)
    if path is None:
        advice = (
            "weights of SqueezeNet 1.1 without its classifier, in the layout of rcmalli's Keras"
        )
        raise not_found(WEIGHTS_FILE, (DATA_SET,), data_dir, advice)
    return path


def _convolution(filters: int, side: int, name: str, **options: Any) -> keras.layers.Conv2D:
    """Makes a convolution followed by a rectifier, whatever data format Keras is set to."""
    return keras.layers.Conv2D(
        filters, side, activation="relu", data_format=_LAST, name=name, **options
    )


def _pool(values: keras.KerasTensor) -> keras.KerasTensor:
    return keras.layers.MaxPooling2D(3, strides=2, data_format=_LAST)(values)


def _fire(
    values: keras.KerasTensor, number: int, squeezed: int, expanded: int
) -> keras.KerasTensor:
    """A fire module: (B, h, w, C) to (B, h, w, 2 * expanded)."""
    name = f"fire{number}"
    narrow = _convolution(squeezed, 1, f"{name}_squeeze1x1")(values)
    wide = [
        _convolution(expanded, side, f"{name}_expand{side}x{side}", padding="same")(narrow)
        for side in (1, 3)
    ]
    return keras.layers.Concatenate(axis=-1, name=f"{name}_concat")(wide)  # (B, h, w, 2 * expanded)


def _weights(file: h5py.File, layer: keras.Layer, path: str | Path) -> list[np.ndarray]:
    """Kernel and bias of a layer from the file.

    Layers are `conv1` and `fire<n>/<part>`. What is in them has names that depend on the version of
    Keras, but is always a kernel of four axes and a bias of one.
    """
    group = layer.name.replace("_", "/", 1)
    found: dict[int, np.ndarray] = {}
    if isinstance(file.get(group), h5py.Group):
        file[group].visititems(
            lambda _, one: (
                found.update({one.ndim: one[()]}) if isinstance(one, h5py.Dataset) else None
            )
        )
    shapes = {4: tuple(layer.kernel.shape), 1: tuple(layer.bias.shape)}
    for axes, shape in shapes.items():
        if axes not in found or found[axes].shape != shape:
            got = found[axes].shape if axes in found else "none"
            raise ValueError(f"{path}: {group} must have a weight of the shape {shape}, got {got}")
    return [found[4], found[1]]
