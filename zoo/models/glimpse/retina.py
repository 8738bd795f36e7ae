"""The glimpse sensor of the recurrent attention model: rho(x, l) of section 3.1.

Volodymyr Mnih, Nicolas Heess, Alex Graves, Koray Kavukcuoglu: Recurrent Models of Visual Attention.
NIPS 2014, arXiv 1406.6247.

A location l is (row, column) in [-1, 1]^2: (0, 0) is the centre of the image, (-1, -1) its upper
left corner. Its pixel is ``c = floor(0.5 (l + 1) size + 0.5)``, and a patch of side k covers the
pixels ``c - k // 2`` to ``c - k // 2 + k - 1``, zeros outside of the image.

Shape letters: B images, H and W pixels, C channels, T glimpses, K scales, g side of a patch in
cells, P pixels of all patches together.
"""

from collections.abc import Callable

import numpy as np
from keras import ops

from zoo.ops.masking import Tensor, at_least_float32


def make_retina(images: Tensor, size: int, scales: int) -> Callable[[Tensor], Tensor]:
    """Makes a function that looks at one location of each image, for looking again and again.

    All patches of all images are read by one gather of P pixels each, so a look costs the same
    whatever the size of the images. They are framed by zeros once, so that no pixel lies outside.
    No gradient flows to the locations.

    Args:
        images: (B, H, W, C).
        size: side g of the patches, in cells.
        scales: number of patches K; patch k has the side ``g 2^k`` in pixels.

    Returns:
        A function of locations (B, 2), each in [-1, 1], to what is seen there, (B, K, g, g, C):
        the patches, averaged over blocks of ``2^k x 2^k`` pixels.
    """
    batch, height, width, channels = ops.shape(images)
    largest = size * 2 ** (scales - 1)
    before, after = largest // 2, largest - largest // 2
    frame = [[0, 0], [before, after], [before, after], [0, 0]]
    framed_height, framed_width = height + largest, width + largest
    pixels = ops.reshape(ops.pad(images, frame), (-1, channels))  # (B (H + kK) (W + kK), C)
    first = ops.arange(batch, dtype="int32") * (framed_height * framed_width)
    rows, columns = _patch_pixels(size, scales) + before  # (P,) each, from the centre's pixel

    def look(locations: Tensor) -> Tensor:
        centres = pixel_centres(locations, height, width)  # (B, 2)
        corners = first + centres[:, 0] * framed_width + centres[:, 1]
        places = corners[:, None] + rows * framed_width + columns  # (B, P)
        return _resize(ops.take(pixels, places, axis=0), size, scales)

    return look


def pixel_centres(locations: Tensor, height: Tensor, width: Tensor) -> Tensor:
    """Computes the pixels (..., 2) int32 of locations (..., 2) in [-1, 1]."""
    locations = at_least_float32(locations)
    sizes = ops.cast(ops.stack([height, width]), locations.dtype)
    return ops.cast(ops.floor(0.5 * (locations + 1.0) * sizes + 0.5), "int32")


def retina_weights(
    locations: Tensor, height: Tensor, width: Tensor, size: int, scales: int
) -> Tensor:
    """Computes the share of the retina's cells that each pixel fills.

    A pixel of the patch k fills ``4^-k`` of one of its cells. The rest of the retina, if there is
    any, looks beyond the edge of the image.

    Args:
        locations: (B, T, 2).
        height: H.
        width: W.
        size: side g of the patches, in cells.
        scales: number of patches K.

    Returns:
        float32 (B, T, H, W), float64 if the locations are; a map sums to one at most.
    """
    centres = pixel_centres(locations, height, width)
    dtype = at_least_float32(locations).dtype
    total: Tensor = 0.0
    for scale in range(scales):
        side = size * 2**scale
        covered = []
        for axis, pixels in enumerate((height, width)):
            corner = centres[..., axis, None] - side // 2  # (B, T, 1)
            inside = ops.arange(pixels, dtype="int32") - corner  # (B, T, H or W)
            covered.append(ops.cast((inside >= 0) & (inside < side), dtype))
        in_rows, in_columns = covered
        total = total + (in_rows[..., :, None] * in_columns[..., None, :]) / 4**scale
    return total / (scales * size**2)  # (B, T, H, W)


def _patch_pixels(size: int, scales: int) -> np.ndarray:
    """Lists rows and columns of the pixels of all patches, (2, P), relative to the centre."""
    patches = []
    for scale in range(scales):
        side = size * 2**scale
        along = np.arange(side, dtype="int32") - side // 2
        patches.append(np.stack(np.meshgrid(along, along, indexing="ij")).reshape(2, -1))
    return np.concatenate(patches, axis=1)


def _resize(pixels: Tensor, size: int, scales: int) -> Tensor:
    """Averages patches (B, P, C) over blocks: (B, K, g, g, C)."""
    channels, start, resized = pixels.shape[-1], 0, []
    for scale in range(scales):
        block = 2**scale
        count = (size * block) ** 2
        patch = pixels[:, start : start + count]
        patch = ops.reshape(patch, (-1, size, block, size, block, channels))
        resized.append(patch[:, :, 0, :, 0] if block == 1 else ops.mean(patch, axis=(2, 4)))
        start += count
    return ops.stack(resized, axis=1)
