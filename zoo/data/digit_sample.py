"""Generated pictures of digits: small, built in, the same on every machine.

Each digit is drawn with the strokes of a seven-segment display, whose corners are moved a little,
with a pen of random width, anywhere near the middle of 28 x 28 pixels, on a noisy ground.
"""

import numpy as np

from zoo.data.mnist import Pictures

SAMPLE_IMAGES = {"train": 4000, "dev": 500, "test": 500}

_SEED = 1406
_SIDE, _HEIGHT, _WIDTH = 28, 15.0, 8.0
# Corners from the upper left, by rows.
_STROKES = {
    "a": (0, 1),
    "b": (1, 3),
    "c": (3, 5),
    "d": (4, 5),
    "e": (2, 4),
    "f": (0, 2),
    "g": (2, 3),
}
_DIGITS = ("abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg")


def digit_sample(split: str) -> Pictures:
    """Generates one part.

    Args:
        split: ``"train"``, ``"dev"`` or ``"test"``.

    Raises:
        ValueError: there is no such split.
    """
    if split not in SAMPLE_IMAGES:
        raise ValueError(f"split must be one of {sorted(SAMPLE_IMAGES)}, got {split!r}")
    generator = np.random.default_rng([_SEED, list(SAMPLE_IMAGES).index(split)])
    labels = generator.integers(0, 10, SAMPLE_IMAGES[split])
    images = np.stack([_draw(_DIGITS[label], generator) for label in labels])
    return Pictures(images, labels)


def handwritten_three(height: int = _SIDE, width: int = _SIDE) -> np.ndarray:
    """Writes a digit as a hand does, in nobody's collection: uint8 (height, width).

    Pictures that are committed show this one, since those of MNIST belong to it. The digit is in
    the middle of 28 x 28 pixels, and these are in the middle of larger images.
    """
    turn = np.linspace(0.0, 1.0, 40)[:, None]

    def arc(middle: tuple, halves: tuple, first: float, last: float) -> np.ndarray:
        angles = np.deg2rad(first + (last - first) * turn)
        around = np.concatenate([-np.sin(angles), np.cos(angles)], axis=1)
        points: np.ndarray = np.array(middle) + np.array(halves) * around
        return points

    points = np.concatenate(
        [arc((9.9, 13.6), (4.0, 4.4), 150, -80), arc((17.9, 13.4), (4.2, 5.1), 80, -155)]
    )
    points[:, 1] -= 0.12 * (points[:, 0] - _SIDE / 2)  # it leans
    points += ((height - _SIDE) // 2, (width - _SIDE) // 2)
    pixels = np.moveaxis(np.mgrid[:height, :width], 0, -1).astype("float64")
    distance = _distances(pixels[:, :, None], points[:-1], points[1:]).min(axis=-1)
    written: np.ndarray = (255 * np.clip(1.9 - distance, 0.0, 1.0)).astype("uint8")
    return written


def _draw(strokes: str, generator: np.random.Generator) -> np.ndarray:
    """Draws a digit: uint8 (28, 28)."""
    corners = np.array([(i, j) for i in (0.0, 0.5, 1.0) for j in (0.0, 1.0)]) - 0.5
    corners = corners * (_HEIGHT, _WIDTH) + generator.normal(0.0, 0.8, (6, 2))
    corners += (_SIDE - 1) / 2 + generator.uniform(-3.0, 3.0, 2)
    pixels = np.moveaxis(np.mgrid[:_SIDE, :_SIDE], 0, -1).astype("float64")  # (28, 28, 2)
    ends = np.array([[corners[end] for end in _STROKES[stroke]] for stroke in strokes])
    distance = _distances(pixels[:, :, None], ends[:, 0], ends[:, 1]).min(axis=-1)  # (28, 28)
    ink = np.clip(generator.uniform(0.8, 1.6) + 0.5 - distance, 0.0, 1.0)
    grey = 235.0 * ink + generator.uniform(0.0, 20.0, ink.shape)
    drawn: np.ndarray = grey.astype("uint8")
    return drawn


def _distances(points: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Distances of points (..., 1, 2) to the lines between starts and ends (n, 2): (..., n)."""
    along = ends - starts
    share = np.sum((points - starts) * along, axis=-1) / np.maximum(np.sum(along**2, axis=-1), 1e-9)
    nearest = starts + np.clip(share, 0.0, 1.0)[..., None] * along
    distances: np.ndarray = np.sqrt(np.sum((points - nearest) ** 2, axis=-1))
    return distances
