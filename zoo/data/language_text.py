"""Text for language models in the layout of WikiText and of the Penn Treebank.

Merity, Xiong, Bradbury and Socher, "Pointer Sentinel Mixture Models", ICLR 2017, arXiv 1609.07843
(WikiText: `wiki.train.tokens`, `wiki.valid.tokens`, `wiki.test.tokens`). Mikolov et al., "Recurrent
neural network based language model", INTERSPEECH 2010 (Penn Treebank: `ptb.train.txt`,
`ptb.valid.txt`, `ptb.test.txt`).

Words are separated by white space and rare ones are `<unk>` already. Every line ends in the end of
sentence, an empty line of WikiText too: perplexities of the field count it as a word.
"""

import os
from pathlib import Path
from typing import NamedTuple

from zoo.data.download import RemoteFile, data_directories, locate
from zoo.text_files import read_lines

SPLITS = ("train", "valid", "test")
LAYOUTS = {
    "wikitext-2": "wiki.{split}.tokens",
    "wikitext-103": "wiki.{split}.tokens",
    "ptb": "ptb.{split}.txt",
}
"""Name of a corpus, and of its folder, to the names of its files."""


class LanguageText(NamedTuple):
    """One part of a corpus."""

    lines: list[list[str]]
    """The words of every line, empty lines among them, without the ends of sentence."""

    @property
    def tokens(self) -> int:
        """How many words there are to predict: the end of every line is one."""
        return sum(map(len, self.lines)) + len(self.lines)


def find_language_text(corpus: str, data_dir: str | Path | None = None) -> dict[str, Path]:
    """Finds the files of a corpus on this machine.

    The publishers' archives are no longer where they were (WikiText) or are sold (Penn Treebank),
    so that nothing is downloaded.

    Args:
        corpus: one of `LAYOUTS`.
        data_dir: folder that holds a folder of the corpus' name, or the files themselves, `.gz`
            or not; by default `$ZOO_DATA`, then the Keras cache.

    Returns:
        Split -> path.

    Raises:
        ValueError: there is no such corpus.
        FileNotFoundError: a file is missing; says where it was looked for.
    """
    if corpus not in LAYOUTS:
        raise ValueError(f"corpus: expected one of {sorted(LAYOUTS)}, got {corpus!r}")
    found = {}
    for split in SPLITS:
        name = LAYOUTS[corpus].format(split=split)
        path = locate(corpus, RemoteFile(name, url="", sha256="", size=0), data_dir)
        if path is None:
            folders = data_directories(data_dir)
            places = ", ".join(str(place) for f in folders for place in (f / corpus, f))
            raise FileNotFoundError(
                f"{name}: not found in {places}; {corpus} is not offered for download any more: "
                f"put its files at {folders[0] / corpus}"
            )
        found[split] = path
    return found


def read_language_text(path: str | os.PathLike[str]) -> LanguageText:
    """Reads one file.

    Args:
        path: UTF-8 text, a sentence or a paragraph a line, compressed if its name ends in `.gz`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is empty, holds no word, or is not UTF-8; says which line is not.
    """
    lines = [line.split() for line in read_lines(path)]
    if not any(lines):
        raise ValueError(f"{path}: no line holds a word; expected words separated by spaces")
    return LanguageText(lines)
