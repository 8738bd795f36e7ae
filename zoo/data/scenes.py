"""Pictures on larger canvases: each at a random place, among pieces of others.

Mnih et al. 2014 (arXiv 1406.6247), section 4.1: translated MNIST puts a digit at a random place of
a blank canvas; cluttered MNIST adds four pieces of 8 x 8 pixels of other digits, at random places.
Where two overlap, the brighter pixel is seen.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

PIECE = 8  # pixels


@dataclass(frozen=True, eq=False)
class Scenes:
    """Canvases that are drawn when they are asked for: a function of seed and variant.

    Attributes:
        images: uint8 (N, H, W).
        canvas: height and width of a canvas; None: the images are shown as they are.
        pieces: number of pieces of other images on each canvas.
        seed: of places and pieces.

    Raises:
        ValueError: the canvas is smaller than an image, or there are pieces but no canvas, or
            images that are too small for a piece.
    """

    images: np.ndarray
    canvas: int | None = None
    pieces: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Checks the arguments."""
        sides = self.images.shape[1:]
        if self.canvas is not None and self.canvas < max(sides):
            raise ValueError(f"canvas must be at least {max(sides)}, got {self.canvas}")
        if self.pieces and self.canvas is None:
            raise ValueError(f"pieces must be 0 without a canvas, got {self.pieces}")
        if self.pieces and min(sides) < PIECE:
            raise ValueError(f"images must have {PIECE} pixels a side, got {sides}")

    def __len__(self) -> int:
        """Returns the number of images."""
        return len(self.images)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of what is drawn."""
        height, width = self.images.shape[1:]
        return (height, width) if self.canvas is None else (self.canvas, self.canvas)

    def draw(self, rows: np.ndarray, variant: int = 0) -> np.ndarray:
        """Draws images, each on its canvas.

        Args:
            rows: (n,) numbers of the images.
            variant: another one puts all images to other places, among other pieces.

        Returns:
            uint8 (n, height, width, 1).
        """
        if self.canvas is None:
            return self.images[rows][..., None]
        places, pieces = self._plan(variant)
        canvases = np.zeros((len(rows), *self.size), np.uint8)
        _put(canvases, self.images[rows], places[rows])
        for number in range(self.pieces):
            source, crop, place = (part[rows, number] for part in pieces)
            _put(canvases, _crop(self.images[source], crop), place)
        return canvases[..., None]

    def _plan(self, variant: int) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Draws places (N, 2) of all images; sources, crops and places of their pieces."""
        assert self.canvas is not None
        count, sides = len(self.images), self.images.shape[1:]
        return _drawn_plan(count, sides, self.canvas, self.pieces, self.seed, variant)


@lru_cache(maxsize=4)
def _drawn_plan(
    count: int, sides: tuple[int, int], canvas: int, pieces: int, seed: int, variant: int
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    generator = np.random.default_rng([seed, variant])

    def corners(space: list[int], *shape: int) -> np.ndarray:
        return np.stack([generator.integers(0, one + 1, shape) for one in space], axis=-1)

    places = corners([canvas - side for side in sides], count)
    # Another image: the same one would be a second whole of the class.
    sources = np.arange(count)[:, None] + generator.integers(1, max(count, 2), (count, pieces))
    crops = corners([side - PIECE for side in sides], count, pieces) if pieces else sources
    return places, (sources % max(count, 1), crops, corners([canvas - PIECE] * 2, count, pieces))


def _put(canvases: np.ndarray, images: np.ndarray, places: np.ndarray) -> None:
    """Puts images (n, h, w) with their upper left corners at places (n, 2) of canvases."""
    where = _pixels(places, images.shape[1:])
    canvases[where] = np.maximum(canvases[where], images)


def _crop(images: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Cuts a piece out of each image."""
    piece: np.ndarray = images[_pixels(corners, (PIECE, PIECE))]
    return piece


def _pixels(corners: np.ndarray, sides: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Indices of the pixels of a rectangle of each of n pictures, for NumPy."""
    rows = corners[:, 0, None, None] + np.arange(sides[0])[:, None]
    columns = corners[:, 1, None, None] + np.arange(sides[1])
    return np.arange(len(corners))[:, None, None], rows, columns
