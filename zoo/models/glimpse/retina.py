"""The glimpse sensor of the recurrent attention model: rho(x, l) of section 3.1.

Volodymyr Mnih, Nicolas Heess, Alex Graves, Koray Kavukcuoglu: Recurrent Models of Visual Attention.
NIPS 2014, arXiv 1406.6247.

A location l is (row, column) in [-1, 1]^2: (0, 0) is the centre of the image, (-1, -1) its upper
left corner. Its pixel is ``c = floor(0.5 (l + 1) size + 0.5)``, and a patch of side k covers the
pixels ``c - k // 2`` to ``c - k // 2 + k - 1``, zeros outside of the image.

Shape letters: B images, H and W pixels, C channels, T glimpses, K scales, g side of a patch in
cells, S side of the largest in pixels.
"""

import numpy as np
from keras import ops

from zoo.ops.masking import Tensor, at_least_float32

_NARROW = 5  # times the side of a window: up to there, whole rows are read faster than pixels


def look_at(images: Tensor, locations: Tensor, size: int, scales: int) -> Tensor:
    """Looks at one location of each image.

    All patches are parts of the largest one, so only that is read. No gradient flows to the
    locations.

    Args:
        images: (B, H, W, C).
        locations: (B, 2), each in [-1, 1].
        size: side g of the patches, in cells.
        scales: number of patches K; patch k has the side ``g 2^k`` in pixels.

    Returns:
        (B, K, g, g, C): the patches, averaged over blocks of ``2^k x 2^k`` pixels.
    """
    _, height, width, channels = ops.shape(images)
    side = size * 2 ** (scales - 1)
    centres = pixel_centres(locations, height, width)
    offsets = np.arange(side, dtype="int32") - side // 2
    rows, columns = (centres[:, axis, None] + offsets for axis in (0, 1))  # (B, S) each
    narrow = isinstance(width, int) and width * channels <= _NARROW * side
    read = _read_by_rows if narrow else _read_by_pixels
    window = read(images, rows, columns)  # (B, S, S, C), columns first
    cells = []
    for scale in range(scales):
        block, first = 2**scale, side // 2 - size * 2**scale // 2
        patch = window[:, first : first + size * block, first : first + size * block]
        cells.append(_block_means(patch, block))
    return ops.transpose(ops.stack(cells, axis=1), (0, 1, 3, 2, 4))


def _block_means(patch: Tensor, block: int) -> Tensor:
    """Averages a patch (B, S, S, C) over blocks of pixels: (B, S / block, S / block, C).

    An average pool does the same. On the CPU, with the one channel of grey images, that is about
    ten times as slow as these sums over rows and a product over columns.
    """
    if block == 1:
        return patch
    _, side, _, channels = patch.shape
    cells = side // block
    rows = ops.reshape(patch, (-1, cells, block, side * channels))
    rows = sum(rows[:, :, row] for row in range(block))  # (B, S / block, S C)
    into_cells = np.kron(np.eye(cells), np.full((block, 1), 1 / block**2))  # (S, S / block)
    kernel = ops.convert_to_tensor(np.kron(into_cells, np.eye(channels)), rows.dtype)
    return ops.reshape(rows @ kernel, (-1, cells, cells, channels))


def _read_by_pixels(images: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Reads the pixels of S rows and S columns (B, S) of each image, column by column.

    The cost does not depend on the size of the images. Outside of them, zeros are read.

    Returns:
        (B, S, S, C), the columns first. Turning the few cells is cheaper than turning all pixels.
    """
    batch, height, width, channels = ops.shape(images)
    within = _within(columns, width)[:, :, None] & _within(rows, height)[:, None]  # (B, S, S)
    first = ops.arange(batch, dtype="int32")[:, None] * height
    begins = (first + ops.clip(rows, 0, height - 1)) * width  # of the rows (B, S)
    places = begins[:, None] + ops.clip(columns, 0, width - 1)[:, :, None]  # (B, S, S)
    pixels = ops.take(ops.reshape(images, (-1, channels)), places, axis=0)
    return _or_zero(pixels, within[..., None])


def _read_by_rows(images: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Reads the same: whole rows, then columns of these, which is faster if rows are short."""
    batch, height, width, channels = ops.shape(images)
    which = ops.arange(batch, dtype="int32")[:, None]
    places = which * height + ops.clip(rows, 0, height - 1)  # (B, S)
    found = ops.take(ops.reshape(images, (-1, width, channels)), places, axis=0)  # (B, S, W, C)
    found = _or_zero(found, _within(rows, height)[..., None, None])
    found = ops.transpose(found, (0, 2, 1, 3))  # (B, W, S, C)
    places = which * width + ops.clip(columns, 0, width - 1)
    found = ops.reshape(found, (-1, rows.shape[1], channels))  # (B W, S, C)
    return _or_zero(ops.take(found, places, axis=0), _within(columns, width)[..., None, None])


def _within(places: Tensor, size: Tensor) -> Tensor:
    return (places >= 0) & (places < size)


def _or_zero(pixels: Tensor, within: Tensor) -> Tensor:
    return ops.where(within, pixels, ops.zeros((), pixels.dtype))


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
