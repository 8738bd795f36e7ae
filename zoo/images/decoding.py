"""Decodes picture files of any content in bounded memory, inside the graph.

Formats are JPEG, PNG and BMP, in colour, grey, CMYK or with a palette, of 8 or 16 bits a channel;
of BMP those in colour without a palette.
Transparency is ignored, and so is the orientation that a camera noted down. Of an animated PNG the
first frame is read. GIF is refused: all its frames would be decoded, however many there are.

The size is read from the header and checked before anything is decoded, so that a small file cannot
unpack to gigabytes.
"""

import functools
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

MAXIMUM_PIXELS = 50_000_000
"""Pixels of the largest picture that is decoded: 150 MB in colour."""

_JPEG, _PNG, _BMP = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"BM"
_MANY_PIXELS = 4_000_000
"""Pictures of more pixels are shrunk by a whole factor before they are resized in float32."""
FORMATS = "a JPEG, PNG or BMP picture"


class Size(NamedTuple):
    """Height and width in a header, int32 scalars."""

    height: tf.Tensor
    width: tf.Tensor


@functools.cache
def _decoder(channels: int, size: tuple[int, int] | None) -> Any:
    """Traces the decoding once: a graph of each reader takes long, and TensorFlow warns of it."""
    return tf.function(
        lambda files: decode_images(files, channels, size),
        input_signature=[tf.TensorSpec([None], tf.string)],
        autograph=False,
    )


class PictureReader:
    """Decodes batches of files outside the graph, and names the file that cannot be.

    Args:
        channels: As in `decode_images`.
        size: Likewise; None: each call's pictures must be of one size.
    """

    def __init__(self, channels: int, size: tuple[int, int] | None) -> None:
        self.channels = channels
        self.size = size
        self._decode = _decoder(channels, size)

    def __call__(self, files: Sequence[bytes], names: Sequence[str]) -> np.ndarray:
        """Decodes files.

        Args:
            files: Their contents.
            names: Their names, for the error.

        Returns:
            float32 (batch, H, W, channels), from 0 to 255.

        Raises:
            ValueError: A file cannot be decoded; names it and says why.
        """
        try:
            pixels: np.ndarray = self._decode(tf.constant([*files], tf.string)).numpy()
        except tf.errors.InvalidArgumentError as error:
            if len(files) == 1:
                raise ValueError(f"{names[0]}: {reason_of(error)}") from None
            for file, name in zip(files, names, strict=True):
                self([file], [name])
            raise ValueError(f"pictures must be of one size, got {reason_of(error)}") from None
        return pixels


def reason_of(error: tf.errors.OpError) -> str:
    """Returns what a failed operation says, in one line without the names of its graph."""
    lines = str(error.message).strip().splitlines()
    text = next((line for line in reversed(lines) if "must" in line), lines[0])
    text = re.sub(r"\{\{function_node [^}]*\}\}|assertion failed:|\[Op:[^\]]*\]|\[\[.*", "", text)
    return " ".join(re.sub(r"\[([^\[\]]*)\]", r"\1", text).split())


def decode_images(
    files: tf.Tensor,
    channels: int,
    size: tuple[int, int] | None = None,
    *,
    maximum_pixels: int = MAXIMUM_PIXELS,
) -> tf.Tensor:
    """Decodes files, one after the other.

    Args:
        files: (batch,) strings of bytes.
        channels: 3 for red, green and blue; 1 for grey.
        size: height and width that pictures are resized to, whatever their shape, with
            antialiasing; None: they must be of one size.
        maximum_pixels: a picture with more is refused.

    Returns:
        float32 (batch, H, W, channels), from 0 to 255.

    Raises:
        tf.errors.InvalidArgumentError: a file is of another format, damaged, too large or empty;
            when the graph is run.
    """
    shape = tf.TensorSpec((*(size or (None, None)), channels), tf.float32)

    def decode(file: tf.Tensor) -> tf.Tensor:
        return decode_image(file, channels, size, maximum_pixels=maximum_pixels)

    # One at a time: the memory of a batch is that of its largest picture.
    return tf.map_fn(decode, files, fn_output_signature=shape, parallel_iterations=1)


def decode_image(
    file: tf.Tensor,
    channels: int,
    size: tuple[int, int] | None = None,
    *,
    maximum_pixels: int = MAXIMUM_PIXELS,
) -> tf.Tensor:
    """Decodes one file: float32 (H, W, channels), as `decode_images`."""
    if channels not in (1, 3):
        raise ValueError(f"channels must be 1 or 3, got {channels}")
    known = header_size(file)
    pixels = tf.cast(known.height, tf.int64) * tf.cast(known.width, tf.int64)
    told = ["a picture must have from 1 to", maximum_pixels, "pixels; height and width:"]
    allowed = (pixels > 0) & (pixels <= maximum_pixels)
    check = tf.debugging.Assert(allowed, [*told, known.height, known.width])
    with tf.control_dependencies([] if check is None else [check]):  # None: checked eagerly
        file = tf.identity(file)
    image = tf.ensure_shape(_decoded(file, channels), (None, None, channels))
    if size is None:
        return tf.cast(image, tf.float32)
    return _resized(image, size)


def _decoded(file: tf.Tensor, channels: int) -> tf.Tensor:
    """Decodes a file whose size has been checked: uint8 (H, W, channels)."""

    def decode(channels: int) -> tf.Tensor:
        return tf.io.decode_image(file, channels=channels, expand_animations=False)

    if channels == 3:
        return decode(3)
    # TensorFlow makes grey neither of a bitmap's colours nor of CMYK.
    bitmap = tf.strings.substr(file, 0, len(_BMP)) == _BMP
    jpeg = tf.strings.substr(file, 0, len(_JPEG)) == _JPEG
    inks = tf.cond(jpeg, lambda: tf.image.extract_jpeg_shape(file)[2] == 4, lambda: False)
    return tf.cond(bitmap | inks, lambda: tf.image.rgb_to_grayscale(decode(3)), lambda: decode(1))


def header_size(file: tf.Tensor) -> Size:
    """Reads height and width of a picture from the beginning of its file.

    Args:
        file: a scalar string of bytes.

    Raises:
        tf.errors.InvalidArgumentError: it is none of the formats, or ends within the header; when
            the graph is run.
    """
    begins = [tf.strings.substr(file, 0, len(mark)) == mark for mark in (_JPEG, _PNG, _BMP)]
    bytes_read = tf.strings.length(file, unit="BYTE")
    known = tf.reduce_any(tf.stack(begins)) & (bytes_read >= 30)  # the longest header of a size
    check = tf.debugging.Assert(
        known,
        [f"a file must be {FORMATS}, got", bytes_read, "bytes that begin with", _hex(file)],
        summarize=4,
    )
    with tf.control_dependencies([] if check is None else [check]):
        file = tf.identity(file)
    jpeg, png, _ = begins
    return tf.case(
        [
            (jpeg, lambda: Size(*tf.unstack(tf.image.extract_jpeg_shape(file)[:2]))),
            (png, lambda: Size(_whole(file, 20, big=True), _whole(file, 16, big=True))),
        ],
        default=lambda: _bitmap_size(file),
        exclusive=True,
    )


def _bitmap_size(file: tf.Tensor) -> Size:
    """Reads the size of a bitmap, and refuses palettes, which TensorFlow takes for grey."""
    bits = tf.io.decode_raw(tf.strings.substr(file, 28, 2), tf.int16)[0]
    told = ["a BMP picture must have 24 or 32 bits a pixel, got", bits]
    check = tf.debugging.Assert((bits == 24) | (bits == 32), told)
    with tf.control_dependencies([] if check is None else [check]):
        file = tf.identity(file)
    # The height is negative where the first row is the uppermost.
    return Size(tf.abs(_whole(file, 22, big=False)), _whole(file, 18, big=False))


def _whole(file: tf.Tensor, place: int, *, big: bool) -> tf.Tensor:
    """Reads a whole number of four bytes, int32; ``big``: the highest byte comes first."""
    part = tf.strings.substr(file, place, 4)
    return tf.io.decode_raw(part, tf.int32, little_endian=not big)[0]


def _hex(file: tf.Tensor) -> tf.Tensor:
    """The first four bytes as numbers, fewer if there are no more."""
    return tf.cast(tf.io.decode_raw(tf.strings.substr(file, 0, 4), tf.uint8), tf.int32)


def _resized(image: tf.Tensor, size: tuple[int, int]) -> tf.Tensor:
    """Resizes uint8 (H, W, C) to float32 (*size, C)."""
    height, width, _ = tf.unstack(tf.shape(image))
    pixels = tf.cast(height, tf.int64) * tf.cast(width, tf.int64)

    def shrunk() -> tf.Tensor:
        # Reads bytes and writes few numbers, where antialiasing would turn all bytes into numbers.
        factor = tf.sqrt(tf.cast(pixels, tf.float32) / _MANY_PIXELS)
        sides = [
            tf.maximum(tf.cast(tf.cast(side, tf.float32) / factor, tf.int32), 1)
            for side in (height, width)
        ]
        return tf.image.resize(image[tf.newaxis], sides, method="area")[0]

    smaller = tf.cond(pixels > _MANY_PIXELS, shrunk, lambda: tf.cast(image, tf.float32))
    resized = tf.image.resize(smaller, size, antialias=True)
    return tf.ensure_shape(resized, (*size, image.shape[-1]))
