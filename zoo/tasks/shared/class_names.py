"""Names of classes in an order that depends on nothing but the names."""

import re
from collections.abc import Collection

# Python reads no longer ones.
_WHOLE = re.compile(r"-?\d{1,4000}")


def sorted_classes(names: Collection[str]) -> tuple[str, ...]:
    """Sorts names of classes: whole numbers by size, if all of them are, else words by alphabet.

    Equal numbers that are spelled in several ways, such as 1 and 01, are sorted by spelling.
    """
    if all(_WHOLE.fullmatch(name) for name in names):
        return tuple(sorted(names, key=lambda name: (int(name), name)))
    return tuple(sorted(names))
