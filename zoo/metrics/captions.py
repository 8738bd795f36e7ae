"""Metrics of captions: BLEU-1 to 4 and CIDEr-D against several references, and pointing.

Captions and references are compared in lower case, without punctuation, split at spaces, as the
papers on captions do. BLEU-n is cumulative: the geometric mean of the precisions of 1-grams to
n-grams, over the corpus, with the length of the closest reference, by sacreBLEU.

CIDEr-D: Vedantam, Zitnick, Parikh, "CIDEr: Consensus-based Image Description Evaluation", CVPR 2015
(arXiv 1411.5726), equations 1 to 4. The document frequencies are those of the references given, as
in the official script.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sacrebleu.metrics import BLEU

from zoo.text.invisible import drop_invisible

ORDERS = (1, 2, 3, 4)
_SIGMA = 6.0
_SCALE = 10.0

Vector = dict[tuple[str, ...], float]


class CaptionScores(NamedTuple):
    """Scores of the captions of a corpus."""

    values: dict[str, float]
    """`bleu_1` to `bleu_4`, from 0 to 100, and `cider_d`, from 0 to 10 times 100."""
    signature: str
    """sacreBLEU's, of `bleu_4`."""


def normalise_caption(text: str) -> str:
    """Returns a caption in lower case, without punctuation, with single spaces between words.

    Symbols are punctuation, too, and hyphens within words: "tri-colored" becomes "tricolored".
    Invisible characters, which are part of many emoji, vanish with them. Letters and their accents
    are composed, so that both ways to write "é" are one word.
    """
    text = unicodedata.normalize("NFC", drop_invisible(text.lower()))
    kept = (one for one in text if unicodedata.category(one)[0] not in "PS")
    return " ".join("".join(kept).split())


def score_captions(captions: Sequence[str], references: Sequence[Sequence[str]]) -> CaptionScores:
    """Computes all scores of a corpus.

    Args:
        captions: One for each picture.
        references: At least one for each caption; their numbers may differ.

    Raises:
        ValueError: There is no caption, not one list of references each, or an empty one.
    """
    _check(captions, references)
    written = [normalise_caption(one) for one in captions]
    known = [[normalise_caption(one) for one in several] for several in references]
    longest = max(map(len, known))
    # sacreBLEU takes the first reference of all pictures, then the second of all, and so on.
    streams: Any = [  # in which None says that there are no more
        [several[number] if number < len(several) else None for several in known]
        for number in range(longest)
    ]
    values = {}
    for order in ORDERS:
        # Not `lowercase`, which is done, and so are the tokens.
        metric = BLEU(tokenize="none", max_ngram_order=order)
        values[f"bleu_{order}"] = min(float(metric.corpus_score(written, streams).score), 100.0)
    values["cider_d"] = 100.0 * cider_d(written, known)
    return CaptionScores(values, f"{metric.get_signature()}|lowercase, no punctuation")


def cider_d(captions: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Computes CIDEr-D of a corpus, the mean over its pictures: 0 to 10.

    Args:
        captions: One for each picture; words with spaces between them.
        references: At least one for each caption.

    Raises:
        ValueError: As `score_captions`.
    """
    _check(captions, references)
    counted = [[_ngrams(one) for one in several] for several in references]
    frequency: Counter[tuple[str, ...]] = Counter()
    for several in counted:
        frequency.update({gram for one in several for gram in one})
    documents = math.log(len(references))
    total = 0.0
    for caption, several in zip(captions, counted, strict=True):
        grams = _ngrams(caption)
        own = _weighted(grams, frequency, documents)
        scores = [
            _similarity(own, grams, _weighted(one, frequency, documents), one) for one in several
        ]
        total += sum(scores) / len(scores)
    return _SCALE * total / len(captions)


def pointing(cell: tuple[int, int], grid: tuple[int, int], box: Sequence[int], size: int) -> bool:
    """Tells whether a cell of a grid over a square picture overlaps a box.

    Args:
        cell: row and column.
        grid: number of rows and of columns.
        box: top, left, bottom, right, in pixels; the last two are beyond the box.
        size: height and width of the picture.
    """
    for place, count, first, last in zip(cell, grid, box[:2], box[2:], strict=True):
        if not (place * size / count < last and (place + 1) * size / count > first):
            return False
    return True


def _ngrams(text: str) -> Counter[tuple[str, ...]]:
    """Counts the 1-grams to 4-grams of a text."""
    words = text.split()
    return Counter(
        tuple(words[start : start + order])
        for order in ORDERS
        for start in range(len(words) - order + 1)
    )


def _weighted(
    grams: Counter[tuple[str, ...]], frequency: Mapping[tuple[str, ...], int], documents: float
) -> list[Vector]:
    """The vector g^n of each order: counts times inverse document frequencies."""
    vectors: list[Vector] = [{} for _ in ORDERS]
    for gram, count in grams.items():
        # An n-gram of no reference counts as one of a single one.
        weight = documents - math.log(max(frequency.get(gram, 0), 1))
        vectors[len(gram) - 1][gram] = count * weight
    return vectors


def _similarity(
    caption: list[Vector],
    caption_grams: Counter[tuple[str, ...]],
    reference: list[Vector],
    reference_grams: Counter[tuple[str, ...]],
) -> float:
    """Mean over the orders of the clipped cosine, less the penalty of another length."""
    lengths = [
        sum(count for gram, count in grams.items() if len(gram) == 2)
        for grams in (caption_grams, reference_grams)
    ]
    # The official script takes the number of 2-grams for the length: one less than the words.
    penalty = math.exp(-((lengths[0] - lengths[1]) ** 2) / (2 * _SIGMA**2))
    total = 0.0
    for own, other in zip(caption, reference, strict=True):
        product = sum(
            min(value, other[gram]) * other[gram] for gram, value in own.items() if gram in other
        )
        norms = math.sqrt(sum(v * v for v in own.values()) * sum(v * v for v in other.values()))
        total += penalty * product / norms if norms else 0.0
    return total / len(ORDERS)


def _check(captions: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    if not len(captions) or len(captions) != len(references):
        raise ValueError(
            f"references must be a list for each of at least one caption, got {len(captions)} "
            f"captions and {len(references)} lists"
        )
    for row, several in enumerate(references):
        if isinstance(several, str) or not len(several):
            raise ValueError(f"references[{row}] must be a list of at least one, got {several!r}")
