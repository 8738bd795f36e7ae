"""Digit scenes: two to four digits on a canvas, with the caption that says which and where.

Each digit is cut out of its picture, so its box is known, and put at a place of its own: from left
to right, each clearly above, clearly below or beside the one before. The caption names them from
left to right,

    three above seven beside two

where "above" means that the three lies higher than the seven. A scene has exactly one caption. No
article comes before a digit unless it is asked for: whether it is "a" or "an" depends on the digit,
so a model may look at the digit for the article, and nowhere at the noun.

Digits are red. The ground becomes greener downwards and bluer to the right: a network that sees
only a few pixels at a time could not tell otherwise where they are.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zoo.data.mnist import Pictures

NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
RELATIONS = ("above", "beside", "below")
"""By the sign of the way down to the next digit: positive, none, negative."""

_INK = 60  # the least brightness of a digit's pixel
_CLEAR = 10
"""Pixels between the upper edges of digits of which one is above the other."""
_LEVEL = 2
"""Pixels at most between those of digits that lie beside each other."""


class Box(NamedTuple):
    """A rectangle of pixels: rows from `top` up to `bottom`, columns from `left` up to `right`."""

    top: int
    left: int
    bottom: int
    right: int


class Scene(NamedTuple):
    """Digits of a scene, from left to right."""

    numbers: tuple[int, ...]
    """Rows of the pictures that the digits were cut out of."""
    boxes: tuple[Box, ...]
    caption: str


@dataclass(frozen=True)
class DigitScenes:
    """Pictures of scenes.

    Attributes:
        images: uint8 (N, canvas, canvas, 3), red, green and blue.
        scenes: their contents.
    """

    images: np.ndarray
    scenes: tuple[Scene, ...]

    @property
    def captions(self) -> list[str]:
        """The caption of each scene."""
        return [scene.caption for scene in self.scenes]


def draw_scenes(
    digits: Pictures,
    count: int,
    *,
    canvas: int = 96,
    most: int = 4,
    seed: int = 0,
    articles: bool = False,
) -> DigitScenes:
    """Draws scenes.

    Args:
        digits: pictures of single digits, such as MNIST's.
        count: number of scenes.
        canvas: height and width of a scene.
        most: digits of a scene at most; two at least.
        seed: of choice and places.
        articles: whether "a" or "an" comes before each digit.

    Raises:
        ValueError: a number is too small, or the canvas too small for that many digits.
    """
    for name, value, least in (("count", count, 1), ("most", most, 2)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    tight = [_tight(image) for image in digits.images]
    widest = max(box.right - box.left for box in tight)
    highest = max(box.bottom - box.top for box in tight)
    if canvas < most * widest or canvas < highest + _CLEAR:
        least = max(most * widest, highest + _CLEAR)
        raise ValueError(f"canvas must be at least {least} for {most} digits, got {canvas}")
    generator = np.random.default_rng([seed, 1502])
    images, scenes = np.zeros((count, canvas, canvas, 3), np.uint8), []
    brighter = np.linspace(0, 255, canvas).astype(np.uint8)
    images[..., 1], images[..., 2] = brighter[:, np.newaxis], brighter
    for image in images[..., 0]:
        numbers = generator.integers(0, len(tight), generator.integers(2, most + 1))
        cuts = [tight[n] for n in numbers]
        scenes.append(_place(image, digits, numbers, cuts, generator, articles))
    return DigitScenes(images, tuple(scenes))


def _tight(image: np.ndarray) -> Box:
    """The smallest box with all ink of a digit."""
    rows, columns = (np.flatnonzero((image >= _INK).any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        raise ValueError("digits must have ink, got a blank picture")
    return Box(int(rows[0]), int(columns[0]), int(rows[-1]) + 1, int(columns[-1]) + 1)


def _place(
    image: np.ndarray,
    digits: Pictures,
    numbers: np.ndarray,
    cuts: list[Box],
    generator: np.random.Generator,
    articles: bool,
) -> Scene:
    """Puts digits on a canvas, and says what is there."""
    canvas = len(image)
    gaps = generator.dirichlet(np.ones(len(cuts) + 1))  # the free columns, divided at random
    free = canvas - sum(cut.right - cut.left for cut in cuts)
    lefts = np.floor(free * np.cumsum(gaps)[:-1]).astype(int)
    words: list[str] = []
    boxes: list[Box] = []
    top: int | None = None
    right = 0
    for number, cut, space in zip(numbers, cuts, lefts, strict=True):
        height, width = cut.bottom - cut.top, cut.right - cut.left
        relation = None if top is None else _relation(top, canvas - height, generator)
        top = _row(top, relation, canvas - height, generator)
        left = right + int(space)
        piece = digits.images[number][cut.top : cut.bottom, cut.left : cut.right]
        image[top : top + height, left : left + width] = piece
        words += [] if relation is None else [RELATIONS[relation]]
        name = NAMES[digits.labels[number]]
        words += [*(["an" if name == "eight" else "a"] if articles else []), name]
        boxes.append(Box(top, left, top + height, left + width))
        right += width
    return Scene(tuple(map(int, numbers)), tuple(boxes), " ".join(words))


def _relation(top: int, lowest: int, generator: np.random.Generator) -> int:
    """Chooses where the next digit goes: 0 lower, 1 beside, 2 higher, as far as there is room."""
    room = [0] if top + _CLEAR <= lowest else []
    room += [1] if top <= lowest else []
    room += [2] if top >= _CLEAR else []
    return int(generator.choice(room))


def _row(top: int | None, relation: int | None, lowest: int, generator: np.random.Generator) -> int:
    """Chooses the upper edge of a digit: up to ``lowest``, related to that of the one before."""
    if top is None or relation is None:
        return int(generator.integers(0, lowest + 1))
    if relation == 0:
        return int(generator.integers(top + _CLEAR, lowest + 1))
    if relation == 2:
        return int(generator.integers(0, min(top - _CLEAR, lowest) + 1))
    return int(generator.integers(max(top - _LEVEL, 0), min(top + _LEVEL, lowest) + 1))
