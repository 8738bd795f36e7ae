"""JSON files: written atomically, and read with errors that name the file."""

import dataclasses
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoo.files import whole_file


def plain(value: Any) -> Any:
    """Convert `value` to its JSON form: dataclasses and mappings to dict, paths to str."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    return json.loads(json.dumps(value, default=_encode))


def read_json(path: Path) -> Any:
    """Return the content of a JSON file.

    Raises:
        ValueError: it is not JSON; names the file.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged, it holds no JSON: {error}") from error


def read_object(path: Path) -> dict[str, Any]:
    """Return the content of a JSON file that holds an object.

    Raises:
        ValueError: it holds something else; names the file.
    """
    value = read_json(path)
    if not isinstance(value, dict):
        raise ValueError(f"{path} is damaged: it must be a JSON object, got {str(value)[:40]}")
    return value


def as_json(value: Any) -> bytes:
    """Return the content of a JSON file.

    Args:
        value: a JSON value that may also contain NumPy scalars, paths, sets and dataclasses. NaN
            and infinities, which JSON has not, become null; `with_nan` reads it.

    Raises:
        ValueError: a text, such as the name of a file, is not valid UTF-8.
    """
    text = json.dumps(_finite(plain(value)), indent=2, ensure_ascii=False, allow_nan=False)
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError as error:
        line = next(one for one in text.splitlines() if text[error.start] in one).strip()
        raise ValueError(f"text and names of files must be valid UTF-8, got {line!r}") from error


def with_nan(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return named numbers of a file with NaN for those that were not finite."""
    return {name: math.nan if value is None else value for name, value in values.items()}


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically: a kill leaves the old file or the new one.

    Args:
        path: the file; its folder exists.
        value: as in `as_json`.
    """
    content = as_json(value)
    with whole_file(path) as file:
        file.write(content)


def _finite(value: Any) -> Any:
    """Return a JSON value with None for numbers that are not finite."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _encode(value: Any) -> Any:
    """Convert a value that `json` cannot write to one that it can."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if hasattr(value, "tolist"):  # NumPy scalars and arrays
        return value.tolist()
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be written as JSON")
