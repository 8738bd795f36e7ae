"""Numbers that all examples of a request share, such as the width of a beam, and their defaults."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

_PENALTY = "length_penalty"
_DRAWN = {"top_k": 0, "top_p": 1.0, "seed": 0}


def complete_options(
    names: Iterable[str],
    given: Mapping[str, Any],
    limits: Mapping[str, Any],
    shown: Callable[[str], str] = str,
) -> dict[str, Any]:
    """Completes the scalar inputs of a signature.

    Continuations of a text are the likeliest, unless one of the options of drawing is given, and
    without unknown words.

    Args:
        names: The inputs.
        given: Name -> value.
        limits: Those of the model card, the defaults of searches.
        shown: Writes a name as the user does, for errors.

    Returns:
        Name -> value, for every one of the names.

    Raises:
        ValueError: One is not given and has no default; a length penalty is negative or not finite.
    """
    temperature = 1.0 if _DRAWN.keys() & given.keys() else 0.0
    written = {"temperature": temperature, "forbid_unknown": True}
    known = {**_DRAWN, **written, **limits, **given}
    for name in names:
        if name not in known:
            raise ValueError(f"{shown(name)} must be given: the model has no default for it")
        if name == _PENALTY and not _is_penalty(known[name]):
            raise ValueError(
                f"{shown(name)} must be a finite number of at least 0, got {known[name]}"
            )
    return {name: known[name] for name in names}


def _is_penalty(value: Any) -> bool:
    """Whether scores can be divided by the penalty; what is no number is refused by its type."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return True
    return math.isfinite(number) and number >= 0
