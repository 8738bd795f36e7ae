"""Files of pictures in all formats, for the tests."""

import io
import struct
import zlib
from typing import Any

import numpy as np
from PIL import Image

PIXELS = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
"""A picture of noise, 20 x 30."""


def encoded(image: Image.Image | np.ndarray, kind: str, **options: Any) -> bytes:
    """A picture as a file."""
    image = image if isinstance(image, Image.Image) else Image.fromarray(image)
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def huge_png(side: int) -> bytes:
    """A blank grey picture of any size, made without its pixels: a few kilobytes for each line."""

    def chunk(name: bytes, content: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(name + content))
        return struct.pack(">I", len(content)) + name + content + check

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    packer = zlib.compressobj(9)
    lines = b"".join(packer.compress(bytes(side + 1)) for _ in range(side)) + packer.flush()
    parts = chunk(b"IHDR", header), chunk(b"IDAT", lines), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
