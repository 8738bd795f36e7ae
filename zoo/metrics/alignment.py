"""Word alignments: extraction from attention, files, and the alignment error rate.

A link (i, j) says that source token i and target token j translate each other; both count from 0.
Files are in the Pharaoh format, one sentence pair per line: `0-0 1-2 2p1`, where p marks a possible
link. `read_pharaoh(path, first=1)` reads files that count from 1.

Och and Ney, "A Systematic Comparison of Various Statistical Alignment Models", Computational
Linguistics 29(1), 2003 (the error rate, with sure and possible links); Luong, Pham and Manning,
"Effective Approaches to Attention-based Neural Machine Translation", EMNLP 2015, section 5.4 (links
from attention).
"""

import os
import re
import warnings
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from zoo.files import whole_text
from zoo.text_files import read_text, split_lines

Link: TypeAlias = tuple[int, int]
Links: TypeAlias = frozenset[Link]
Lengths: TypeAlias = tuple[int, int]
"""Numbers of source and target tokens of a sentence pair."""
Convention: TypeAlias = Literal["predicted", "input"]

_ENOUGH_SENTENCES = 10  # enough to tell whether links count from 0 or 1
_LINK = re.compile(r"([0-9]+)([-p])([0-9]+)")


class Alignment(NamedTuple):
    """Annotated links of one sentence pair."""

    sure: Links
    possible: Links
    """Possible links, which include the sure ones."""


def links(
    alignment: npt.ArrayLike,
    source_length: int,
    target_length: int,
    convention: Convention = "predicted",
    threshold: float | None = None,
) -> Links:
    """Links each target token to the source token with the largest weight, or to several.

    Step t of a decoder reads target token t - 1 (initially the start) and predicts token t. Which
    of the two its weights align depends on the score (Luong et al., footnote 14): location-based
    scores, which use the state alone, align the predicted token; content-based scores align the
    token just read.

    Args:
        alignment: (T, S) attention weights, row t of step t. Steps and positions beyond the lengths
            are ignored. Steps without weight on real positions give no link.
        source_length: Number of real source tokens, without the end of the sentence, as in gold
            alignments.
        target_length: Number of target tokens, without start and end.
        convention: "predicted": row t belongs to target token t. "input": row t + 1 belongs to
            target token t, so the rows reach up to the step that predicts the end.
        threshold: None: the largest weight, however small. A number above 0: every weight that is
            as large.

    Returns:
        Without a threshold at most one link for each target token; the first position wins a tie.

    Raises:
        ValueError: The alignment is not a matrix, is smaller than the lengths or not finite, or an
            argument is out of range.
    """
    weights = np.asarray(alignment, dtype=np.float64)
    if convention not in ("predicted", "input"):
        raise ValueError(f"convention must be 'predicted' or 'input', got {convention!r}")
    if threshold is not None and not threshold > 0:
        raise ValueError(f"threshold must be positive, got {threshold!r}")
    first = 1 if convention == "input" else 0
    if weights.ndim != 2:
        raise ValueError(f"alignment must have the shape (T, S), got {weights.shape}")
    for name, length, available in (
        ("source_length", source_length, weights.shape[1]),
        ("target_length", target_length, max(weights.shape[0] - first, 0)),
    ):
        if not 0 <= length <= available:
            raise ValueError(
                f"{name} must be from 0 to {available} by an alignment of shape {weights.shape} "
                f"and convention {convention!r}, got {length}"
            )
    weights = weights[first : first + target_length, :source_length]
    if not np.isfinite(weights).all():
        raise ValueError("alignment must be finite, got infinite weights or NaN")
    if threshold is not None:
        places = np.argwhere(weights >= threshold).tolist()
        return frozenset((source, target) for target, source in places)
    if source_length == 0:
        return frozenset()
    best = weights.argmax(axis=1)
    rows = np.flatnonzero(weights.max(axis=1) > 0)
    return frozenset((int(best[row]), int(row)) for row in rows)


def aer(
    hypotheses: Sequence[Alignment | Collection[Link]],
    references: Sequence[Alignment],
    lengths: Sequence[Lengths] | None = None,
) -> float:
    """Computes the alignment error rate of a corpus, 0 (best) to 1.

    `1 - (|A and S| + |A and P|) / (|A| + |S|)`, with the hypothesis' links A, the sure links S and
    the possible links P (sure ones included), counted over all sentences.

    Args:
        hypotheses: The links of each sentence pair; of an annotation, also the possible ones.
        references: The annotation of each sentence pair.
        lengths: If given, the numbers of source and target tokens of each pair; links beyond them
            are refused, such as those of a file that counts from 1.

    Raises:
        ValueError: The numbers differ, a link lies outside its sentences, or the corpus has neither
            a link nor a sure link.
    """
    if len(hypotheses) != len(references):
        raise ValueError(
            f"hypotheses must be one for each of the {len(references)} references, "
            f"got {len(hypotheses)}"
        )
    if lengths is not None:
        check_links(hypotheses, lengths, "hypotheses")
        check_links(references, lengths, "references")
    found = total = 0
    for hypothesis, (sure, possible) in zip(hypotheses, references, strict=True):
        answer = all_links(hypothesis)
        found += len(answer & sure) + len(answer & (possible | sure))
        total += len(answer) + len(sure)
    if total == 0:
        raise ValueError("references must hold a sure link, or hypotheses a link, got none")
    return 1.0 - found / total


def all_links(alignment: Alignment | Collection[Link]) -> Links:
    """Collects the links of one sentence pair; of an annotation, also the possible ones."""
    if isinstance(alignment, Alignment):
        return alignment.sure | alignment.possible
    return frozenset(alignment)


def check_links(
    alignments: Sequence[Alignment | Collection[Link]],
    lengths: Sequence[Lengths],
    name: str = "alignments",
    first: Literal[0, 1] = 0,
) -> None:
    """Refuses links outside their sentences; positions count from 0.

    Args:
        alignments: Links or annotation of each sentence pair.
        lengths: The numbers of source and target tokens of each pair.
        name: Name of the alignments in errors.
        first: The number of a sentence's first token where they come from; of 0, an error suggests
            that it is 1.

    Raises:
        ValueError: There are more or fewer lengths than alignments, or a position is negative or
            not below the length; names the sentence pair, from 1.
    """
    if len(alignments) != len(lengths):
        raise ValueError(
            f"lengths must be one for each of the {len(alignments)} {name}, got {len(lengths)}"
        )
    hint = "; first=1 reads a file that counts from 1" if first == 0 else ""
    for number, (alignment, (source, target)) in enumerate(
        zip(alignments, lengths, strict=True), 1
    ):
        for link in sorted(all_links(alignment)):
            if not (0 <= link[0] < source and 0 <= link[1] < target):
                raise ValueError(
                    f"{name}: sentence pair {number}: link must be inside of "
                    f"{source} source and {target} target tokens, counted from 0, got "
                    f"{link[0]}-{link[1]}{hint}"
                )


def read_pharaoh(
    source: str | os.PathLike[str] | Iterable[str],
    first: Literal[0, 1] = 0,
    lengths: Sequence[Lengths] | None = None,
) -> list[Alignment]:
    """Reads alignments in Pharaoh format.

    Args:
        source: Path of a file, or lines. `i-j` is a sure link, `ipj` a possible one; i is the
            source's token, j the target's. An empty line is a sentence pair without links. A file
            whose name ends in `.gz` is read decompressed.
        first: The number of a sentence's first token in the file, 0 or 1.
        lengths: If given, the numbers of source and target tokens of each pair; links beyond them
            are refused.

    Returns:
        One alignment per line. Positions count from 0, whatever the file counts from.

    Raises:
        ValueError: A line holds something other than links, or a position below `first`; names the
            line, from 1. A link lies beyond its sentences: see `check_links`.
    """
    if first not in (0, 1):
        raise ValueError(f"first must be 0 or 1, got {first!r}")
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        lines: Iterable[str] = split_lines(read_text(source).text)
    else:
        name, lines = "lines", source
    read = [_parse(name, number, line, first) for number, line in enumerate(lines, start=1)]
    if lengths is not None:
        check_links(read, lengths, name, first)
    if first == 0:
        warn_of_ones(name, read)
    return read


def write_pharaoh(
    path: str | os.PathLike[str],
    alignments: Iterable[Alignment | Collection[Link]],
    first: Literal[0, 1] = 0,
) -> None:
    """Writes alignments in Pharaoh format, links in order of source and target.

    Args:
        path: The file to write. It appears whole or not at all.
        alignments: Links or annotation of each sentence pair; links that are only possible are
            written with a p. Positions count from 0.
        first: The number that a sentence's first token gets in the file, 0 or 1.

    Raises:
        ValueError: A link has a negative position.
    """
    if first not in (0, 1):
        raise ValueError(f"first must be 0 or 1, got {first!r}")
    with whole_text(path) as file:
        for number, alignment in enumerate(alignments, start=1):
            file.write(_format(number, alignment, first) + "\n")


def pharaoh_line(alignment: Alignment | Collection[Link]) -> str:
    """Writes the links of one sentence pair in Pharaoh format, counted from 0."""
    return _format(1, alignment, 0)


def _parse(name: str, number: int, line: str, first: int) -> Alignment:
    sure: set[Link] = set()
    possible: set[Link] = set()
    for word in (line.removeprefix("\ufeff") if number == 1 else line).split():
        match = _LINK.fullmatch(word)
        if match is None:
            raise ValueError(
                f"{name}: line {number} must hold links such as 0-1 or 0p1, got {word!r}"
            )
        link = int(match[1]) - first, int(match[3]) - first
        if min(link) < 0:
            raise ValueError(f"{name}: line {number} must hold positions from 1, got {word!r}")
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return Alignment(frozenset(sure), frozenset(possible))


def warn_of_ones(name: str, alignments: Sequence[Alignment], *, empty_words: bool = False) -> None:
    """Warns if no first token has a link, which is unlikely for real sentences.

    Args:
        name: Name of the alignments in the warning.
        alignments: Those of a corpus, read as counting from 0.
        empty_words: Whether 0 may be the empty word instead. Position 0 then tells nothing, and
            a link between both first tokens is looked for.
    """
    linked = [alignment.possible for alignment in alignments if alignment.possible]
    if empty_words:
        told, found = "the link 0-0", any((0, 0) in one for one in linked)
    else:
        told, found = "the position 0", any(0 in link for one in linked for link in one)
    if len(linked) >= _ENOUGH_SENTENCES and not found:
        warnings.warn(
            f"{name}: none of {len(linked)} alignments has {told}; "
            "if they count from 1, read them with first=1",
            stacklevel=3,
        )


def _format(number: int, alignment: Alignment | Collection[Link], first: int) -> str:
    sure = alignment.sure if isinstance(alignment, Alignment) else frozenset(alignment)
    words = []
    for link in sorted(all_links(alignment)):
        if min(link) < 0:
            raise ValueError(f"alignments: line {number} must hold positions from 0, got {link}")
        words.append(f"{link[0] + first}{'-' if link in sure else 'p'}{link[1] + first}")
    return " ".join(words)
