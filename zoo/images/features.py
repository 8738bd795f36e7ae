"""Annotations of many pictures, computed once and kept on the disk.

A file holds those of a list of pictures, float16, in the format of NumPy. Its name is a checksum of
the pictures' contents, in order, and of the encoder; it appears when it is complete. Annotations
are read from the disk as they are needed, so a data set need not fit into memory.
"""

import hashlib
import logging
from pathlib import Path

import numpy as np
import tensorflow as tf
from tqdm import tqdm

from zoo.data.download import keras_home
from zoo.data.picture_files import PictureFiles
from zoo.files import whole_file
from zoo.images.decoding import PictureReader
from zoo.images.encoders import AnnotationEncoder

_AT_ONCE = 64  # pictures


def default_cache() -> Path:
    """The folder of annotations in the Keras cache."""
    return keras_home() / "annotations"


def cached_annotations(
    pictures: PictureFiles,
    encoder: AnnotationEncoder,
    logger: logging.Logger,
    folder: Path | None = None,
) -> np.ndarray:
    """Returns the annotations of pictures, from the cache if it has them.

    Args:
        pictures: the files.
        encoder: makes annotations of them.
        logger: gets a line where annotations are computed.
        folder: the cache; None: `default_cache`.

    Returns:
        float16 (N, L, D), mapped from the disk: read-only.

    Raises:
        ValueError: a file cannot be decoded, or an annotation is too large for float16.
    """
    folder = folder or default_cache()
    path = folder / f"{_key(pictures, encoder)}.npy"
    shape = (len(pictures.names), encoder.grid[0] * encoder.grid[1], encoder.dim)
    if not path.is_file():
        size = 2 * np.prod(shape, dtype=np.int64) / 1e6
        logger.info(
            "annotations: %d pictures by %s, %d MB in %s", *shape[:1], encoder.title, size, path
        )
        folder.mkdir(parents=True, exist_ok=True)
        _compute(path, pictures, encoder, shape)
    return open_annotations(path, shape)


def open_annotations(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """Maps a file of annotations from the disk.

    Raises:
        ValueError: it does not hold float16 of that shape.
    """
    found: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    if found.shape != shape or found.dtype != np.float16:
        raise ValueError(
            f"{path} must hold float16 {shape}, got {found.dtype} {found.shape}: remove the file"
        )
    return found


def _key(pictures: PictureFiles, encoder: AnnotationEncoder) -> str:
    """A checksum of the files' contents in order, and of the encoder."""
    digest = hashlib.sha256(encoder.fingerprint.encode())
    for number in range(len(pictures.names)):
        digest.update(hashlib.sha256(pictures.read(number)).digest())
    return digest.hexdigest()[:32]


def _compute(
    path: Path, pictures: PictureFiles, encoder: AnnotationEncoder, shape: tuple[int, ...]
) -> None:
    """Writes annotations, a few pictures at a time."""
    decode = PictureReader(3, encoder.size)
    picture = tf.TensorSpec((None, *encoder.size, 3), tf.float32)
    encode = tf.function(encoder, input_signature=[picture], autograph=False)
    with whole_file(path) as file, tqdm(total=shape[0], desc="annotations", unit="picture") as bar:
        header = {"descr": np.dtype(np.float16).str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, shape[0], _AT_ONCE):
            rows = range(start, min(start + _AT_ONCE, shape[0]))
            names = [pictures.names[row] for row in rows]
            pixels = decode([pictures.read(row) for row in rows], names)
            values = encode(pixels).numpy().astype(np.float16)
            if not np.isfinite(values).all():
                raise ValueError(f"annotations must be finite in float16, got others in {names}")
            file.write(values.tobytes())
            bar.update(len(rows))
