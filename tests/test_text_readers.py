"""All readers of text that people hand in: how equal content is stored changes no result."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recipes.word_vectors import read_texts
from zoo.data import cloze
from zoo.data.cloze_format import SENTENCES, read_cbt
from zoo.data.imdb import read_imdb
from zoo.data.labelled_lines import read_labelled_lines
from zoo.data.language_text import read_language_text
from zoo.data.parallel import read_parallel, read_parallel_tsv
from zoo.data.snli import read_snli
from zoo.data.squad import read_squad
from zoo.data.sst import read_sst
from zoo.metrics.alignment import read_pharaoh
from zoo.metrics.naacl import read_naacl
from zoo.text.vectors import read_vectors

MARK = "\ufeff"
SQUAD = {
    "context": "Ida came.",
    "qas": [{"id": "1", "question": "Who?", "answers": [{"text": "Ida", "answer_start": 0}]}],
}
SNLI = {"gold_label": "neutral", "sentence1": "a b", "sentence2": "c"}
FILLERS = "|".join(["Nell", *(f"w{number}" for number in range(9))])
CBT = "".join(f"{number} Nell met a fox .\n" for number in range(1, SENTENCES + 1))
NAMES = ("Nell", "Tom", "Ida", "Ben", "Ada", "Max", "Eve", "Sam", "Kim", "Leo", "Amy", "Roy")
BOOK = "".join(f"The old fox met {a} and saw {b} at noon.\n" for a in NAMES for b in NAMES[:4])


class Reader(NamedTuple):
    """A reader, the name of its file and what the file holds; every text has a line break."""

    name: str
    text: str
    read: Callable[[Path], Any]


def _read_vectors(path: Path) -> tuple[list[str], list[list[float]]]:
    words, matrix = read_vectors(path)
    return words, matrix.tolist()


def _read_book(path: Path) -> bytes:
    out = path.with_name("questions.txt")
    cloze.main(cloze.Settings(text=(path,), out=out))
    return out.read_bytes()


READERS = {
    "squad": Reader(
        "a.json",
        json.dumps({"data": [{"title": "t", "paragraphs": [SQUAD]}]}, indent=1),
        lambda path: read_squad(path).to_dict("list"),
    ),
    "parallel": Reader("a.de", "a b\nc\n", lambda path: read_parallel(path, path).to_dict("list")),
    "parallel_tsv": Reader(
        "a.tsv",
        "de\ten\na\tb\n",
        lambda path: read_parallel_tsv(path, ("de", "en")).to_dict("list"),
    ),
    "sst": Reader("a.txt", "(3 (2 a) (2 b))\n(1 c)\n", lambda path: read_sst(path).to_dict("list")),
    "snli": Reader(
        "a.jsonl", f"{json.dumps(SNLI)}\n" * 2, lambda path: read_snli(path).to_dict("list")
    ),
    "snli_table": Reader(
        "a.txt",
        "\t".join(SNLI) + "\n" + "\t".join(SNLI.values()) + "\n",
        lambda path: read_snli(path).to_dict("list"),
    ),
    "imdb": Reader(
        "a.jsonl",
        '{"label": 1, "text": "a b"}\n{"label": 0, "text": "c"}\n',
        lambda path: read_imdb(path).to_dict("list"),
    ),
    "labelled_lines": Reader(
        "a.all", "1 a b\n0 c\n", lambda path: read_labelled_lines(path, "mr").to_dict("list")
    ),
    "language": Reader("a.tokens", "no it\nthe N\n", lambda path: read_language_text(path).lines),
    "cbt": Reader(
        "a.txt",
        f"{CBT}{SENTENCES + 1} XXXXX ran .\tNell\t\t{FILLERS}\n",
        lambda path: read_cbt(path).to_dict("list"),
    ),
    "book": Reader("a.txt", BOOK, _read_book),
    "naacl": Reader("a.wa", "1 1 1 S\n\n3 2 2 P\n", read_naacl),
    "pharaoh": Reader("a.align", "0-0 1p1\n\n2-2\n", read_pharaoh),
    "glove": Reader("a.vec", "one 1 2\ntwo 3 4\n", _read_vectors),
    "word2vec": Reader("a.vec", "2 2\none 1 2\ntwo 3 4\n", _read_vectors),
    "word_vectors": Reader("a.txt", "one two\nthree\n", lambda path: read_texts(str(path), None)),
}


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest) -> Reader:
    return READERS[request.param]


def test_ends_of_lines_marks_and_compression_change_nothing(reader: Reader, tmp_path: Path):
    plain = tmp_path / reader.name
    plain.write_bytes(reader.text.encode())
    expected = reader.read(plain)
    for mark, end in (("", "\r\n"), (MARK, "\n"), (MARK, "\r\n")):
        content = (mark + reader.text.replace("\n", end)).encode()
        plain.write_bytes(content)
        assert reader.read(plain) == expected, (mark, end)
        packed = tmp_path / f"{reader.name}.gz"
        packed.write_bytes(gzip.compress(content))
        assert reader.read(packed) == expected, (mark, end, "gz")


def test_a_broken_off_file_is_one_line_with_its_name(reader: Reader, tmp_path: Path):
    path = tmp_path / f"{reader.name}.gz"
    path.write_bytes(gzip.compress(reader.text.encode())[:-5])
    with pytest.raises(ValueError, match=re.escape(f"{path}: not a complete gzip file")) as error:
        reader.read(path)
    assert "\n" not in str(error.value)


def _count_sentences(path: Path) -> int:
    return len(read_language_text(path).lines)


COUNTS = {
    "parallel": ("a{}b\nc\n", 2, lambda path: len(read_parallel(path, path))),
    "parallel_tsv": ("a{}b\tc\nd\te\n", 2, lambda path: len(read_parallel_tsv(path))),
    "sst": ("(3 (2 a{}b) (2 c))\n(1 c)\n", 2, lambda path: len(read_sst(path))),
    "snli": ("\t".join(SNLI) + "\nneutral\ta{}b\tc\n", 1, lambda path: len(read_snli(path))),
    "labelled_lines": ("1 a{}b\n0 c\n", 2, lambda path: len(read_labelled_lines(path, "mr"))),
    "language": ("a{}b\nc\n", 2, _count_sentences),
    "word_vectors": ("a{}b\nc\n", 2, lambda path: len(read_texts(str(path), None))),
    "pharaoh": ("0-0{}1-1\n2-2\n", 2, lambda path: len(read_pharaoh(path))),
}
"""Texts with a place for what does not end a line, and how many examples they hold."""


@pytest.mark.parametrize("inner", ["\r", "\u2028", "\x0b", "\x85"])
@pytest.mark.parametrize("name", COUNTS)
def test_nothing_else_ends_a_line(tmp_path: Path, name: str, inner: str):
    text, expected, count = COUNTS[name]
    path = tmp_path / "text.txt"
    path.write_bytes(text.format(inner).encode())
    assert count(path) == expected
