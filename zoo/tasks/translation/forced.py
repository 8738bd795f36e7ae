"""Word alignments of given pairs: the decoder reads the target instead of choosing it.

Words are what stands between spaces, as in files of annotated alignments. Codecs cut a word into
pieces: the weights of a source word's pieces are added up, those of a target word's pieces are
averaged. The piece of a space before closing punctuation is left out, since text as people write
it, which models are trained on, has none there.

Letters of shapes: T and S pieces of target and source, V and U words.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from zoo.metrics.alignment import Convention, Links, links
from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel
from zoo.text.codecs import TextCodec
from zoo.text.vocabulary import END, START, UNKNOWN

_ROWS = 32  # pairs that are read at a time
_SPACE = "\u2581".encode()  # subwords' piece of a space, if it is one of its own
_CLOSING = frozenset(".,;:!?\u2026)]}")  # follow the word before without a space


def align_pairs(
    model: SequenceToSequenceModel,
    codecs: tuple[TextCodec, TextCodec],
    sources: Sequence[str],
    targets: Sequence[str],
    convention: Convention = "predicted",
    threshold: float | None = None,
) -> list[Links]:
    """Links the words of pairs that are translations of each other.

    Args:
        model: a translator with an alignment.
        codecs: of its source and its target.
        sources: sentences, words separated by spaces.
        targets: their translations.
        convention: as of `zoo.metrics.alignment.links`.
        threshold: likewise.

    Returns:
        For each pair links of a source and a target word, which count from 0.

    Raises:
        ValueError: the model has no alignment, or the numbers of sentences differ.
    """
    return [
        links(weights, weights.shape[1], weights.shape[0], threshold=threshold)
        for weights in word_weights(model, codecs, sources, targets, convention)
    ]


def word_weights(
    model: SequenceToSequenceModel,
    codecs: tuple[TextCodec, TextCodec],
    sources: Sequence[str],
    targets: Sequence[str],
    convention: Convention = "predicted",
) -> list[np.ndarray]:
    """Computes how much each target word looks at each source word: see `align_pairs`.

    Returns:
        (V, U) for each pair. A row sums to one less what the end of the source got.

    Raises:
        ValueError: as `align_pairs`.
    """
    shift = 1 if convention == "input" else 0
    return shifted_weights(model, codecs, sources, targets, [shift])[shift]


def shifted_weights(
    model: SequenceToSequenceModel,
    codecs: tuple[TextCodec, TextCodec],
    sources: Sequence[str],
    targets: Sequence[str],
    shifts: Sequence[int],
) -> dict[int, list[np.ndarray]]:
    """Computes the weights of words from steps of the decoder beside their own.

    Args:
        model: a translator with an alignment.
        codecs: of its source and its target.
        sources: sentences, words separated by spaces.
        targets: their translations.
        shifts: 0: a word has the weights of the steps that write it; 1: of the steps one later,
            which read it; -1: of the steps one earlier.

    Returns:
        For each shift the weights (V, U) of each pair. Words before the first step have zeros.

    Raises:
        ValueError: as `align_pairs`; or a shift is none of these.
    """
    if unlawful := [one for one in shifts if one not in (-1, 0, 1)]:
        raise ValueError(f"shifts must be among -1, 0 and 1, got {unlawful[0]!r}")
    if "alignment" not in model.ATTENTION:
        raise ValueError(f"model must have an alignment, got {type(model).__name__}")
    if len(sources) != len(targets):
        raise ValueError(
            f"targets must be one for each of the {len(sources)} sources, got {len(targets)}"
        )
    ids = tf.TensorSpec([None, None], tf.int32)
    read = tf.function(
        lambda inputs: model(inputs, training=False)["attention"]["alignment"],
        input_signature=[{"source": ids, "target": ids}],
        autograph=False,
    )
    found: dict[int, list[np.ndarray]] = {shift: [] for shift in shifts}
    for first in range(0, len(sources), _ROWS):
        sides = [
            [_pieces(text, codec) for text in texts[first : first + _ROWS]]
            for texts, codec in zip((sources, targets), codecs, strict=True)
        ]
        maps = read(_inputs(*sides)).numpy()  # (B, T, S)
        for weights, source, target in zip(maps, *sides, strict=True):
            for shift, merged in found.items():
                merged.append(_merge(weights, source, target, shift))
    return found


def unknown_share(texts: Sequence[str], codec: TextCodec) -> float:
    """Share of words, separated by spaces, of which a piece is unknown; 0 of no words."""
    words = [UNKNOWN in pieces for text in texts for pieces in _pieces(text, codec)]
    return sum(words) / max(len(words), 1)


def _pieces(text: str, codec: TextCodec) -> list[list[int]]:
    """The ids of each word; a word of which nothing is left is an unknown one."""
    words = text.split()
    if not words:
        return []
    ids = codec.encode(tf.constant(words))
    read = zip(words, ids.to_list(), codec.pieces(ids).to_list(), strict=True)
    found = [_without_space(*one) if n else one[1] for n, one in enumerate(read)]
    return [one or [UNKNOWN] for one in found]


def _without_space(word: str, ids: list[int], pieces: list[bytes]) -> list[int]:
    """Leaves out the space before closing punctuation that follows another word."""
    spaced = len(ids) > 1 and pieces[0] == _SPACE
    return ids[1:] if spaced and _CLOSING.issuperset(word) else ids


def _inputs(sources: list[Any], targets: list[Any]) -> dict[str, tf.Tensor]:
    """Pads the ids of a batch, sources with their end and targets with their start."""
    source = tf.ragged.constant([[*_joined(words), END] for words in sources], dtype=tf.int32)
    target = tf.ragged.constant([[START, *_joined(words)] for words in targets], dtype=tf.int32)
    return {"source": source.to_tensor(), "target": target.to_tensor()}


def _joined(words: list[list[int]]) -> list[int]:
    return [piece for word in words for piece in word]


def _merge(weights: np.ndarray, source: list[Any], target: list[Any], shift: int) -> np.ndarray:
    """Merges the weights of pieces (T, S) to those of words (V, U)."""
    merged = np.zeros((len(target), len(source)))
    row = shift
    for v, target_pieces in enumerate(target):
        of_word = weights[max(row, 0) : max(row + len(target_pieces), 0)]
        row, column = row + len(target_pieces), 0
        if not len(of_word):  # nothing is before the first step
            continue
        mean = of_word.mean(axis=0)  # (S,)
        for u, source_pieces in enumerate(source):
            merged[v, u] = mean[column : column + len(source_pieces)].sum()
            column += len(source_pieces)
    return merged
