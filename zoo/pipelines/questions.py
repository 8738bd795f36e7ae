"""Arguments of a pipeline's call, as the columns that a servable is asked about."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from zoo.pipelines.arguments import described, no_list, read_list
from zoo.serving.texts import encode_text, pad_lists

if TYPE_CHECKING:
    from zoo.serving.servable import Servable

IMAGE = ("image",)
"""Inputs of models that take files of pictures."""
_SPACE = re.compile(r"[\t-\r ]")  # at which the graph cuts documents into tokens


class Questions(NamedTuple):
    """Inputs of several examples.

    Attributes:
        texts: Name of an input -> one text per example; of candidates, one list of words; of
            pictures, `image_bytes`, the contents of their files.
        single: Whether one example was asked for, by strings that are not in a list.
    """

    texts: dict[str, list[Any]]
    single: bool

    @property
    def examples(self) -> int:
        """Number of examples."""
        return len(next(iter(self.texts.values())))


def read_questions(
    name: str,
    inputs: Sequence[str],
    positional: Sequence[Any],
    named: Mapping[str, Any],
    candidates: Any = None,
) -> Questions:
    """Reads the texts of a call. A string beside lists goes with every one of their entries.

    Args:
        name: Of the model, for errors.
        inputs: Names of its inputs, in the order of positional arguments.
        positional: Strings or lists of strings; of pictures, names of files, or their contents, or
            lists of these.
        named: Likewise, by name.
        candidates: Words for blanks: a list for all questions, or one per question; None: none.

    Raises:
        ValueError: An input is missing, unknown, given twice, no text, or of another length.
        OSError: A file cannot be read.
    """
    given = _by_name(name, inputs, positional, named)
    if tuple(inputs) == IMAGE:
        return _pictures(given["image"])
    single = all(isinstance(value, str) for value in given.values())
    columns = {side: _column(side, value) for side, value in given.items()}
    lists = {side: column for side, column in columns.items() if not isinstance(given[side], str)}
    lengths = {side: len(column) for side, column in lists.items()}
    if len({*lengths.values()}) > 1:
        told = ", ".join(f"{count} of {side}" for side, count in lengths.items())
        raise ValueError(f"lists must have the same length, got {told}")
    count = next(iter(lengths.values()), 1)
    texts: dict[str, list[Any]] = {
        side: column if side in lists else column * count for side, column in columns.items()
    }
    if candidates is not None:
        texts["candidates"] = _candidates(candidates, count)
    return Questions(texts, single)


def _pictures(value: Any) -> Questions:
    """Reads one picture, or a list of them."""
    expected = "a file name, bytes, or a list of these"
    if _is_content(value):
        raise no_list("image", expected, value)
    single = isinstance(value, str | Path | bytes)
    given = [value] if single else read_list("image", expected, value)
    files = [_contents(one, number) for number, one in enumerate(given)]
    return Questions({"image_bytes": files}, single)


def _is_content(value: Any) -> bool:
    """Tells open files, buffers and pixels, whose parts would be taken for files."""
    numbers = getattr(getattr(value, "dtype", None), "kind", "O") in "biuf"
    pixels = numbers and getattr(value, "size", 1) > 0  # an empty array is one of numbers
    return pixels or isinstance(value, bytearray | memoryview) or hasattr(value, "read")


def _contents(value: Any, number: int) -> bytes:
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str | Path):
        raise ValueError(f"image[{number}] must be a file name or bytes, got {described(value)}")
    return Path(value).read_bytes()


def encode(texts: Mapping[str, list[Any]], rows: slice) -> dict[str, Any]:
    """Encodes some examples; candidates are padded with empty strings to a rectangle."""
    columns: dict[str, Any] = {}
    for side, column in texts.items():
        if side == "candidates":
            words = [[encode_text(side, word) for word in row] for row in column[rows]]
            columns[side] = pad_lists(words)
        elif side == "image_bytes":
            columns[side] = column[rows]
        else:
            columns[side] = [encode_text(side, text) for text in column[rows]]
    return columns


def name_picture(
    servable: "Servable",
    inputs: Mapping[str, Any],
    scalars: Mapping[str, Any],
    first: int,
    signature: str,
) -> None:
    """Raises ValueError for the first picture of a batch that a model cannot read, if any.

    Args:
        servable: asks the model.
        inputs: the batch.
        scalars: inputs that its examples share.
        first: number of its first picture.
        signature: of the model.
    """
    for number, file in enumerate(inputs.get("image_bytes", ()), first):
        try:
            servable.ask({"image_bytes": [file], **scalars}, signature)
        except ValueError as error:
            raise ValueError(f"image[{number}]: {error}") from None


def _by_name(
    name: str, inputs: Sequence[str], positional: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    takes = ", ".join(inputs)
    if len(positional) > len(inputs):
        raise ValueError(
            f"inputs of {name} must be {takes}, got {len(positional)} texts: several go in a list"
        )
    given = dict(zip(inputs, positional, strict=False))
    for key, value in named.items():
        if key not in inputs:
            raise ValueError(f"inputs of {name} must be {takes}, got {key}")
        if key in given:
            raise ValueError(f"inputs of {name} must be {takes}, got {key} twice")
        given[key] = value
    missing = [key for key in inputs if key not in given]
    if missing:
        raise ValueError(f"inputs of {name} must be {takes}, got {', '.join(given) or 'none'}")
    return {key: given[key] for key in inputs}


def _column(name: str, value: Any) -> list[str]:
    """Makes a list of strings of a string or of a list of strings."""
    return [value] if isinstance(value, str) else _texts(name, "str or a list of str", value)


def _texts(name: str, expected: str, value: Any) -> list[str]:
    """Makes a list of strings of any list of them."""
    texts = read_list(name, expected, value)
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"{name}[{number}] must be str, got {described(text)}")
    return texts


def _candidates(value: Any, count: int) -> list[list[str]]:
    """Makes a list of words per question."""
    lists = read_list("candidates", "a list of words, or a list of these", value)
    if all(isinstance(word, str) for word in lists):
        lists = [lists] * count
    if len(lists) != count:
        raise ValueError(f"candidates must be one list per question, {count}, got {len(lists)}")
    words = [_texts("candidates", "a list of words, or a list of these", one) for one in lists]
    if not all(words) or any("" in one for one in words):
        raise ValueError("candidates must hold a word at least, and no empty one")
    for word in (word for one in words for word in one):
        if _SPACE.search(word):  # no token of a document has one
            raise ValueError(f"candidates must be single words without spaces, got {word!r}")
    return words
