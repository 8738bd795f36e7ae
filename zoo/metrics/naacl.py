"""Files of annotated word alignments in the format of the shared tasks at NAACL 2003 and ACL 2005.

A line is a link: number of the sentence pair, position in the source, position in the target, and
optionally S (sure, the default) or P (possible) and a confidence, which is not read. All count from
1; position 0 is the empty word (Mihalcea and Pedersen, "An Evaluation Exercise for Word Alignment",
HLT-NAACL 2003 workshop).
"""

import os
import re
from collections.abc import Iterable, Sequence
from typing import Literal

from zoo.metrics.alignment import Alignment, Lengths, Link, check_links, warn_of_ones
from zoo.text_files import read_text, split_lines

_LINE = re.compile(r"([0-9]+)\s+([0-9]+)\s+([0-9]+)(?:\s+([SP]))?(?:\s+[0-9.eE+-]+)?")


def read_naacl(
    source: str | os.PathLike[str] | Iterable[str],
    first: Literal[0, 1] = 1,
    lengths: Sequence[Lengths] | None = None,
    sentences: int | None = None,
) -> list[Alignment]:
    """Reads alignments, one link per line.

    Args:
        source: Path of a file, or lines. A file whose name ends in `.gz` is read decompressed.
            Empty lines are left out.
        first: The number of a sentence's first token in the file. 1: a link to position 0, the
            empty word, is left out. 0: there is no empty word. A file that seems to count from
            0 after all is refused, and one that seems to count from 1 is warned of.
        lengths: If given, the numbers of source and target tokens of each pair; links beyond them
            are refused.
        sentences: Number of sentence pairs; None: that of `lengths`, or else the largest number
            with a link.

    Returns:
        One alignment for each sentence pair, in their order; without links where the file has
        none. Positions count from 0, whatever the file counts from.

    Raises:
        ValueError: A line does not hold a link, or one of a sentence pair that there is not, or
            links two empty words; names the line, from 1. A link lies beyond its sentences: see
            `check_links`.
    """
    if first not in (0, 1):
        raise ValueError(f"first must be 0 or 1, got {first!r}")
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        lines: Iterable[str] = split_lines(read_text(source).text)
    else:
        name, lines = "lines", source
    count = len(lengths) if sentences is None and lengths is not None else sentences
    sure: dict[int, set[Link]] = {}
    possible: dict[int, set[Link]] = {}
    for number, line in enumerate(lines, start=1):
        text = (line.removeprefix("\ufeff") if number == 1 else line).strip()
        if text:
            pair, link, kind = _parse(f"{name}: line {number}", text, first, count)
            place = sure if kind == "S" else possible
            place.setdefault(pair, set())
            if min(link) >= first:
                place[pair].add((link[0] - first, link[1] - first))
    if count is None:
        count = max([*sure, *possible], default=0)
    read = [
        Alignment(
            frozenset(sure.get(pair, ())),
            frozenset(sure.get(pair, set()) | possible.get(pair, set())),
        )
        for pair in range(1, count + 1)
    ]
    if lengths is not None:
        check_links(read, lengths, name, first)
    if first == 0:
        warn_of_ones(name, read, empty_words=True)
    return read


def _parse(place: str, text: str, first: int, count: int | None) -> tuple[int, Link, str]:
    """Splits a line into sentence pair, link as it stands there, and S or P."""
    match = _LINE.fullmatch(text)
    if match is None:
        raise ValueError(f"{place} must hold a link such as 1 3 4 S, got {text!r}")
    pair = int(match[1])
    if pair < 1 or (count is not None and pair > count):
        expected = "from 1" if count is None else f"from 1 to {count}"
        raise ValueError(f"{place}: the sentence pair must be {expected}, got {pair}")
    link = int(match[2]), int(match[3])
    if max(link) < first:
        raise ValueError(
            f"{place} must not link two empty words, got {text!r}; "
            "first=0 reads a file that counts from 0"
        )
    return pair, link, match[4] or "S"
