"""MNIST: pictures of handwritten digits, as arrays.

LeCun, Bottou, Bengio, Haffner, "Gradient-Based Learning Applied to Document Recognition", 1998. The
four files are in the IDX format: two zero bytes, the type (8: unsigned bytes), the number of axes,
the size of each as four bytes, big end first, and then the values.
"""

import math
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zoo.data.choice import DataSet
from zoo.data.download import RemoteFile, find_file
from zoo.text_files import read_content

SPLITS = ("train", "test")
LABELS = tuple("0123456789")

_SITE = "https://ossci-datasets.s3.amazonaws.com/mnist"
FILES: dict[str, RemoteFile] = {
    name: RemoteFile(name, f"{_SITE}/{name}.gz", sha256, size)
    for name, sha256, size in (
        (
            "train-images-idx3-ubyte",
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            47_040_016,
        ),
        (
            "train-labels-idx1-ubyte",
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            60_008,
        ),
        (
            "t10k-images-idx3-ubyte",
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            7_840_016,
        ),
        (
            "t10k-labels-idx1-ubyte",
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            10_008,
        ),
    )
}
"""Name -> file; offered compressed, stored uncompressed."""
DATA_SET = DataSet("mnist", ("mnist",), tuple((name,) for name in FILES))

_PARTS = {"train": "train", "test": "t10k"}
_UNSIGNED_BYTES = 8


class Pictures(NamedTuple):
    """Pictures of one class each."""

    images: np.ndarray
    """uint8 (N, H, W), black 0 and white 255."""
    labels: np.ndarray
    """int64 (N,)."""


def find_mnist(
    split: str, data_dir: str | Path | None = None, download: bool = False
) -> tuple[Path, Path]:
    """Finds the two files of a part on this machine or, if allowed to, fetches them.

    Args:
        split: one of `SPLITS`.
        data_dir: folder that holds `mnist/` or the files, `.gz` or not; by default `$ZOO_DATA`,
            then the Keras cache.
        download: whether to fetch missing files to the Keras cache.

    Returns:
        The files of the images and of the labels.

    Raises:
        ValueError: there is no such split.
        FileNotFoundError: a file is missing; says where it was expected.
        DownloadError: it could not be fetched.
    """
    if split not in _PARTS:
        raise ValueError(f"split must be one of {list(SPLITS)}, got {split!r}")
    images, labels = (
        find_file("mnist", FILES[f"{_PARTS[split]}-{kind}-ubyte"], data_dir, download)
        for kind in ("images-idx3", "labels-idx1")
    )
    return images, labels


def read_mnist(images: str | Path, labels: str | Path) -> Pictures:
    """Reads the two files of a part.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a file is malformed or truncated, or the two do not fit together; names it.
    """
    pixels, classes = read_idx(images), read_idx(labels)
    if pixels.ndim != 3:
        raise ValueError(f"{images} must have 3 axes, got {pixels.ndim}")
    if classes.shape != pixels.shape[:1]:
        raise ValueError(f"{labels} must hold {len(pixels)} labels, got shape {classes.shape}")
    if len(classes) and classes.max() >= len(LABELS):
        raise ValueError(f"{labels} must hold digits, got {classes.max()}")
    return Pictures(pixels, classes.astype("int64"))


def read_idx(path: str | Path) -> np.ndarray:
    """Reads an array of unsigned bytes in the IDX format, compressed if it ends in `.gz`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no such file, or truncated; names it.
    """
    content = read_content(path)
    axes = content[3] if len(content) > 3 else 0
    start = 4 + 4 * axes
    if len(content) < start or content[:3] != bytes([0, 0, _UNSIGNED_BYTES]) or not axes:
        raise ValueError(
            f"{path} must be an IDX file of bytes, got one that begins {content[:4]!r}"
        )
    shape = struct.unpack(f">{axes}I", content[4:start])
    expected = math.prod(shape)  # of NumPy's integers, large sizes would have the product 0
    if len(content) - start != expected:
        raise ValueError(f"{path} must hold {expected} values, got {len(content) - start}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
