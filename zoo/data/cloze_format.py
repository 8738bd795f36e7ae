"""File formats of cloze questions: the Children's Book Test's, and that of CNN / Daily Mail.

Hill, Bordes, Chopra and Weston, "The Goldilocks Principle: Reading Children's Books with Explicit
Memory Representations", ICLR 2016, arXiv 1511.02301: 21 numbered lines per question, then an empty
one. Lines 1 to 20 are the document; line 21 is the query, a tab, the answer, two tabs, and the
candidates between bars.

Hermann et al., "Teaching Machines to Read and Comprehend", NeurIPS 2015, arXiv 1506.03340: one file
per question, with address, document, query, answer and list of entities, separated by empty lines.

Texts are already tokenised: spaces separate words and punctuation marks. Other white space, such as
a no-break space, is read as a space: examples are split at ASCII alone.
"""

import gzip
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from zoo.files import whole_file
from zoo.text_files import read_lines

PLACEHOLDER = "XXXXX"
"""The word that marks the blank in a query."""
SENTENCES = 20
"""Sentences of a document in the format of the Children's Book Test."""
COLUMNS = ("document", "query", "answer", "candidates")

_CNN_PLACEHOLDER, _ENTITY = "@placeholder", re.compile(r"@entity\d+")
_CNN_PARTS = ("address", "document", "query", "answer")
_SPACE = re.compile(r"[^\S\t]")  # tabs are ends of fields
_SHOWN_CHARACTERS = 60


class Question(NamedTuple):
    """Cloze question; the fields are the columns of the frame."""

    document: str
    """Sentences, separated by line breaks."""
    query: str
    answer: str
    candidates: list[str]


def questions_frame(questions: Iterable[Question]) -> pd.DataFrame:
    """Makes one row per question: `document`, `query`, `answer` (strings), `candidates` (list)."""
    columns = list(zip(*questions, strict=True)) or [()] * len(COLUMNS)
    return pd.DataFrame(dict(zip(COLUMNS, map(list, columns), strict=True)))


def read_cbt(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Reads questions in the format of the Children's Book Test.

    Args:
        path: UTF-8 text, compressed if the name ends in `.gz`.

    Returns:
        One row per question, see `questions_frame`. A document has one sentence per line. The query
        holds `PLACEHOLDER` once as a word of its own, even if the file has it within a word such as
        `XXXXX-like`.

    Raises:
        ValueError: The file holds no question, or a malformed one; names the file, the line and
            what was expected there.
    """
    lines = _lines(path)
    questions, line = [], 0
    while line < len(lines):
        if lines[line].strip():
            questions.append(_block(lines, line, path))
            line += SENTENCES + 1
            if line < len(lines) and lines[line].strip():
                raise _malformed(path, line, "nothing after the end of a question", lines[line])
        line += 1
    if not questions:
        raise ValueError(f"{path} must hold a question, got none")
    return questions_frame(questions)


def write_cbt(path: str | os.PathLike[str], questions: Iterable[Question]) -> None:
    """Writes questions in the format of the Children's Book Test; the file appears complete.

    Args:
        path: The file, compressed if the name ends in `.gz`.
        questions: Questions on documents of 20 sentences each.

    Raises:
        ValueError: A document has another number of sentences.
    """
    path = Path(path)
    blocks = []
    for question in questions:
        sentences = question.document.split("\n")
        if len(sentences) != SENTENCES:
            raise ValueError(f"document must have {SENTENCES} sentences, got {len(sentences)}")
        fields = (question.query, question.answer, "", "|".join(question.candidates))
        lines = [*sentences, "\t".join(fields)]
        blocks.append("".join(f"{n} {line}\n" for n, line in enumerate(lines, 1)))
    content = "\n".join(blocks).encode()
    with whole_file(path) as file:
        file.write(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def read_cnn(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """Reads a folder of CNN or Daily Mail questions.

    Args:
        folder: A folder with `*.question` files, such as `cnn/questions/training`.

    Returns:
        One row per file, in order of file names. The candidates are the document's entities in
        order of occurrence, plus the answer if the document lacks it. The blank is `PLACEHOLDER`
        here too.

    Raises:
        ValueError: There is no such file, or one is malformed; names the file and the line.
    """
    paths = sorted(Path(folder).glob("*.question"))
    if not paths:
        raise ValueError(f"{folder} must hold a file *.question, got none")
    return questions_frame(_cnn_question(path) for path in paths)


def _lines(path: str | os.PathLike[str]) -> list[str]:
    """Reads lines whose words are what spaces separate."""
    return [_SPACE.sub(" ", line) for line in read_lines(path)]


def _block(lines: list[str], first: int, path: str | os.PathLike[str]) -> Question:
    """Parses the question whose block begins at a line, counted from 0."""
    texts = []
    for number in range(1, SENTENCES + 2):
        line = lines[first + number - 1] if first + number <= len(lines) else ""
        start, _, text = line.partition(" ")
        if start != str(number):
            expected = f"line {number} of the question that begins at line {first + 1}"
            raise _malformed(path, first + number - 1, expected, line)
        texts.append(text.strip(" "))
    *sentences, last = texts
    fields = last.split("\t")
    at = first + SENTENCES
    if len(fields) != 4 or fields[2].strip():
        raise _malformed(path, at, "query, answer, nothing and candidates between tabs", last)
    query, answer, _, listed = (field.strip() for field in fields)
    query = _read_query(query, PLACEHOLDER, path, at)
    candidates = [candidate.strip() for candidate in listed.split("|")]
    if not answer or answer not in candidates:
        raise _malformed(path, at, f"the answer {answer!r} among the candidates", listed)
    if not all(candidates):
        raise _malformed(path, at, "candidates that are words", listed)
    document = "\n".join(filter(None, sentences))
    if not document:
        raise _malformed(path, first, "a document with words", lines[first])
    return Question(document, query, answer, candidates)


def _cnn_question(path: Path) -> Question:
    """Reads the one question of a file."""
    lines = _lines(path)
    for number, name in enumerate(_CNN_PARTS):
        at = 2 * number
        if at >= len(lines) or not lines[at].strip():
            raise _malformed(path, at, f"the {name}", "")
        if at + 1 < len(lines) and lines[at + 1].strip():
            raise _malformed(path, at + 1, f"nothing after the {name}", lines[at + 1])
    _, document, query, answer = (lines[2 * n].strip() for n in range(len(_CNN_PARTS)))
    query = _read_query(query, _CNN_PLACEHOLDER, path, 4)
    words = document.split()
    if not _ENTITY.fullmatch(answer):
        raise _malformed(path, 6, "an entity", answer)
    entities = [word for word in words if _ENTITY.fullmatch(word)]
    candidates = list(dict.fromkeys([*entities, answer]))  # a document may lack the answer
    blank = [PLACEHOLDER if word == _CNN_PLACEHOLDER else word for word in query.split()]
    return Question(document, " ".join(blank), answer, candidates)


def _read_query(query: str, placeholder: str, path: str | os.PathLike[str], line: int) -> str:
    """Returns the query with its placeholder, once, as a word of its own.

    If it is part of a word, such as `@placeholder-based`, it is split off.
    """
    apart = query
    if placeholder not in query.split():
        apart = re.sub(rf"(?<!\w){placeholder}(?!\w)", f" {placeholder} ", query)
        apart = " ".join(apart.split())
    if apart.split().count(placeholder) != 1:
        raise _malformed(path, line, f"a query with {placeholder} once", query)
    return apart


def _malformed(path: str | os.PathLike[str], line: int, expected: str, text: str) -> ValueError:
    """Makes the error for a line, counted from 0."""
    shown = text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."
    return ValueError(f"{path}: line {line + 1} must hold {expected}, got {shown!r}")
