"""A painted picture to ask captioners about: a dog on a lawn, in nobody's collection.

Pictures of data sets may not be shown outside of research, so the pictures that are committed show
this one. It is made of ellipses and smoothed noise, and is the same on every machine.
"""

import numpy as np

SIDE = 160

_COAT = np.array([150.0, 98.0, 48.0])
_RED = (190.0, 90.0, 95.0)
# Row and column of the middle, half height and half width, degrees, and color; from back to front.
_DOG = (
    ((108, 58), (20, 4.5), 14, 0.55 * _COAT),  # the legs behind
    ((108, 112), (20, 4.5), -16, 0.55 * _COAT),
    ((86, 84), (16, 34), 4, _COAT),  # body
    ((84, 110), (17, 14), 0, _COAT),
    ((88, 56), (15, 13), 0, _COAT),
    ((108, 48), (20, 5), -18, 0.85 * _COAT),  # the legs in front
    ((108, 120), (20, 5), 14, 0.85 * _COAT),
    ((72, 38), (3, 16), 28, 0.9 * _COAT),  # tail
    ((70, 118), (14, 8), -40, _COAT),  # neck
    ((58, 126), (11, 13), 0, _COAT),  # head
    ((63, 139), (5.5, 10), 8, 1.15 * _COAT),  # muzzle
    ((60, 148), (3, 3.4), 0, (25.0, 20.0, 20.0)),  # nose
    ((55, 131), (1.8, 1.8), 0, (20.0, 15.0, 12.0)),  # eye
    ((57, 117), (11, 5), 12, 0.5 * _COAT),  # ear
    ((69, 141), (2, 6), 10, _RED),  # tongue
)
_FURRY = (2, 3, 4, 9)
_SHADOW = ((122, 82), (5, 46), 0)


def dog_on_grass() -> np.ndarray:
    """Paints the picture: uint8 (160, 160, 3)."""
    generator = np.random.default_rng(0)
    pixels = _meadow(generator)
    pixels = _over(pixels, 0.5 * _ellipse(*_SHADOW), (40.0, 60.0, 25.0))
    for middle, halves, degrees, color in _DOG:
        pixels = _over(pixels, _ellipse(middle, halves, degrees), color)
    fur = np.sum([_ellipse(*_DOG[number][:3]) for number in _FURRY], axis=0).clip(0.0, 1.0)
    pixels = pixels + (fur * _smooth(18.0 * generator.normal(size=(SIDE, SIDE)), 1))[..., None]
    pixels = _smooth(pixels, 1) + generator.normal(0.0, 3.0, pixels.shape)
    painted: np.ndarray = pixels.clip(0, 255).astype("uint8")
    return painted


def _meadow(generator: np.random.Generator) -> np.ndarray:
    """Paints sky, bushes and lawn: (160, 160, 3)."""
    noise = generator.normal(size=(3, SIDE, SIDE))
    rows = np.mgrid[:SIDE, :SIDE][0][..., None].astype("float64")  # (160, 160, 1)
    sky = np.array([150.0, 190.0, 225.0]) + rows / SIDE * (60.0, 40.0, 20.0)
    bushes = np.array([48.0, 78.0, 40.0]) + 60.0 * _smooth(noise[0], 6)[..., None]
    texture = 26.0 * _smooth(noise[1], 1) + 30.0 * _smooth(noise[2], 8)
    blades = np.mean([np.roll(texture, shift, axis=0) for shift in range(4)], axis=0)[..., None]
    lawn = np.array([86.0, 132.0, 48.0]) + blades * (1.0, 1.1, 0.7) + 0.25 * (rows - 100)
    is_bush = ((rows - 22) / 6).clip(0, 1) * ((62 - rows) / 4).clip(0, 1)
    is_lawn = ((rows - 56) / 4).clip(0, 1)
    pixels = sky * (1 - is_bush) + bushes * is_bush
    meadow: np.ndarray = pixels * (1 - is_lawn) + lawn * is_lawn
    return meadow


def _ellipse(
    middle: tuple[float, float], halves: tuple[float, float], degrees: float
) -> np.ndarray:
    """Coverage of an ellipse with a soft edge, from 0 to 1: (160, 160)."""
    down, right = np.mgrid[:SIDE, :SIDE] - np.array(middle, "float64")[:, None, None]
    angle = np.deg2rad(degrees)
    along = right * np.cos(angle) + down * np.sin(angle)
    across = down * np.cos(angle) - right * np.sin(angle)
    distance = np.hypot(across / halves[0], along / halves[1])
    coverage: np.ndarray = ((1 - distance) / 0.06 + 0.5).clip(0.0, 1.0)
    return coverage


def _over(pixels: np.ndarray, coverage: np.ndarray, color: np.ndarray | tuple) -> np.ndarray:
    """Paints a color over what is there."""
    share = coverage[..., None]
    painted: np.ndarray = pixels * (1 - share) + np.asarray(color) * share
    return painted


def _smooth(values: np.ndarray, times: int) -> np.ndarray:
    """Mixes each pixel with its four neighbours, several times."""
    for _ in range(times):
        around = [np.roll(values, shift, axis) for axis in (0, 1) for shift in (1, -1)]
        values = (4 * values + sum(around)) / 8
    return values
