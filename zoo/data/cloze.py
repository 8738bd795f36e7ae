"""Locations of cloze question files, and a command that makes questions from books.

    python -m zoo.data.cloze --text book.txt --out questions.txt --kind ne

writes questions in the format of the Children's Book Test (see `zoo.data.cloze_books`). Two sets in
that format are known: the Children's Book Test itself ("cbt", `cbtest_NE_train.txt` ...), and one
of other books ("cloze", `ne_train.txt` ...), whose results are not comparable.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal, get_args

from zoo.data.choice import DataSet
from zoo.data.cloze_books import BookError, Kind, questions_from_text
from zoo.data.cloze_format import SENTENCES, Question, write_cbt
from zoo.data.download import data_directories, locate_any, not_found
from zoo.text_files import read_lines

ClozeSet = Literal["cloze", "cbt"]
SPLITS = ("train", "valid", "test")

PUBLISHED: dict[str, dict[str, str]] = {
    "cloze": {
        "ne_train.txt": "8edfef0f6e0bd193af37929776f8bea7feb882d4495e518716c4731f867a17b4",
        "cn_train.txt": "fd5229bd8c699a5a8a58a6da1fa327dc97615b1547c811de52e4dbd97f465771",
        "ne_valid.txt": "a3337b3c60be880eec638094f5ff798e5d2f4b72a2765e21470afff658eea2e5",
        "cn_valid.txt": "41a611bbcd4043e266037f145a4acf2db19a729908958b2f98ab761d5e340a16",
        "ne_test.txt": "a5311a42b98f344490da05c7e0b710734b669465a968ec13b84e3ebcc4ba748f",
        "cn_test.txt": "dafea72296c8ca4eec55769e79db1989791e7b216aa1fa3455f2a1e5365255ec",
    },
    "cbt": {},
}
"""Known checksums, by set and file name."""

_CBT_ARCHIVE = "http://www.thespermwhale.com/jaseweston/babi/CBTest.tgz"
_CBT_NAMES = {"train": "train", "valid": "valid_2000ex", "test": "test_2500ex"}
_FOLDERS: dict[str, tuple[str, ...]] = {
    "cloze": ("cloze",),
    "cbt": ("cbt", "CBTest/data"),  # the second is how the archive unpacks
}


def cloze_file_name(dataset: ClozeSet, kind: Kind, split: str) -> str:
    """Returns the name of a file of a set, without `.gz`.

    Raises:
        ValueError: There is no such set, kind or split.
    """
    for name, value, options in (
        ("dataset", dataset, get_args(ClozeSet)),
        ("kind", kind, get_args(Kind)),
        ("split", split, SPLITS),
    ):
        if value not in options:
            raise ValueError(f"{name} must be one of {list(options)}, got {value!r}")
    if dataset == "cloze":
        return f"{kind}_{split}.txt"
    return f"cbtest_{kind.upper()}_{_CBT_NAMES[split]}.txt"


def find_cloze(
    dataset: ClozeSet, kind: Kind, split: str, data_dir: str | Path | None = None
) -> Path:
    """Finds one file of a set on this machine. Neither set is downloaded: see the error.

    Args:
        dataset: "cloze" or "cbt".
        kind: "ne", named entities, or "cn", common nouns.
        split: One of `SPLITS`.
        data_dir: Folder that holds `cloze/`, `cbt/`, the unpacked `CBTest/`, or the files,
            compressed or not; by default `$ZOO_DATA`, then the Keras cache.

    Raises:
        ValueError: There is no such set, kind or split.
        FileNotFoundError: The file is missing; says where to get it and where to put it.
    """
    name = cloze_file_name(dataset, kind, split)
    if path := locate_any(_FOLDERS[dataset], (name,), data_dir):
        return path
    place = data_directories(data_dir)[0] / _FOLDERS[dataset][0] / name
    source = (
        f"it is in {_CBT_ARCHIVE}, whose checksum is not known: unpack it by hand"
        if dataset == "cbt"
        else "make one of books: python -m zoo.data.cloze --help"
    )
    advice = f"it must be at {place}[.gz]; {source}"
    raise not_found(name, _FOLDERS[dataset], data_dir, advice)


def data_set(dataset: ClozeSet, kinds: Iterable[Kind]) -> DataSet:
    """Describes the files of a set that hold questions of these kinds."""
    wanted = product(kinds, SPLITS)
    files = tuple((cloze_file_name(dataset, kind, split),) for kind, split in wanted)
    return DataSet(dataset, _FOLDERS[dataset], files)


@dataclass(frozen=True)
class Settings:
    """Settings of the command."""

    text: tuple[Path, ...]
    """Books, plain text in UTF-8, compressed if the name ends in .gz."""
    out: Path
    """File to write, compressed if its name ends in .gz."""
    kind: Kind = "ne"
    """Words to blank out: ne, names; cn, common nouns."""
    stride: int = SENTENCES + 1
    """Sentences from one query to the next; fewer than 21 give more, overlapping questions."""
    seed: int = 0
    """Seed for choosing answers and candidates."""


def main(settings: Settings) -> int:
    """Writes the questions of all books; returns their number.

    Raises:
        ValueError: A book is not UTF-8 or is refused by `book_sentences`, or none gives a question.
        OSError: A file cannot be read or written.
    """
    questions: list[Question] = []
    for path in settings.text:
        text = "\n".join(read_lines(path))
        try:
            questions += questions_from_text(
                text, settings.kind, stride=settings.stride, seed=settings.seed
            )
        except BookError as error:
            raise BookError(f"{path}: {error}") from None
    if not questions:
        raise ValueError(
            f"text must give a question of kind {settings.kind!r}, got none: of 21 sentences in a"
            " row, 10 words must be of that kind, one of them in the last and in another"
        )
    write_cbt(settings.out, questions)
    return len(questions)


if __name__ == "__main__":
    import tyro

    chosen = tyro.cli(Settings, description=__doc__)
    try:
        count = main(chosen)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    sys.stdout.write(f"{chosen.out}: {count} questions\n")
