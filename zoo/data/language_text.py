"""Text for language models in the file layout of WikiText and the Penn Treebank.

Merity, Xiong, Bradbury and Socher, "Pointer Sentinel Mixture Models", ICLR 2017, arXiv 1609.07843
(WikiText: `wiki.train.tokens`, `wiki.valid.tokens`, `wiki.test.tokens`). Mikolov et al., "Recurrent
neural network based language model", INTERSPEECH 2010 (Penn Treebank: `ptb.train.txt`,
`ptb.valid.txt`, `ptb.test.txt`).

Words are separated by white space, and rare ones are already `<unk>`. Every line, even an empty one
of WikiText, ends with an end-of-sentence token, which published perplexities count as a word.
"""

import os
from pathlib import Path
from typing import NamedTuple

from zoo.data.choice import DataSet
from zoo.data.download import data_directories, locate_name, not_found
from zoo.text_files import read_lines

SPLITS = ("train", "valid", "test")
LAYOUTS = {
    "wikitext-2": "wiki.{split}.tokens",
    "wikitext-103": "wiki.{split}.tokens",
    "ptb": "ptb.{split}.txt",
}
"""File names by corpus, whose name is also its folder's."""
PUBLISHED = {
    "wikitext-2": {
        "wiki.train.tokens": "9e9fa1ad55b1c2c95b08e37dd8e653f638fac2c6de904b79e813611eefbc985f",
        "wiki.valid.tokens": "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8",
        "wiki.test.tokens": "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0",
    }
}
"""Known checksums, by corpus and file name."""


class LanguageText(NamedTuple):
    """One part of a corpus."""

    lines: list[list[str]]
    """Words of every line, empty lines included, without end-of-sentence tokens."""

    @property
    def tokens(self) -> int:
        """Counts the words to predict; the end of a line is one."""
        return sum(map(len, self.lines)) + len(self.lines)


def find_language_text(corpus: str, data_dir: str | Path | None = None) -> dict[str, Path]:
    """Finds the files of a corpus on this machine.

    Nothing is downloaded: WikiText's archive has moved, and the Penn Treebank is sold.

    Args:
        corpus: one of `LAYOUTS`.
        data_dir: folder that holds a folder of the corpus' name, or the files themselves, `.gz`
            or not; by default `$ZOO_DATA`, then the Keras cache.

    Returns:
        Split -> path.

    Raises:
        ValueError: there is no such corpus.
        FileNotFoundError: a file is missing; says where it was expected.
    """
    if corpus not in LAYOUTS:
        raise ValueError(f"corpus must be one of {sorted(LAYOUTS)}, got {corpus!r}")
    found = {}
    for split in SPLITS:
        name = LAYOUTS[corpus].format(split=split)
        path = locate_name(corpus, name, data_dir)
        if path is None:
            advice = (
                f"{corpus} is not offered for download any more: put its files at "
                f"{data_directories(data_dir)[0] / corpus}"
            )
            raise not_found(name, (corpus,), data_dir, advice)
        found[split] = path
    return found


def data_set(corpus: str) -> DataSet:
    """Describes the files of one of `LAYOUTS`."""
    files = tuple((LAYOUTS[corpus].format(split=split),) for split in SPLITS)
    return DataSet(corpus, (corpus,), files)


def read_language_text(path: str | os.PathLike[str]) -> LanguageText:
    """Reads one file.

    Args:
        path: UTF-8 text, one sentence or paragraph per line, compressed if its name ends in `.gz`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is empty, holds no word, or is not UTF-8; names the line.
    """
    lines = [line.split() for line in read_lines(path)]
    if not any(lines):
        raise ValueError(f"{path} must hold words separated by spaces, got none")
    return LanguageText(lines)
