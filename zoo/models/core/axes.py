"""Meanings of the axes of attention maps and of other outputs.

A model names them for its maps (``ATTENTION``), an endpoint for what it answers. They are written
into the model card, and so read where there is no Keras: this file needs none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeAlias

SENTINEL = "(none)"
"""Label of the position of a trained vector that stands for "nothing here"."""

BEFORE = "(before)"
"""Label of the position of everything before a text."""


@dataclass(frozen=True)
class Tokens:
    """The tokens of a text that is read; one position at least, also of an empty text."""

    of: str
    """Name of the text: that of the model's input, or the one before ``_tokens`` and ``_length`` in
    an answer."""
    sentinel: bool = False
    """Whether one more position follows that is no token: a trained vector for "nothing here", or
    the state before the first token."""


@dataclass(frozen=True)
class Sentences:
    """The sentences of a text that is read."""

    of: str
    """Name of the model's input."""


@dataclass(frozen=True)
class Steps:
    """The steps in which a model works: they write a text, one token each, or look again."""

    of: str
    """Name of the text that is written, as for ``Tokens``; of vectors that are read step by step;
    or of the constructor's argument that says how many steps there are."""


@dataclass(frozen=True)
class Grid:
    """The cells of an image: two axes, rows from the top and columns from the left."""

    of: str
    """Name of the image; or of the vectors that describe its cells, row by row."""
    cell: int = 1
    """Width and height of a cell in pixels; cells at the right and lower edges may be cut."""


@dataclass(frozen=True)
class Slots:
    """The places of a memory."""

    count: int | str
    """How many there are, or the constructor's argument that says so."""


@dataclass(frozen=True)
class Features:
    """The features of a row of a table, numeric ones first."""

    of: str
    """Name of the row."""


@dataclass(frozen=True)
class Listed:
    """The places of a list of strings that is filled up with empty ones."""

    of: str
    """Name of the output that holds the strings."""


Axis: TypeAlias = Tokens | Sentences | Steps | Grid | Slots | Features | Listed
Axes: TypeAlias = tuple[Axis, ...]

_KINDS: dict[str, type[Axis]] = {
    kind.__name__.lower(): kind
    for kind in (Tokens, Sentences, Steps, Grid, Slots, Features, Listed)
}


def rank(axis: Axis) -> int:
    """Number of a tensor's axes that ``axis`` takes."""
    return 2 if isinstance(axis, Grid) else 1


def to_json(axes: Mapping[str, Sequence[Axis]]) -> dict[str, list[dict[str, Any]]]:
    """Describes the last axes of named outputs by lists, objects, strings and numbers."""
    return {
        name: [{"kind": type(axis).__name__.lower(), **asdict(axis)} for axis in of]
        for name, of in axes.items()
    }


def from_json(values: Any) -> dict[str, Axes]:
    """Reads what ``to_json`` wrote.

    Raises:
        ValueError: if it is anything else; names the output.
    """
    if not isinstance(values, Mapping):
        raise ValueError(f"axes must be an object, got {values!r}")
    return {name: _axes(name, listed) for name, listed in values.items()}


def _axes(name: str, listed: Any) -> Axes:
    if not isinstance(listed, list):
        raise ValueError(f"axes of {name} must be a list, got {listed!r}")
    return tuple(_axis(name, value) for value in listed)


def _axis(name: str, value: Any) -> Axis:
    given = dict(value) if isinstance(value, Mapping) else {}
    kind = given.pop("kind", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"axes of {name} must be of the kinds {', '.join(_KINDS)}, got {value!r}")
    types = {field.name: field.type for field in fields(_KINDS[kind])}
    if given.keys() != types.keys() or not all(
        type(given[key]) in _classes(wanted) for key, wanted in types.items()
    ):
        expected = ", ".join(f"{key}: {_shown(wanted)}" for key, wanted in types.items())
        raise ValueError(f"axes of {name}: {kind} must have {expected}, got {given!r}")
    return _KINDS[kind](**given)


def _classes(wanted: Any) -> tuple[type, ...]:
    """The classes of a field's values; a whole number is not a truth value here."""
    return getattr(wanted, "__args__", (wanted,))


def _shown(wanted: Any) -> str:
    return " | ".join(one.__name__ for one in _classes(wanted))
