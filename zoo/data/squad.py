"""The Stanford Question Answering Dataset, version 1.1, as a pandas frame.

Rajpurkar, Zhang, Lopyrev and Liang, "SQuAD: 100,000+ Questions for Machine Comprehension of Text",
EMNLP 2016, https://arxiv.org/abs/1606.05250.

The file is JSON: articles hold paragraphs, a paragraph holds one context and its questions, a
question holds one answer (training) or several (development), each a string and the index of its
first character in the context. Every value is checked as it is read, so that an error in a
truncated, edited or converted file is reported with its place, instead of failing hours later in
training.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from zoo.data.choice import DataSet
from zoo.data.download import RemoteFile, find_file
from zoo.text_files import read_content

SQUAD_FILES = {
    "train": RemoteFile(
        name="train-v1.1.json",
        url="https://rajpurkar.github.io/SQuAD-explorer/dataset/train-v1.1.json",
        sha256="3527663986b8295af4f7fcdff1ba1ff3f72d07d61a20f487cb238a6ef92fd955",
        size=30_288_272,
    ),
    "dev": RemoteFile(
        name="dev-v1.1.json",
        url="https://rajpurkar.github.io/SQuAD-explorer/dataset/dev-v1.1.json",
        sha256="95aa6a52d5d6a735563366753ca50492a658031da74f301ac5238b03966972c9",
        size=4_854_279,
    ),
}
DATA_SET = DataSet("squad", ("squad",), tuple((file.name,) for file in SQUAD_FILES.values()))
COLUMNS = ("id", "title", "context", "question", "answers", "answer_starts")

T = TypeVar("T")

_KIND_NAMES = {str: "a string", int: "an integer", list: "a list", dict: "an object"}


class _Row(NamedTuple):
    """Question; the fields are the columns of the frame."""

    id: str
    title: str
    context: str
    question: str
    answers: list[str]
    answer_starts: list[int]


def find_squad(split: str, data_dir: str | Path | None = None, download: bool = False) -> Path:
    """Finds a file of the data set on this machine or, if allowed to, fetches it.

    Args:
        split: "train" or "dev" (the test part was never published).
        data_dir: Folder that holds `squad/` or the files; by default `$ZOO_DATA`, then the Keras
            cache (`zoo.data.download.data_directories`). Nothing is fetched if it is given.
        download: Whether to fetch a missing file from its publisher into the cache.

    Raises:
        ValueError: There is no such split.
        FileNotFoundError: The file is missing and may not be fetched.
        DownloadError: The file is missing and could not be fetched.
    """
    if split not in SQUAD_FILES:
        raise ValueError(f"split must be one of {sorted(SQUAD_FILES)}, got {split!r}")
    return find_file("squad", SQUAD_FILES[split], data_dir, download)


def read_squad(path: str | Path) -> pd.DataFrame:
    """Reads a SQuAD 1.1 file.

    Answers whose text is not found at their start are kept and counted. Training decides whether to
    drop them; evaluation needs only the text.

    Args:
        path: JSON file in the format of `train-v1.1.json`, or the same compressed (`.gz`).

    Returns:
        One row per question, in the order of the file: `id` (a string, even if the file has an
        integer), `title` ("" where there is none), `context`, `question` (strings), `answers` (list
        of strings) and `answer_starts` (list of integers: CHARACTERS from the beginning of the
        context). Rows of one paragraph repeat its context. `frame.attrs["wrong_answer_starts"]` is
        the number of answers for which `context[start : start + len(text)] != text`.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The file is empty, not JSON, or lacks something; names the file and the place
            in it, such as `data[3].paragraphs[0].qas[1].answers[0].answer_start`.
    """
    path = Path(path)
    document = _load_json(path)
    try:
        rows = list(_rows(document))
        _check_ids(rows)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    # Columns from lists: many times faster than a frame from one record per row.
    columns = zip(*rows, strict=True)
    frame = pd.DataFrame(dict(zip(COLUMNS, map(list, columns), strict=True)))
    frame.attrs["wrong_answer_starts"] = sum(map(_wrong_answer_starts, rows))
    return frame


def _load_json(path: Path) -> Any:
    """Parses a JSON file, compressed if its name ends in .gz."""
    content = read_content(path)
    if not content.strip():
        raise ValueError(f"{path}: the file must hold SQuAD 1.1 JSON, got an empty one")
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        # A JSON error names line and column, a decoding error the byte.
        raise ValueError(f"{path}: not valid JSON: {error}") from error


def _rows(document: Any) -> Iterator[_Row]:
    """Yields the questions of all articles and paragraphs."""
    _check(document, dict, "the top level")
    for a, article in enumerate(_field(document, "data", list, "")):
        place = f"data[{a}]"
        _check(article, dict, place)
        has_title = article.get("title") is not None
        title = _field(article, "title", str, place) if has_title else ""
        for p, paragraph in enumerate(_field(article, "paragraphs", list, place)):
            yield from _paragraph_rows(paragraph, title, f"{place}.paragraphs[{p}]")


def _paragraph_rows(paragraph: Any, title: str, place: str) -> Iterator[_Row]:
    """Yields the questions of one paragraph."""
    context = _field(paragraph, "context", str, place)
    for q, item in enumerate(_field(paragraph, "qas", list, place)):
        where = f"{place}.qas[{q}]"
        identifier = _identifier(item, where)
        question = _field(item, "question", str, where)
        answers = _field(item, "answers", list, where)
        if not answers:
            raise ValueError(f"{where}.answers must hold at least one, got none")
        texts, starts = [], []
        for n, answer in enumerate(answers):
            texts.append(_field(answer, "text", str, f"{where}.answers[{n}]"))
            starts.append(_field(answer, "answer_start", int, f"{where}.answers[{n}]"))
        yield _Row(identifier, title, context, question, texts, starts)


def _identifier(item: Any, place: str) -> str:
    """Returns a question's id as a string; converters also write numbers."""
    _check(item, dict, place)
    kind = int if type(item.get("id")) is int else str
    return str(_field(item, "id", kind, place))


def _field(node: Any, key: str, kind: type[T], place: str) -> T:
    """Returns `node[key]`, which must exist and be of the given kind."""
    _check(node, dict, place)
    where = f"{place}.{key}" if place else key
    if key not in node:
        raise ValueError(f"{where}: missing")
    return _check(node[key], kind, where)


def _check(value: Any, kind: type[T], place: str) -> T:
    """Returns the value if it is of the given kind and, if text, can be written as UTF-8."""
    # The exact type: JSON's true is an int to Python, but not to the data set.
    if type(value) is not kind:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        raise ValueError(f"{place} must be {_KIND_NAMES[kind]}, got {shown}")
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"{place}: half of a surrogate pair: {error}") from None
    return value


def _check_ids(rows: list[_Row]) -> None:
    """Refuses duplicate ids, because predictions are keyed by id."""
    if not rows:
        raise ValueError("data must hold a question, got none")
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            raise ValueError(f"ids of questions must differ, got {row.id!r} twice")
        seen.add(row.id)


def _wrong_answer_starts(row: _Row) -> int:
    """Counts the answers of this question that are not at their stated start."""
    # A negative start would count from the end of the context.
    return sum(
        start < 0 or not row.context.startswith(text, start)
        for text, start in zip(row.answers, row.answer_starts, strict=True)
    )
