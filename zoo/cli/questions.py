"""Inputs of `run` and `picture`, from options and from standard input."""

import dataclasses
import json
import math
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from zoo.serving.cards import CARD_FILE, read_card
from zoo.serving.options import complete_options
from zoo.tasks.tabular.numeric_texts import read_number
from zoo.text_files import FileText, iterate_lines, read_text

if TYPE_CHECKING:
    from zoo.serving.servable import Servable, Signature, TensorInfo

_FILES = ("context", "document", "story")
_SEQUENCE = {"vectors", "length"}
"""Inputs of a model of sequences of vectors; the lengths are counted."""
_UNREADABLE = (ValueError, TypeError, OverflowError, RecursionError)
"""Errors that JSON raises which is no list of vectors."""
_TEXTS = ("text", "symbols")
"""Inputs that are given without a flag; a model has one of them at most."""
_LINE_INPUTS = (
    *("text", "question", "query", "hypothesis", "premise", "context", "document", "story"),
    "symbols",
)
_PICTURES = {"image", "image_bytes"}


@dataclasses.dataclass
class Question:
    """Inputs of a model, which depend on its task."""

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME")]
    """A name from `list`, the folder of a SavedModel, or its address: https://.../NAME.tar.gz or
    hf://OWNER/NAME."""
    text: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="TEXT")] = ()
    """Texts to translate, classify or continue, or symbols. Missing inputs come from standard
    input, one example per line: the missing text, a JSON object if several are missing, or a JSON
    list of vectors."""
    question: str | None = None
    """The question, for reading comprehension and stories."""
    context: str | None = None
    """The text that contains the answer."""
    context_file: Path | None = None
    """File with the context, in UTF-8, compressed if its name ends in .gz. Byte offsets count from
    the beginning of its content."""
    story: str | None = None
    """The story that a question is about, a sentence a line."""
    story_file: Path | None = None
    """File with the story, in UTF-8, compressed if its name ends in .gz."""
    document: str | None = None
    """The text with the word that fills the blank, for cloze questions."""
    document_file: Path | None = None
    """File with the document, in UTF-8, compressed if its name ends in .gz."""
    query: str | None = None
    """A sentence in which XXXXX is the blank, for cloze questions."""
    candidates: tuple[str, ...] = ()
    """The words that may fill the blank, for cloze questions."""
    image: tuple[Path, ...] = ()
    """Files of pictures, in JPEG, PNG or BMP, to describe or to classify."""
    premise: str | None = None
    """The first text of a pair."""
    hypothesis: str | None = None
    """The second text of a pair."""
    beam_width: int | None = None
    """Number of hypotheses and of results, for translators and captioners."""
    length_penalty: float | None = None
    """Exponent of the length penalty, for translators and captioners."""
    new_tokens: Annotated[int | None, tyro.conf.arg(name="generate", metavar="{None}|N")] = None
    """Continue the texts by at most N tokens, for language models."""
    temperature: float | None = None
    """Boldness of a continuation: 0 writes the likeliest token each time; None: 1 if one of the
    next three is given, else 0."""
    top_k: int | None = None
    """Draw from that many of the likeliest tokens; None or 0: all."""
    top_p: float | None = None
    """Draw from the fewest of the likeliest tokens that have this probability; None or 1: all."""
    seed: int | None = None
    """The same seed draws the same continuations; None: 0."""
    forbid_unknown: bool | None = None
    """Never write <unk>, which stands for words that the model does not know; None: True."""

    def given(self) -> dict[str, Any]:
        """Collects the inputs from the options by name; files are `FileText`s, pictures paths.

        Raises:
            ValueError: An input is given twice, or a file is not UTF-8 or truncated.
            OSError: A file cannot be read.
        """
        names = {field.name for field in dataclasses.fields(Question)} - {"name", "text"}
        found = {name: getattr(self, name) for name in sorted(names)}
        for side in _FILES:
            file = found.pop(f"{side}_file")
            if file is None:
                continue
            if found[side] is not None:
                raise ValueError(f"--{side} and --{side}-file must not be given both")
            try:
                found[side] = read_text(file)
            except ValueError as error:
                raise ValueError(f"--{side}-file: {error}") from error
        found["candidates"] = list(self.candidates) or None
        files = found.pop("image")
        for file in files:
            file.stat()  # before the first is asked about
        found["image_bytes"] = [*files] or None
        return {name: value for name, value in found.items() if value is not None}


def choose_signature(servable: "Servable", given: dict[str, Any], *, texts: bool) -> str:
    """Chooses the first signature that takes all given inputs, `serving_default` first.

    Raises:
        ValueError: There is none.
    """
    order = sorted(servable.signatures, key=lambda name: (name != "serving_default", name))
    takes = {name for one in servable.signatures.values() for name in one.inputs}
    names = {*given, *([_text_of(takes) or "text"] if texts else [])}
    for signature in order:
        if names <= servable.signatures[signature].inputs.keys():
            return signature
    flags = ", ".join(_flag(name) for name in sorted(names - takes) or sorted(names))
    shown = [_shown_inputs(servable.signatures[name].inputs) for name in order]
    wanted = "; or ".join(dict.fromkeys(filter(None, shown)))
    raise ValueError(f"{servable.folder.name} does not take {flags}: it takes {wanted}")


def scalars(servable: "Servable", signature: "Signature", given: dict[str, Any]) -> dict[str, Any]:
    """Collects the inputs shared by all examples: given, or else from the model card.

    Raises:
        ValueError: One is neither given nor in the card.
    """
    wanted = [name for name, info in signature.inputs.items() if not info.batched]
    has_card = wanted and (servable.folder / CARD_FILE).is_file()
    limits = read_card(servable.folder).limits if has_card else {}
    return complete_options(wanted, given, limits, _flag)


def examples(
    question: Question, given: dict[str, Any], signature: "Signature"
) -> Iterator[dict[str, Any]]:
    """Yields examples: one from the options, one per text, or one per line of standard input.

    A line is the missing input, a `FileText`, or, if several are missing, a JSON object that names
    them.

    Raises:
        ValueError: A line lacks missing inputs (names its number), or there is no picture.
    """
    batched = [name for name, info in signature.inputs.items() if info.batched]
    shared = {name: given[name] for name in batched if name in given}
    if files := shared.pop("image_bytes", None):
        yield from ({**shared, "image_bytes": file} for file in files)
        return
    if question.text:
        name = _text_of(batched) or "text"
        yield from ({**shared, name: text} for text in question.text)
        return
    missing = left_to_input(question, given, signature)
    if not missing:
        yield shared
        return
    if _PICTURES & {*missing}:
        raise ValueError("--image must be given")
    if sys.stdin.isatty():
        hint = " and ".join(_flag(name) for name in missing)
        sys.stderr.write(f"reading {hint} from standard input, one example a line\n")
    numeric = {name for name in missing if signature.inputs[name].dtype.startswith("float")}
    for number, line in enumerate(_lines(), 1):
        yield shared | _read_line(line, number, missing, numeric)


def left_to_input(question: Question, given: dict[str, Any], signature: "Signature") -> list[str]:
    """Lists the inputs of an example that standard input has to supply."""
    batched = [name for name, info in signature.inputs.items() if info.batched]
    if set(batched) == _SEQUENCE:
        batched.remove("length")
    return [name for name in batched if name not in given and not question.text]


def _lines() -> Iterator[FileText]:
    """Yields lines of standard input. Bytes that are not UTF-8 are passed to the model."""
    for first_byte, line in iterate_lines(sys.stdin.buffer):
        yield FileText(line.decode("utf-8", "surrogateescape"), first_byte)


def _read_line(
    read: FileText, number: int, missing: list[str], numeric: Collection[str]
) -> dict[str, Any]:
    if len(missing) == 1 and missing[0] in _LINE_INPUTS:
        return {missing[0]: read}
    line = read.text
    if missing == ["vectors"]:
        return {"vectors": _vectors(line, number)}
    names = ", ".join(missing)
    try:
        values = json.loads(line, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"line {number} must be a JSON object with {names} ({error}), got {line[:60]!r}"
        ) from None
    if not isinstance(values, dict) or sorted(values) != sorted(missing):
        raise ValueError(f"line {number} must be a JSON object with {names}, got {line[:60]!r}")
    for name in numeric:
        values[name] = _number(name, values[name], number)
    for name, value in values.items():
        if name in numeric:
            continue
        if numeric and value is None:  # of a row of a table
            values[name] = value = ""
        words = value if isinstance(value, list) and name == "candidates" else [value]
        if not all(isinstance(word, str) for word in words):
            raise ValueError(f"line {number}: {name} must be text, got {str(value)[:60]!r}")
    return values


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Makes the dict of an object of JSON, of which the last of equal names would win."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _vectors(line: str, number: int) -> list[list[float]]:
    """Reads a sequence of vectors of one size."""
    try:
        rows = json.loads(line)
        types = {type(value) for row in rows for value in row}
        found = [[float(value) for value in row] for row in rows] if types <= {int, float} else []
    except _UNREADABLE:
        found = []
    finite = all(math.isfinite(value) for row in found for value in row)
    if len({len(row) for row in found}) != 1 or not found[0] or not finite:
        raise ValueError(
            f"line {number} must be a JSON list of vectors of one size, "
            f"such as [[0, 1], [1, 1]], got {line[:60]!r}"
        )
    return found


def _number(name: str, value: Any, line: int) -> float:
    """Reads a number, or its text as tables have it; null is missing, which is NaN."""
    if value is None:
        return math.nan
    try:
        if isinstance(value, str):
            return read_number(value)
        found = float(value)
        if isinstance(value, bool) or math.isinf(found):
            raise ValueError
        return found
    except (TypeError, ValueError, OverflowError):
        shown = "a number beyond all floats" if type(value) is int else str(value)[:60]
        raise ValueError(f"line {line}: {name} must be a number, got {shown!r}") from None


def _text_of(inputs: Collection[str]) -> str | None:
    """Finds the input that is given without a flag."""
    return next((name for name in _TEXTS if name in inputs), None)


def _shown_inputs(inputs: "Mapping[str, TensorInfo]") -> str:
    """Tells how to give the inputs of a signature; nothing of one that only code can ask."""
    if set(inputs) == _SEQUENCE:
        return "vectors, a JSON list of them on each line of standard input"
    other = [name for name in inputs if name not in _FLAGS]
    if any(len(inputs[name].shape) > 1 for name in other):
        return ""
    if other:
        return f"a JSON object with {', '.join(inputs)} on each line of standard input"
    return ", ".join(map(_flag, inputs))


_NAMED = {
    "text": "TEXT",
    "symbols": "TEXT",
    "new_tokens": "--generate",
    "image_bytes": "--image",
}
_FLAGS = {field.name for field in dataclasses.fields(Question)} - {"image"} | _NAMED.keys()
"""Inputs that are given on the command line; `image` is an array, and the flag for files."""


def _flag(name: str) -> str:
    """The way to give an input; its name where there is none but standard input."""
    return _NAMED.get(name) or (f"--{name.replace('_', '-')}" if name in _FLAGS else name)
