"""Settings that another one leaves without use are refused, not ignored in silence."""

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any


def refuse_given(given: Any, names: Iterable[str], situation: str) -> None:
    """Refuses settings that are given and would have no effect.

    Args:
        given: settings, before defaults that depend on the data fill them in.
        names: of the settings without effect.
        situation: says why they have none, such as "with the model lstm".

    Raises:
        ValueError: if one of them is not what it is by default.
    """
    default = {field.name: field.default for field in fields(given)}
    for name in names:
        value = getattr(given, name)
        if value != default[name]:
            shown = str(value) if isinstance(value, Path) else value
            raise ValueError(f"{name} must be left out {situation}, got {shown!r}")
