"""Bounds of numeric settings, declared beside each field and checked before anything is written.

    batch_size: Count | None = None

says that a batch has at least one example. `check_numbers` reads the annotations of a dataclass, so
a recipe's own settings are checked like the shared ones.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, TypeAlias, get_args, get_type_hints


@dataclass(frozen=True)
class Bounds:
    """Interval of numbers, and its description in error messages."""

    words: str
    """Completes the sentence "a setting must be ..."."""
    least: float
    """The smallest number allowed."""
    most: float = math.inf
    """The largest number allowed, infinity excluded."""
    open_below: bool = False
    """Whether `least` itself is excluded."""
    open_above: bool = False
    """Whether `most` itself is excluded."""

    def hold(self, value: float) -> bool:
        """Return whether a number lies in the interval; NaN and infinity never do."""
        above = value > self.least if self.open_below else value >= self.least
        below = value < self.most if self.open_above else value <= self.most
        return math.isfinite(value) and above and below


Count: TypeAlias = Annotated[int, Bounds("positive", 1)]
Whole: TypeAlias = Annotated[int, Bounds("at least 0", 0)]
Seed: TypeAlias = Annotated[int, Bounds("from 0 to 4294967295", 0, 2**32 - 1)]
"""Numbers that NumPy accepts as a seed."""
Positive: TypeAlias = Annotated[float, Bounds("positive and finite", 0, open_below=True)]
NotNegative: TypeAlias = Annotated[float, Bounds("at least 0 and finite", 0)]
Rate: TypeAlias = Annotated[float, Bounds("at least 0 and less than 1", 0, 1, open_above=True)]
Probability: TypeAlias = Annotated[float, Bounds("from 0 to 1", 0, 1)]
Factor: TypeAlias = Annotated[float, Bounds("positive and at most 1", 0, 1, open_below=True)]


def check_numbers(settings: Any) -> None:
    """Refuses a setting outside the bounds of its annotation.

    Args:
        settings: a dataclass; other objects, and fields that are None, are not checked.

    Raises:
        ValueError: names the first such setting, its value and what is expected.
    """
    if not is_dataclass(settings):
        return
    hints = get_type_hints(type(settings), include_extras=True)
    for field in fields(settings):
        value = getattr(settings, field.name)
        for bounds in bounds_of(hints[field.name]):
            for number in value if isinstance(value, tuple) else (value,):
                if number is not None and not bounds.hold(number):
                    raise ValueError(f"{field.name} must be {bounds.words}, got {number}")


def bounds_of(hint: Any) -> Iterator[Bounds]:
    """Yields the bounds in an annotation such as `Count | None` or `tuple[Count, ...]`."""
    if isinstance(hint, Bounds):
        yield hint
    for part in get_args(hint):
        yield from bounds_of(part)
