"""bAbI: questions about short stories, with the sentences that lead to the answer.

Weston et al., "Towards AI-Complete Question Answering: A Set of Prerequisite Toy Tasks", 2015
(arXiv 1502.05698). A line of a file has a number, which begins again at 1 with each story, and a
sentence; or a number, a question, its answer and the numbers of the supporting facts, after tabs:

    1 Mary moved to the bathroom.
    2 John went to the hallway.
    3 Where is Mary? 	bathroom	1

Read is the archive `tasks_1-20_v1-2.tar.gz`, or its text files, unpacked; the part in English with
1000 questions for each task.
"""

import hashlib
import io
import os
import re
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from zoo.data.babi_tasks import TASKS
from zoo.data.choice import DataSet
from zoo.data.download import data_directories, locate_name, not_found
from zoo.text_files import read_content, split_lines

SPLITS = ("train", "test")
ARCHIVE = "tasks_1-20_v1-2.tar.gz"
COLUMNS = ("story", "question", "answer", "facts", "number")

_PLACES = ("", "en/", "tasks_1-20_v1-2/en/")
_LINE = re.compile(r"([0-9]+) (.*)", re.DOTALL)


class BabiFile(NamedTuple):
    """A text file of the data set, by itself or in the archive."""

    path: Path
    """The file, or the archive."""
    name: str
    """Name of the text file."""

    def content(self) -> bytes:
        """Reads it.

        Raises:
            ValueError: the archive is damaged, or lacks the file; names both.
        """
        if self.path.name != ARCHIVE:
            return self.path.read_bytes()
        try:
            # A tar archive has no checksums of its files, so all of it is read for that of gzip.
            unpacked = io.BytesIO(read_content(self.path))
            with tarfile.open(fileobj=unpacked, mode="r:") as archive:
                names = [one for one in archive.getnames() if one.endswith(f"/en/{self.name}")]
                member = archive.extractfile(names[0]) if names else None
                if member is not None:
                    return member.read()
        except (tarfile.TarError, EOFError, ValueError) as error:
            raise ValueError(f"{self.path} must be a tar.gz archive: {error}") from error
        raise ValueError(f"{self.path} must hold en/{self.name}, got an archive without it")


def file_name(task: int, split: str) -> str:
    """Names the text file of a part of a task.

    Raises:
        ValueError: there is no such task, or no such split.
    """
    if task not in TASKS:
        raise ValueError(f"task must be from 1 to {max(TASKS)}, got {task!r}")
    if split not in SPLITS:
        raise ValueError(f"split must be one of {list(SPLITS)}, got {split!r}")
    return f"qa{task}_{TASKS[task].name}_{split}.txt"


def published(task: int) -> dict[str, str]:
    """Returns the checksums of a task's files, by name."""
    return {file_name(task, split): getattr(TASKS[task], split) for split in SPLITS}


def data_set(task: int) -> DataSet:
    """Lists the files of a task, each of which may be in the archive."""
    files = tuple((ARCHIVE, *_names(task, split)) for split in SPLITS)
    return DataSet("babi", ("babi",), files)


def _names(task: int, split: str) -> list[str]:
    return [place + file_name(task, split) for place in _PLACES]


def find_babi(task: int, split: str, data_dir: str | Path | None = None) -> BabiFile:
    """Finds a part of a task on this machine, unpacked or in the archive.

    Args:
        task: from 1 to 20.
        split: one of `SPLITS`.
        data_dir: folder that holds `babi/`, the archive or its files; by default `$ZOO_DATA`, then
            the Keras cache.

    Raises:
        ValueError: there is no such task or split.
        FileNotFoundError: neither is here; says where they were expected.
    """
    name = file_name(task, split)
    for top in data_directories(data_dir):
        for wanted in (*_names(task, split), ARCHIVE):
            path = locate_name("babi", wanted, top)
            if path is not None and path.name in (name, ARCHIVE):
                return BabiFile(path, name)
    advice = (
        f"put {ARCHIVE} of https://research.facebook.com/downloads/babi/ in "
        f"{data_directories(data_dir)[0] / 'babi'}"
    )
    raise not_found(name, ("babi",), data_dir, advice)


def read_babi(file: BabiFile) -> tuple[pd.DataFrame, str]:
    """Reads questions.

    Args:
        file: from `find_babi`.

    Returns:
        One row per question, in the order of the file, as of `parse`; and the SHA-256 of the file.

    Raises:
        ValueError: the archive is damaged, or the file is not UTF-8, holds no question or has a
            malformed line; names the file and the line.
    """
    content = file.content()
    try:
        frame = parse(content.decode("utf-8-sig"))
    except ValueError as error:
        where = file.path if file.path.name == file.name else f"{file.path}: {file.name}"
        raise ValueError(f"{where}: {error}") from None
    return frame, hashlib.sha256(content).hexdigest()


def read_file(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Reads the questions of a file in this format, whatever its name: as `read_babi`."""
    return read_babi(BabiFile(Path(path), Path(path).name))[0]


def parse(text: str) -> pd.DataFrame:
    """Reads the lines of a file.

    Returns:
        `story`, a tuple of the sentences before the question; `question`; `answer`; `facts`, a
        tuple of places in the story, from 0, in the order of the file; `number` of the story.

    Raises:
        ValueError: there is no question, or a line is malformed; says which.
    """
    rows: list[tuple[Any, ...]] = []
    story: list[str] = []
    places: dict[int, int] = {}  # of sentences, by the number of their line
    last, number = 0, -1
    for at, line in enumerate(split_lines(text), start=1):
        found = _LINE.fullmatch(line)
        if found is None or int(found[1]) not in (1, last + 1):
            expected = "1" if last == 0 else f"1 or {last + 1}"
            raise ValueError(f"line {at} must begin with {expected} and a space, got {line[:60]!r}")
        last = int(found[1])
        if last == 1:
            story, places, number = [], {}, number + 1
        cells = found[2].split("\t")
        if len(cells) == 1:
            if not cells[0].strip():
                raise ValueError(f"line {at} must have a sentence, got none")
            places[last] = len(story)
            story.append(cells[0].strip())
        else:
            question, answer, facts = _question(cells, places, at)
            rows.append((tuple(story), question, answer, facts, number))
    if not rows:
        raise ValueError("the file must have a question at least, got none")
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _question(
    cells: list[str], places: dict[int, int], at: int
) -> tuple[str, str, tuple[int, ...]]:
    """Question, answer and facts of the parts of a line."""
    if len(cells) != 3 or not all(cell.strip() for cell in cells):
        raise ValueError(
            f"line {at} must have a question, an answer and facts, separated by tabs, got "
            f"{len(cells)} parts"
        )
    question, answer, numbers = (cell.strip() for cell in cells)
    facts = []
    for one in numbers.split():
        if not one.isdecimal() or int(one) not in places:
            raise ValueError(
                f"line {at}: a fact must be the number of a sentence of the story, got {one!r}"
            )
        facts.append(places[int(one)])
    return question, answer, tuple(facts)
