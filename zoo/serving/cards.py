"""Model cards: what a shipped model is, where it comes from and how well it does, as JSON.

A card lies beside the SavedModel (`model_card.json`). It holds what the SavedModel cannot: the
class and configuration from which the Keras model is made again, the data and settings behind the
reported numbers, and the checksums by which a damaged or exchanged file is found out.
"""

import dataclasses
import json
import math
import re
import reprlib
import sys
import types
import typing
from pathlib import Path
from typing import Any

from zoo.data.download import file_sha256
from zoo.files import whole_text
from zoo.models.core.axes import from_json

CARD_FILE = "model_card.json"
SAVED_MODEL_FILE = "saved_model.pb"
_DEEPEST = 30  # lists and objects inside each other; configurations of Keras have three or four
_TOO_DEEP = f"holds lists and objects that are more than {_DEEPEST} deep inside each other"
# They end a line, move the cursor, turn the direction of writing round, or are no text at all.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# What is told apart by task looks it up, the page of the explorer in an object of JavaScript, which
# has a constructor whatever else it holds.
_TASK = re.compile(r"(?!constructor$)[a-z]+(_[a-z]+)*")
_LATER = {"axes"}  # cards were written before there was this key
_SAVED_MODEL_PARTS = (SAVED_MODEL_FILE, "fingerprint.pb", "variables", "assets", "assets.extra")


@dataclasses.dataclass(frozen=True)
class DataRecord:
    """The data that a model was trained and measured on."""

    name: str
    """Data set, such as "squad"; "sample" for the generated one."""
    training: str
    """Training part: a split and, if not all of it, how much."""
    evaluation: str
    """The split on which the metrics were measured."""
    sha256: dict[str, str] = dataclasses.field(default_factory=dict)
    """File name -> SHA-256, of every file read; empty for generated data."""
    remarks: str = ""
    """Remarks for readers of the numbers, such as that a set is a reconstructed one."""


@dataclasses.dataclass(frozen=True)
class ModelCard:
    """Everything that is told about a shipped model; one field, one key of the JSON file."""

    model_class: str
    """Name under which the class is registered with Keras, such as "zoo>SomeModel"."""
    config: dict[str, Any]
    """Arguments of the constructor, as `get_config` gives them."""
    task: str
    """Such as "reading"; decides the names of inputs, targets and outputs."""
    data: DataRecord
    metrics: dict[str, float]
    """Metric -> value on the evaluation split."""
    seed: int
    wall_time_seconds: float
    """Duration of the whole training without interruptions."""
    hardware: str
    trainable_parameters: int
    total_parameters: int
    """Trainable and frozen ones, such as fixed word vectors."""
    date: str
    """Date of the export, ISO 8601."""
    versions: dict[str, str]
    """Library -> version at the export."""
    limits: dict[str, int | float] = dataclasses.field(default_factory=dict)
    """Limits of the servable, such as `maximum_context_tokens`, and how it searches."""
    tokenizer: dict[str, Any] = dataclasses.field(default_factory=dict)
    """How strings became tokens, as the tokenizer's `get_config` gives it."""
    axes: dict[str, Any] | None = None
    """Output -> the meaning of its last axes, as `zoo.models.core.axes` writes it; set by the
    export. None, or no such key: the outputs have the names of the zoo's tasks, which tell."""
    sha256: dict[str, str] = dataclasses.field(default_factory=dict)
    """Path inside the folder -> SHA-256, of every file of the SavedModel; set by the export."""


def write_card(folder: str | Path, card: ModelCard) -> Path:
    """Writes `model_card.json` in one step: a reader sees the old card or the new one, whole.

    Args:
        folder: Folder of the SavedModel.
        card: What to write.

    Returns:
        Path of the file.

    Raises:
        ValueError: The card holds something that JSON cannot, such as a tensor or a NaN, or that
            `read_card` refuses.
    """
    path = Path(folder) / CARD_FILE
    values = dataclasses.asdict(card)
    try:
        text = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"card for {path}: a value cannot be written as JSON ({error})") from error
    _check_content(values, path)
    with whole_text(path) as file:
        file.write(text + "\n")
    return path


def read_card(folder: str | Path) -> ModelCard:
    """Reads and checks the card of a shipped model.

    Args:
        folder: Folder of the SavedModel.

    Returns:
        The card.

    Raises:
        ValueError: No card, none that can be read, no JSON, a key that is missing, unknown or of
            another type, control characters, or a task that is no name; names the file and the key.
    """
    path = Path(folder) / CARD_FILE
    try:
        values = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except FileNotFoundError:
        raise ValueError(f"{folder}: has no model card ({CARD_FILE})") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from error
    except RecursionError:
        raise ValueError(f"{path}: {_TOO_DEEP}") from None
    except ValueError as error:
        raise ValueError(f"{path}: not a JSON file: {error}") from error
    _check_content(values, path)
    card: ModelCard = _from_json(ModelCard, values, path, "")
    return card


def printable(text: str) -> str:
    """Text for a terminal: control characters, in a folder's name for instance, are written out."""
    return _UNPRINTABLE.sub(lambda found: ascii(found[0])[1:-1], text)


def file_checksums(folder: str | Path) -> dict[str, str]:
    """SHA-256 of every file of a SavedModel; the card and pictures beside it do not belong to it.

    Args:
        folder: Folder of the SavedModel.

    Returns:
        Path inside the folder, with forward slashes -> SHA-256, sorted by path.
    """
    folder = Path(folder)
    parts = [folder / part for part in _SAVED_MODEL_PARTS]
    files = [file for part in parts for file in (part, *part.rglob("*")) if file.is_file()]
    return {file.relative_to(folder).as_posix(): file_sha256(file) for file in sorted(files)}


def verify(folder: str | Path) -> ModelCard:
    """Checks that the files of a shipped model are the ones that its card describes.

    Args:
        folder: Folder of the SavedModel.

    Returns:
        The card.

    Raises:
        ValueError: A file is missing, was added or differs; names all of them.
    """
    card = read_card(folder)
    found = file_checksums(folder)
    if SAVED_MODEL_FILE not in card.sha256:
        raise ValueError(f"{Path(folder) / CARD_FILE}: key 'sha256' lists no {SAVED_MODEL_FILE}")
    problems = [f"{name} is missing" for name in sorted(card.sha256.keys() - found.keys())]
    problems += [f"{name} is not in the card" for name in sorted(found.keys() - card.sha256.keys())]
    problems += [
        f"{name} differs" for name in found if card.sha256.get(name, found[name]) != found[name]
    ]
    if problems:
        raise ValueError(f"{folder}: not the files that its card describes: {'; '.join(problems)}")
    return card


def _check_content(value: Any, path: Path, depth: int = 0) -> None:
    """Raises ValueError for what no terminal and no reader of JSON should be given."""
    if depth > _DEEPEST:
        raise ValueError(f"{path}: {_TOO_DEEP}")
    if isinstance(value, str) and _UNPRINTABLE.search(value):
        raise ValueError(f"{path}: text must have no control characters, got {_shown(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{path}: numbers must be finite, got {value}")
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple):
        for item in value:
            _check_content(item, path, depth + 1)


def _shown(value: Any) -> str:
    """A value in a message, cut where it is long."""
    shortened = reprlib.Repr()
    shortened.maxstring = shortened.maxlong = shortened.maxother = 100
    return shortened.repr(value)


def _from_json(cls: type, values: Any, path: Path, place: str) -> Any:
    """Makes a dataclass of a JSON object, key by key; `place` is the dotted key of the object."""
    if not isinstance(values, dict):
        raise ValueError(f"{path}: {place or 'the card'} must be an object, got {_shown(values)}")
    fields = {field.name: field for field in dataclasses.fields(cls)}
    for key in sorted(values.keys() - fields.keys()):
        raise ValueError(f"{path}: unknown key {_shown(place + key)}; known: {', '.join(fields)}")
    for key in fields:
        if key not in values and key not in _LATER:
            raise ValueError(f"{path}: key '{place}{key}' is missing")
    hints = typing.get_type_hints(cls)
    arguments = {
        key: _checked(hints[key], value, path, f"{place}{key}") for key, value in values.items()
    }
    if cls is ModelCard and not _TASK.fullmatch(arguments["task"]):
        raise ValueError(
            f"{path}: key 'task' must be a name such as 'language_model',"
            f" got {_shown(arguments['task'])}"
        )
    if arguments.get("axes") is not None:
        try:
            from_json(arguments["axes"])
        except ValueError as error:
            raise ValueError(f"{path}: key 'axes': {error}") from error
    return cls(**arguments)


def _checked(hint: Any, value: Any, path: Path, key: str) -> Any:
    """Returns a value that has the type its field declares."""
    if dataclasses.is_dataclass(hint):
        return _from_json(typing.cast(type, hint), value, path, f"{key}.")
    union = isinstance(hint, types.UnionType)
    classes = tuple(typing.get_origin(one) or one for one in typing.get_args(hint))
    expected = classes if union else typing.get_origin(hint) or hint
    if expected is float and type(value) is int and abs(value) < sys.float_info.max:
        value = float(value)
    # `True` is an int to isinstance, but not a seed.
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        raise ValueError(f"{path}: key '{key}' must be {_type_name(hint)}, got {_shown(value)}")
    if expected is dict and typing.get_args(hint)[1] is not Any:
        entry = typing.get_args(hint)[1]
        return {name: _checked(entry, item, path, f"{key}.{name}") for name, item in value.items()}
    return value


def _type_name(hint: Any) -> str:
    if isinstance(hint, types.UnionType) and types.NoneType in typing.get_args(hint):
        return "an object or null"
    names = {str: "a string", int: "a whole number", float: "a number", int | float: "a number"}
    return names.get(hint, "an object") if not isinstance(hint, types.GenericAlias) else "an object"


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")
