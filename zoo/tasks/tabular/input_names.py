"""Names of columns as names of a signature's inputs."""

import keyword
import re
from collections.abc import Sequence

_TAKEN = {*keyword.kwlist, "self"}  # TensorFlow makes an argument of each input


def input_names(columns: Sequence[str]) -> list[str]:
    """Makes names of columns names of inputs: small letters, digits and underscores, all different.

    Arguments of a graph's functions need such names, and none that Python has a use for.
    """
    found: list[str] = []
    for column in columns:
        name = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_") or "column"
        name = f"column_{name}" if name[0].isdigit() or name in _TAKEN else name
        numbered = (f"{name}_{number}" for number in range(2, len(columns) + 2))
        found.append(next(one for one in (name, *numbered) if one not in found))
    return found
