"""`run` and `picture`: a model's answers and its attention."""

import dataclasses
import itertools
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from zoo.cli.questions import Question, choose_signature, examples, left_to_input, scalars
from zoo.cli.quiet import without_collector, without_greetings, without_keras
from zoo.serving.load import resolve
from zoo.serving.texts import encode_text, pad_lists
from zoo.text_files import FileText

if TYPE_CHECKING:
    import numpy as np

    from zoo.models.core.axes import Axes
    from zoo.serving.servable import Servable

    Example = dict[str, Any]

_ROWS = 32  # examples asked at a time
# The output to print: the first of these that a model has.
_ANSWERS = (
    *("translation", "caption", "answer", "label", "value", "continuation", "next_tokens"),
    "bits",
)

_OFFSETS = ("start", "end", "start_per_iteration", "end_per_iteration")
"""Outputs that are byte offsets into the context."""


@dataclasses.dataclass
class Run(Question):
    """Run a model: translate, answer, fill a blank, classify, continue a text, write a caption."""

    json: bool = False
    """Write all outputs of each example, including attention maps, as one JSON object per line."""

    def __call__(self) -> None:
        """Writes one answer per line, or score and translation per entry of an n-best list."""
        # A user at a terminal waits for each answer, and many pictures would not fit into memory.
        rows = 1 if sys.stdin.isatty() or self.image else _ROWS
        folder = resolve(self.name)  # once, and before TensorFlow is loaded: names may be wrong
        for number, (result, *_) in enumerate(_ask(self, folder, rows), 1):
            _warn_of_unknown_words(folder, result, number)
            row = {name: value[0] for name, value in result.items()}
            print(_as_json(row) if self.json else _as_text(row), flush=True)


@dataclasses.dataclass
class Picture(Question):
    """Draw a model's attention for one example."""

    out: Path = Path("attention.png")
    """File to write; its ending selects the format, such as .png, .svg or .pdf."""
    heads: bool = False
    """Draw all layers and heads of a Transformer instead of the alignment."""

    def __call__(self) -> None:
        """Writes the picture."""
        from zoo.plots import answer, check_ending, save_figure, translation_heads

        check_ending(self.out)
        numbers = (self.beam_width, self.length_penalty, self.new_tokens)
        if self.candidates or any(number is not None for number in numbers):
            raise ValueError("a picture is drawn of the model's own answer, not of a ranked list")
        answers = _ask(self, resolve(self.name), 1, "heads" if self.heads else None)
        found = list(itertools.islice(answers, 2))
        if len(found) != 1:
            count = "none" if not found else "several"
            raise ValueError(f"examples of a picture must be one, got {count}")
        (one,) = found
        asked = _image(self) | one.asked
        drawn = (
            translation_heads(one.outputs)
            if self.heads
            else answer(one.outputs, axes=one.axes, inputs=asked)
        )
        save_figure(drawn, self.out)
        print(self.out)


def _image(question: Question) -> dict[str, "np.ndarray"]:
    """Decodes the picture that was asked about, if there is one."""
    if not question.image:
        return {}
    from zoo.images.decoding import PictureReader

    (file,) = question.image
    return {"image": PictureReader(3, None)([file.read_bytes()], [str(file)]) / 255.0}


class _Answer(NamedTuple):
    """The answer to one example.

    Attributes:
        outputs: name -> (1, ...), without padding.
        axes: of the outputs, as `Servable.axes` has them.
        asked: the vectors (1, T, d) that were asked about, and their number; else nothing.
    """

    outputs: "dict[str, np.ndarray]"
    axes: "Mapping[str, Axes] | None"
    asked: "dict[str, np.ndarray]"


def _ask(question: Question, folder: Path, rows: int, name: str | None = None) -> Iterator[_Answer]:
    """Yields the outputs of a signature for one example after another, without padding.

    Args:
        question: the inputs.
        folder: of the model.
        rows: how many examples are asked at a time.
        name: of the signature; None: the one that takes the given inputs.

    Yields:
        The answers.

    Raises:
        ValueError: the model has no such signature, or none that takes the given inputs.
    """
    given = question.given()
    with without_collector():
        with without_greetings(), without_keras():
            from zoo.serving.servable import Servable, unoptimised
        servable = Servable(folder)
    name = name or choose_signature(servable, given, texts=bool(question.text))
    if name not in servable.signatures:
        raise ValueError(f"{servable.folder.name} has no signature {name}, which gives all heads")
    signature = servable.signatures[name]
    if other := given.keys() - signature.inputs.keys():
        raise ValueError(f"{', '.join(sorted(other))} must be left out with --heads")
    if unbatched := signature.unbatched_outputs:
        raise ValueError(
            f"{servable.folder.name} does not answer example by example: {', '.join(unbatched)} has"
            " no axis of rows"
        )
    same = scalars(servable, signature, given)
    many = bool(left_to_input(question, given, signature))
    kind = "line" if many else "text" if len(question.text) > 1 else ""
    with nullcontext() if many else unoptimised():
        first = 1
        for batch in _batches(examples(question, given, signature), rows):
            ask = partial(_answers, servable, name, same)
            yield from _in_turn(ask, batch, kind, first)
            first += len(batch)


def _in_turn(
    ask: "Callable[[list[Example]], list[_Answer]]", batch: "list[Example]", kind: str, first: int
) -> Iterator[_Answer]:
    """Yields the answers to a batch; if one cannot be given, those before it.

    Args:
        ask: gives the answers to several examples.
        batch: the examples.
        kind: of an example, for the error; "": it is the only one.
        first: number of the first example.

    Raises:
        ValueError: an example cannot be answered; names it.
    """
    try:
        answers = ask(batch)
    except ValueError as error:
        if len(batch) > 1:
            for number, example in enumerate(batch, first):
                yield from _in_turn(ask, [example], kind, number)
            return
        name = batch[0].get("image_bytes") or (kind and f"{kind} {first}")
        if not name:
            raise
        raise ValueError(f"{name}: {error}") from None
    yield from answers


def _answers(
    servable: "Servable", name: str, same: dict[str, Any], batch: "list[Example]"
) -> list[_Answer]:
    """Asks about several examples at once."""
    from zoo.serving.padding import pick_rows

    columns: dict[str, list[Any]] = {
        key: [_bytes(key, example[key]) for example in batch] for key in batch[0]
    }
    if "candidates" in columns:
        columns["candidates"] = pad_lists(columns["candidates"])
    if "vectors" in columns:
        return [*_ask_sequences(servable, columns["vectors"])]
    result = _count_from_files(servable.ask(columns | same, name), batch)
    rows = [slice(row, row + 1) for row in range(len(batch))]
    return [_Answer(pick_rows(result, row, servable.axes), servable.axes, {}) for row in rows]


def _ask_sequences(servable: "Servable", sequences: list[Any]) -> Iterator[_Answer]:
    """Yields the answers to sequences of vectors, each as long as its sequence."""
    import numpy as np

    from zoo.serving.padding import pick_rows
    from zoo.serving.sequences import pad_sequences, without_padding

    padded = pad_sequences([np.array(one, "float32") for one in sequences])
    result = servable.ask(padded)
    for row, sequence in enumerate(sequences):
        own = pick_rows(result, slice(row, row + 1), servable.axes)
        asked = pad_sequences([np.array(sequence, "float32")])
        yield _Answer(without_padding(own, len(sequence), servable.axes), servable.axes, asked)


def _warn_of_unknown_words(folder: Path, result: dict[str, "np.ndarray"], number: int) -> None:
    """Says on standard error which texts of an example are mostly unknown to the model."""
    from zoo.serving.known_words import known_words

    words = known_words(folder)
    for strange in words.strange(result) if words else ():
        sys.stderr.write(f"warning: example {number}: {strange}\n")


def _batches(items: "Iterable[Example]", size: int) -> "Iterator[list[Example]]":
    """Puts examples together; those before one that cannot be read are a batch too."""
    batch: list[Example] = []
    try:
        for item in items:
            batch.append(item)
            if len(batch) == size:
                yield batch
                batch = []
    except ValueError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _bytes(name: str, value: Any) -> Any:
    """Encodes text, or a list of texts, and reads pictures; numbers stay."""
    if isinstance(value, Path):
        return value.read_bytes()
    if isinstance(value, float | bytes) or name == "vectors":
        return value
    if isinstance(value, list):
        return [_bytes(name, item) for item in value]
    return encode_text(name, value.text if isinstance(value, FileText) else value)


def _count_from_files(
    outputs: dict[str, "np.ndarray"], batch: list[dict[str, Any]]
) -> dict[str, "np.ndarray"]:
    """Shifts byte offsets into contexts to count from the first byte of their files."""
    contexts = [example.get("context") for example in batch]
    first = [context.first_byte if isinstance(context, FileText) else 0 for context in contexts]
    # Transposed, so that the batch is the last axis of each.
    counted = {name: (outputs[name].T + first).T for name in _OFFSETS if name in outputs}
    return outputs | counted if any(first) else outputs


def _as_json(row: dict[str, Any]) -> str:
    """Formats all outputs as a JSON object; numbers that JSON lacks, such as infinity, are null."""
    import numpy as np

    from zoo.serving.response import plain

    def finite(value: Any) -> Any:
        is_float = isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f"
        if not is_float or np.isfinite(value).all():
            return value
        return np.where(np.isfinite(value), value, None)

    plain_row = {name: plain(finite(value)) for name, value in row.items()}
    return json.dumps(plain_row, ensure_ascii=False, allow_nan=False)


def _as_text(row: dict[str, Any]) -> str:
    """Formats one line, or one line with score per entry of an n-best list."""
    name = next((name for name in _ANSWERS if name in row), None)
    if name is None:
        return _as_json(row)
    value = row[name]
    if isinstance(value, bytes):
        return _shown(value)
    if name == "value":
        return f"{value:.6g}"
    if name == "bits":
        return " ".join(map(_shown, value))
    if name == "next_tokens":
        return ", ".join(map(_candidate, value, row["next_log_probabilities"]))
    scores = row["score"]
    return "\n".join(f"{s:.4f}\t{_shown(text)}" for s, text in zip(scores, value, strict=True))


def _candidate(token: bytes, log_probability: float) -> str:
    """Formats a next token with its probability; marks what is no word."""
    meanings = {b"<unk>": "any other word: ", b"</s>": "the end: "}
    return f"{_shown(token)} ({meanings.get(token, '')}{math.exp(log_probability):.1%})"


def _shown(text: bytes) -> str:
    return " ".join(text.decode("utf-8", "replace").splitlines())
