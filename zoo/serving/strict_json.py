"""JSON files that are read strictly: every key, of the type that a dataclass declares.

They come from strangers as well: from a downloaded archive, or a server. Errors name the file and
the dotted key, and cut long values.
"""

import dataclasses
import json
import math
import re
import reprlib
import sys
import types
import typing
from typing import Any

LATER = types.MappingProxyType({"later": True})
"""Metadata of a field that older files lack."""

_DEEPEST = 30  # lists and objects inside each other; configurations of Keras have three or four
_TOO_DEEP = f"holds lists and objects that are more than {_DEEPEST} deep inside each other"
# They end a line, move the cursor, turn the direction of writing round, or are no text at all.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def parse_json(text: str | bytes, source: object) -> Any:
    """Parses JSON whose strings can be printed and whose numbers are finite.

    Args:
        text: In UTF-8, if it is bytes.
        source: Where it comes from, for the error.

    Returns:
        Lists, dicts, strings, numbers.

    Raises:
        ValueError: It is no JSON, too deep, has a key twice in an object, or holds control
            characters or infinite numbers.
    """
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        values = json.loads(
            decoded, parse_constant=_refuse_constant, object_pairs_hook=with_distinct_keys
        )
    except RecursionError:
        raise ValueError(f"{source}: {_TOO_DEEP}") from None
    except ValueError as error:
        raise ValueError(f"{source}: not a JSON file: {error}") from error
    check_content(values, source)
    return values


def printable(text: str) -> str:
    """Text for a terminal: control characters, in a folder's name for instance, are written out."""
    return _UNPRINTABLE.sub(lambda found: ascii(found[0])[1:-1], text)


def check_content(value: Any, source: object, depth: int = 0) -> None:
    """Raises ValueError for what no terminal and no reader of JSON should be given."""
    if depth > _DEEPEST:
        raise ValueError(f"{source}: {_TOO_DEEP}")
    if isinstance(value, str) and _UNPRINTABLE.search(value):
        raise ValueError(f"{source}: text must have no control characters, got {shown(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{source}: numbers must be finite, got {value}")
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple):
        for item in value:
            check_content(item, source, depth + 1)


def shown(value: Any) -> str:
    """A value in a message, cut where it is long."""
    shortened = reprlib.Repr()
    shortened.maxstring = shortened.maxlong = shortened.maxother = 100
    return shortened.repr(value)


def from_json(cls: type, values: Any, source: object, place: str = "") -> Any:
    """Makes a dataclass of a JSON object, key by key.

    Args:
        cls: The dataclass. Fields whose metadata is `LATER` may be missing. A method `check_fields`
            refuses values that have the right types and are wrong all the same.
        values: What `parse_json` gives.
        source: Where they come from, for the error.
        place: Dotted key of the object, with a dot at the end.

    Returns:
        An object of the class.

    Raises:
        ValueError: A key that is missing, unknown or of another type; names it.
    """
    if not isinstance(values, dict):
        whole = getattr(cls, "CALLED", "the file")
        raise ValueError(f"{source}: {place or whole} must be an object, got {shown(values)}")
    fields = {field.name: field for field in dataclasses.fields(cls)}
    for key in sorted(values.keys() - fields.keys()):
        raise ValueError(f"{source}: unknown key {shown(place + key)}; known: {', '.join(fields)}")
    for key, field in fields.items():
        if key not in values and field.metadata != LATER:
            raise ValueError(f"{source}: key '{place}{key}' is missing")
    hints = typing.get_type_hints(cls)
    made = cls(
        **{key: _checked(hints[key], value, source, place + key) for key, value in values.items()}
    )
    if hasattr(made, "check_fields"):
        try:
            made.check_fields()
        except ValueError as error:
            raise ValueError(f"{source}: key {error}") from error
    return made


def _checked(hint: Any, value: Any, source: object, key: str) -> Any:
    """Returns a value that has the type its field declares."""
    union = typing.get_args(hint) if isinstance(hint, types.UnionType) else ()
    record = next((one for one in union or (hint,) if dataclasses.is_dataclass(one)), None)
    if record is not None and (isinstance(value, dict) or not union):
        return from_json(typing.cast(type, record), value, source, f"{key}.")
    classes = tuple(typing.get_origin(one) or one for one in union)
    expected = classes or typing.get_origin(hint) or hint
    if expected is float and type(value) is int and abs(value) < sys.float_info.max:
        value = float(value)
    # `True` is an int to isinstance, but not a seed.
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        raise ValueError(f"{source}: key '{key}' must be {_type_name(hint)}, got {shown(value)}")
    entry = typing.get_args(hint)[-1] if expected in (dict, list) else Any
    if entry is Any:
        return value
    if expected is list:
        return [_checked(entry, item, source, f"{key}.{at}") for at, item in enumerate(value)]
    return {name: _checked(entry, item, source, f"{key}.{name}") for name, item in value.items()}


def _type_name(hint: Any) -> str:
    if isinstance(hint, types.UnionType) and types.NoneType in typing.get_args(hint):
        return "an object or null"
    if typing.get_origin(hint) is list:
        return "a list"
    names = {str: "a string", int: "a whole number", float: "a number", int | float: "a number"}
    return names.get(hint, "an object") if not isinstance(hint, types.GenericAlias) else "an object"


def with_distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Makes the dict of a JSON object, the last of whose equal keys would win in silence.

    Raises:
        ValueError: a key is given more than once.
    """
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"key {shown(key)} is given more than once")
        found[key] = value
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")
