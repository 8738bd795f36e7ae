"""Model cards: what a shipped model is, where it comes from and how well it does, as JSON.

A card lies beside the SavedModel (`model_card.json`). It holds what the SavedModel cannot: the
class and configuration from which the Keras model is made again, the data and settings behind the
reported numbers, and the checksums by which a damaged or exchanged file is found out.
"""

import base64
import dataclasses
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from zoo.data.download import file_sha256
from zoo.files import whole_text
from zoo.models.core.axes import from_json as axes_from_json
from zoo.serving.strict_json import LATER, check_content, from_json, parse_json, shown

CARD_FILE = "model_card.json"
SAVED_MODEL_FILE = "saved_model.pb"
# What is told apart by task looks it up, the page of the explorer in an object of JavaScript, which
# has a constructor whatever else it holds.
_TASK = re.compile(r"(?!constructor$)[a-z]+(_[a-z]+)*")
SAVED_MODEL_PARTS = (SAVED_MODEL_FILE, "fingerprint.pb", "variables", "assets", "assets.extra")


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
class Paper:
    """The publication of an architecture."""

    title: str
    authors: str
    """Family names, in the order of the paper."""
    published: str
    """Where and when, such as "ICLR 2015"."""
    link: str


@dataclasses.dataclass(frozen=True)
class Example:
    """A question to the model and its answer, in the names of the servable."""

    inputs: dict[str, Any]
    """Input -> a string or a number, a list of them where the input takes a list, or the bytes of a
    file as {"b64": ...}."""
    outputs: dict[str, Any]
    """Output -> text or number, of those that answer; not all."""
    signature: str = dataclasses.field(default="serving_default", metadata=LATER)

    def question(self) -> dict[str, Any]:
        """Returns the inputs as a servable takes them, for one example: files as bytes."""
        return {name: _decoded(value) for name, value in self.inputs.items()}


def _decoded(value: Any) -> Any:
    return base64.b64decode(value["b64"]) if isinstance(value, dict) else value


@dataclasses.dataclass(frozen=True)
class ModelCard:
    """Everything that is told about a shipped model; one field, one key of the JSON file."""

    CALLED: ClassVar[str] = "the card"

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
    axes: dict[str, Any] | None = dataclasses.field(default=None, metadata=LATER)
    """Output -> the meaning of its last axes, as `zoo.models.core.axes` writes it; set by the
    export. None, or no such key: the outputs have the names of the zoo's tasks, which tell."""
    intended_use: str = dataclasses.field(default="", metadata=LATER)
    """One line: the texts that it is for."""
    limitations: str = dataclasses.field(default="", metadata=LATER)
    """One line: the texts to which it gives no sensible answer."""
    papers: list[Paper] = dataclasses.field(default_factory=list, metadata=LATER)
    """The architecture's paper first, then those of variants that the model uses."""
    licence: str = dataclasses.field(default="", metadata=LATER)
    """Licence of the weights, an SPDX identifier where there is one."""
    data_terms: str = dataclasses.field(default="", metadata=LATER)
    """Terms of the data that it was trained on."""
    labels: list[str] = dataclasses.field(default_factory=list, metadata=LATER)
    """Classes of a classifier, in the order of its probabilities."""
    example: Example | None = dataclasses.field(default=None, metadata=LATER)
    sha256: dict[str, str] = dataclasses.field(default_factory=dict)
    """Path inside the folder -> SHA-256, of every file of the SavedModel; set by the export."""

    def check_fields(self) -> None:
        """Refuses a task that is no name, and axes that are none."""
        if not _TASK.fullmatch(self.task):
            raise ValueError(
                f"'task' must be a name such as 'language_model', got {shown(self.task)}"
            )
        if self.axes is not None:
            try:
                axes_from_json(self.axes)
            except ValueError as error:
                raise ValueError(f"'axes': {error}") from error


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
    text = card_text(card, path)
    with whole_text(path) as file:
        file.write(text)
    return path


def card_text(card: ModelCard, source: object = CARD_FILE) -> str:
    """Returns the content of a card's file.

    Args:
        card: What to write.
        source: What to call the file in the error.

    Raises:
        ValueError: As `write_card`.
    """
    values = dataclasses.asdict(card)
    try:
        text = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"card for {source}: a value cannot be written as JSON ({error})"
        ) from error
    check_content(values, source)
    return f"{text}\n"


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
        text = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{folder}: has no model card ({CARD_FILE})") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from error
    card: ModelCard = from_json(ModelCard, parse_json(text, path), path)
    return card


def file_checksums(folder: str | Path) -> dict[str, str]:
    """SHA-256 of every file of a SavedModel; the card and pictures beside it do not belong to it.

    Args:
        folder: Folder of the SavedModel.

    Returns:
        Path inside the folder, with forward slashes -> SHA-256, sorted by path.
    """
    folder = Path(folder)
    parts = [folder / part for part in SAVED_MODEL_PARTS]
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


@contextmanager
def unchanged(folder: str | Path) -> Iterator[ModelCard]:
    """Checks a model as `verify` does, and after the block that it still is the same one.

    A model is replaced as a whole, but it is read file by file: graph, weights, vocabularies.

    Args:
        folder: Folder of the SavedModel, which the block reads.

    Yields:
        The card.

    Raises:
        ValueError: As `verify`, or another model has taken the folder's name meanwhile.
    """
    card = verify(folder)
    yield card
    if read_card(folder) != card:
        raise ValueError(f"{folder}: was replaced while it was read; read it again")
