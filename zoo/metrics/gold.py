"""Files of annotated alignments in either format, and scores of links against them.

Och and Ney, "A Systematic Comparison of Various Statistical Alignment Models", Computational
Linguistics 29(1), 2003, section 6.1 (precision, recall, error rate).
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from zoo.metrics.alignment import (
    Alignment,
    Lengths,
    Link,
    Links,
    aer,
    all_links,
    read_pharaoh,
)
from zoo.metrics.naacl import read_naacl


class Gold(NamedTuple):
    """Annotated alignments of a corpus."""

    alignments: list[Alignment]
    outside: int
    """How many links beyond their sentences were left out."""


class AlignmentScores(NamedTuple):
    """Scores of links against annotated ones; all but the number from 0 to 1."""

    error_rate: float
    """`zoo.metrics.alignment.aer`."""
    precision: float
    """Share of the links that are possible ones; 0 if there is no link."""
    recall: float
    """Share of the sure links that were found; 0 if there is none."""
    links: int
    """Number of links."""


def read_gold(
    path: Path,
    first: Literal[0, 1] | None,
    lengths: Sequence[Lengths],
    *,
    exchanged: bool = False,
    drop_outside: bool = False,
) -> Gold:
    """Reads annotated alignments: one link a line if the name ends in `.wa`, else Pharaoh format.

    Args:
        path: of the file; with `.gz` it is read decompressed.
        first: the number of a sentence's first word in the file; None: as usual in the format,
            1 in a `.wa` file, where 0 is the empty word, else 0.
        lengths: numbers of source and target words of each pair.
        exchanged: whether a link of the file names the target's word first.
        drop_outside: leaves out and counts links beyond their sentences, which are refused
            otherwise.

    Raises:
        ValueError: the file is malformed, has another number of pairs, or a link beyond them.
    """
    held = [(target, source) for source, target in lengths] if exchanged else lengths
    checked = None if drop_outside else held
    if path.name.removesuffix(".gz").endswith(".wa"):
        found = read_naacl(path, 1 if first is None else first, checked, sentences=len(held))
    else:
        found = read_pharaoh(path, first or 0, checked)
    if len(found) != len(held):
        raise ValueError(f"{path} must have {len(held)} lines, one a pair, got {len(found)}")
    inside = [_inside(*pair) for pair in zip(found, held, strict=True)]
    outside = sum(len(a.possible) - len(b.possible) for a, b in zip(found, inside, strict=True))
    if exchanged:
        inside = [Alignment(_turned(one.sure), _turned(one.possible)) for one in inside]
    return Gold(inside, outside)


def score_links(
    hypotheses: Sequence[Alignment | Collection[Link]], references: Sequence[Alignment]
) -> AlignmentScores:
    """Scores the links of a corpus, counted over all sentences.

    Args:
        hypotheses: links of each pair; of an annotation, also the possible ones.
        references: annotation of each pair.

    Raises:
        ValueError: as `zoo.metrics.alignment.aer`.
    """
    rate = aer(hypotheses, references)
    found = [all_links(one) for one in hypotheses]
    pairs = list(zip(found, references, strict=True))
    links, sure = (sum(map(len, side)) for side in (found, [one.sure for one in references]))
    possible = sum(len(links & (gold.sure | gold.possible)) for links, gold in pairs)
    of_sure = sum(len(links & gold.sure) for links, gold in pairs)
    return AlignmentScores(rate, possible / max(links, 1), of_sure / max(sure, 1), links)


def _inside(alignment: Alignment, lengths: Lengths) -> Alignment:
    sure, possible = (
        frozenset(link for link in side if link[0] < lengths[0] and link[1] < lengths[1])
        for side in alignment
    )
    return Alignment(sure, possible)


def _turned(links: Links) -> Links:
    return frozenset((source, target) for target, source in links)
