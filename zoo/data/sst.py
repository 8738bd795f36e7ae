r"""The Stanford Sentiment Treebank: sentences of film reviews as trees, as a pandas frame.

Socher et al., "Recursive Deep Models for Semantic Compositionality Over a Sentiment Treebank",
EMNLP 2013. Files `train.txt`, `dev.txt`, `test.txt` hold one binary tree per line, in which every
node has a label: `(3 (2 a) (4 (3 fine) (2 film)))`. Labels are 0 (very negative) to 4 (very
positive).

In the files, brackets are spelled -LRB- and -RRB-, and slashes and asterisks are escaped by a
backslash; the reader undoes both.
"""

import os
import re
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd

from zoo.data.choice import DataSet
from zoo.data.download import data_directories, locate_name, not_found
from zoo.text_files import read_lines

SPLITS = ("train", "dev", "test")
DATA_SET = DataSet("sst", ("sst",), tuple((f"{split}.txt",) for split in SPLITS))
PUBLISHED = {
    "train.txt": "e2f3f41b0b1e6d4dddc0effe3bfc2d27ed8928079aa9a03d652311614fc5feb7",
    "dev.txt": "0e9336aed6e4730e19f58d00a77b3f0297efdb755f7b5e598c98a05e3f97ea40",
    "test.txt": "6e54806dee95cf80cd918e7dfb3f6770f6df24bf826f289a4d1f709e1c8f6761",
}
"""Checksums by file name."""
LABELS = {
    5: ("very negative", "negative", "neutral", "positive", "very positive"),
    2: ("negative", "positive"),
}
"""Class names, in the order of the labels, by number of classes."""

Classes = Literal[5, 2]

_NEUTRAL = 2
_PIECES = re.compile(r"\(|\)|[^ \t()]+")  # a no-break space is part of a word: "8 1/2"
_SPELLED = {"-LRB-": "(", "-RRB-": ")", r"\/": "/", r"\*": "*"}
_SPELLINGS = re.compile("|".join(map(re.escape, _SPELLED)))


class Phrase(NamedTuple):
    """Node of a tree."""

    label: int
    words: list[str]


def find_sst(split: str, data_dir: str | Path | None = None) -> Path:
    """Finds a file of the data set on this machine.

    Args:
        split: one of `SPLITS`.
        data_dir: folder that holds `sst/` or the files, `.gz` or not; by default `$ZOO_DATA`, then
            the Keras cache.

    Raises:
        ValueError: there is no such split.
        FileNotFoundError: the file is missing; says where it was expected.
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {list(SPLITS)}, got {split!r}")
    name = f"{split}.txt"
    path = locate_name("sst", name, data_dir)
    if path is None:
        advice = (
            "unpack https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip and put its files "
            f"at {data_directories(data_dir)[0] / 'sst'}"
        )
        raise not_found(name, ("sst",), data_dir, advice)
    return path


def read_sst(
    path: str | os.PathLike[str], classes: Classes = 5, *, phrases: bool = False
) -> pd.DataFrame:
    """Reads trees.

    Args:
        path: UTF-8 text, one tree per line, compressed if its name ends in `.gz`.
        classes: 5, or 2: negative and positive, without neutral examples.
        phrases: whether every node of a tree is an example, not just the root. A phrase that recurs
            with the same label is one example.

    Returns:
        One row per example, in the order of the file: `text`, its words separated by spaces, and
        `label`, an integer from 0.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: `classes` is neither 5 nor 2, or the file is empty, not UTF-8 or has a line that
            is not a tree, which is named.
    """
    if classes not in LABELS:
        raise ValueError(f"classes must be one of {sorted(LABELS)}, got {classes!r}")
    examples: list[tuple[str, int]] = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            nodes = parse_tree(line)
        except ValueError as error:
            raise ValueError(f"{path}: line {number}: {error}") from None
        chosen = nodes if phrases else nodes[:1]
        examples += [(" ".join(node.words), node.label) for node in chosen]
    if phrases:
        examples = list(dict.fromkeys(examples))
    if classes == 2:
        examples = [(text, int(label > _NEUTRAL)) for text, label in examples if label != _NEUTRAL]
    texts, labels = map(list, zip(*examples, strict=True)) if examples else ([], [])
    return pd.DataFrame({"text": texts, "label": pd.Series(labels, dtype="int64")})


def parse_tree(line: str) -> list[Phrase]:
    """Reads one tree.

    Args:
        line: `(label word)` or `(label tree tree)`.

    Returns:
        Its nodes in preorder; the first is the whole sentence.

    Raises:
        ValueError: the line is not such a tree; names the character.
    """
    nodes: list[Phrase] = []
    open_nodes: list[_Open] = []
    for piece in _PIECES.finditer(line):
        text, place = piece.group(), piece.start() + 1
        if text == "(":
            if nodes and not open_nodes:
                raise ValueError(
                    f"character {place} must be the end of the line, got a second tree"
                )
            nodes.append(Phrase(-1, []))
            open_nodes.append(_Open(len(nodes) - 1))
        elif not open_nodes:
            raise ValueError(f"character {place} must be '(' and a label, got {text!r}")
        elif text == ")":
            _close(open_nodes, nodes, place)
        else:
            open_nodes[-1].add(text, nodes, place)
    if open_nodes or not nodes:
        missing = f"{len(open_nodes)} ')' missing" if nodes else "no tree"
        raise ValueError(f"{missing} at the end of the line")
    return nodes


class _Open:
    """Node whose bracket is still open."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.children = 0
        self.has_word = False

    def add(self, text: str, nodes: list[Phrase], place: int) -> None:
        """Adds the label, which comes first, or a word."""
        node = nodes[self.index]
        if node.label < 0:
            if text not in ("0", "1", "2", "3", "4"):
                raise ValueError(f"character {place} must be a label from 0 to 4, got {text!r}")
            nodes[self.index] = node._replace(label=int(text))
        elif self.has_word or self.children:
            raise ValueError(
                f"character {place} must be ')' after a word or two trees, got {text!r}"
            )
        else:
            self.has_word = True
            node.words.append(_SPELLINGS.sub(lambda match: _SPELLED[match.group()], text))


def _close(open_nodes: list[_Open], nodes: list[Phrase], place: int) -> None:
    """Closes the innermost node and passes its words to its parent."""
    closed = open_nodes.pop()
    if (closed.has_word, closed.children) not in ((True, 0), (False, 2)):
        raise ValueError(f"character {place} must be a word or a tree, got the end of a node")
    if open_nodes:
        above = open_nodes[-1]
        if nodes[above.index].label < 0:
            raise ValueError(f"a label must come before character {place}, got a tree")
        above.children += 1
        nodes[above.index].words.extend(nodes[closed.index].words)
