"""How well a translator's attention agrees with the word alignments of annotators."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zoo.metrics.alignment import Alignment, Lengths, Links, links
from zoo.metrics.gold import AlignmentScores, score_links
from zoo.metrics.symmetrisation import Method, flip_links, symmetrise
from zoo.serving.codecs import load_codecs
from zoo.serving.load import load
from zoo.tasks.shared.exported import check_translators
from zoo.tasks.translation.forced import shifted_weights, unknown_share

METHODS: tuple[Method, ...] = (
    "intersection",
    "union",
    "grow-diag",
    "grow-diag-final",
    "grow-diag-final-and",
)
"""Ways to join two directions."""


class WordAttention(NamedTuple):
    """Weights of words of given pairs."""

    weights: Mapping[int, Sequence[np.ndarray]]
    """By shift, as `zoo.tasks.translation.forced.shifted_weights` returns them."""
    unknown_source: float
    """Share of the source's words that the model does not know."""
    unknown_target: float
    """The same of the target's."""


def read_attention(
    folder: Path, sources: Sequence[str], targets: Sequence[str], shifts: Sequence[int]
) -> WordAttention:
    """Has an exported translator read given pairs.

    Raises:
        ValueError: the folder holds no translator, or one without an alignment.
    """
    check_translators([folder])
    first, second = load_codecs(folder)
    weights = shifted_weights(load(folder), (first, second), sources, targets, shifts)
    return WordAttention(weights, unknown_share(sources, first), unknown_share(targets, second))


def score_attention(
    gold: Sequence[Alignment],
    forward: Sequence[np.ndarray],
    backward: Sequence[np.ndarray] | None,
    threshold: float,
) -> dict[str, AlignmentScores]:
    """Scores all ways to make links of weights.

    Args:
        gold: annotation of each pair.
        forward: weights (V, U) of each pair, of the model from source to target.
        backward: (U, V), of a model of the other direction; None: there is none.
        threshold: of the second way.

    Returns:
        Scores of ``largest``, the source word with the largest weight of each target word;
        ``threshold``, all words with so large a weight; and with a second direction of
        ``backward``, its largest weights, and of both joined by each of `METHODS`.
    """
    ways: dict[str, Sequence[Links]] = {
        "largest": _links(forward),
        "threshold": _links(forward, threshold),
    }
    if backward is not None:
        ways["backward"] = [flip_links(one) for one in _links(backward)]
        both = list(zip(ways["largest"], ways["backward"], strict=True))
        ways |= {method: [symmetrise(*pair, method) for pair in both] for method in METHODS}
    return {name: score_links(found, gold) for name, found in ways.items()}


def mass_on_links(gold: Sequence[Alignment], weights: Sequence[np.ndarray]) -> float:
    """Mean weight (V, U) on possible links, over the target words that have one.

    This is the probability mass of Koehn and Knowles, "Six Challenges for Neural Machine
    Translation", 2017, section 3.5, without their normalisation.
    """
    masses = []
    for alignment, one in zip(gold, weights, strict=True):
        linked = sorted({target for _, target in alignment.possible})
        masses += [
            sum(one[target, source] for source, other in alignment.possible if other == target)
            for target in linked
        ]
    return float(np.mean(masses)) if masses else 0.0


def diagonal_links(lengths: Collection[Lengths]) -> list[Links]:
    """Links each target word to the source word at the same place: a baseline without a model."""
    return [
        frozenset((int((j + 0.5) * source / target), j) for j in range(target) if source)
        for source, target in lengths
    ]


def _links(weights: Sequence[np.ndarray], threshold: float | None = None) -> list[Links]:
    return [links(one, one.shape[1], one.shape[0], threshold=threshold) for one in weights]
