"""How well translators do on short and on long sources: test sentences joined, scored by length."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import tensorflow as tf

from zoo.metrics.translation import bleu


def join_sentences(pairs: pd.DataFrame, most: int) -> pd.DataFrame:
    """Joins 1, 2, .. ``most`` pairs that follow each other; none is in two sources of one number.

    Args:
        pairs: ``source`` and ``target``.
        most: the largest number; pairs left over at the end are left out.

    Returns:
        ``source``, ``target``, and ``sentences``: how many each consists of.

    Raises:
        ValueError: if there are fewer pairs than that.
    """
    if len(pairs) < most:
        raise ValueError(f"joined must be at most the number of pairs, {len(pairs)}, got {most}")
    sides = [pairs["source"].tolist(), pairs["target"].tolist()]
    rows = [
        (*(" ".join(side[first : first + number]) for side in sides), number)
        for number in range(1, most + 1)
        for first in range(0, len(pairs) - number + 1, number)
    ]
    return pd.DataFrame(rows, columns=["source", "target", "sentences"])


def buckets_of_words(sources: Iterable[str], width: int) -> list[tuple[int, int]]:
    """Returns fewest and most words of each source's bucket; words are what spaces separate."""
    numbers = [(max(len(source.split()), 1) - 1) // width for source in sources]
    return [(number * width + 1, (number + 1) * width) for number in numbers]


def translate(
    search: Callable[..., Mapping[str, tf.Tensor]],
    sources: Iterable[str],
    *,
    beam_width: int,
    length_penalty: float,
    batch_size: int,
    maximum_tokens: int,
    progress: Callable[[int], object] = lambda _: None,
) -> list[str]:
    """Translates, sources of similar length at a time.

    Args:
        search: the signature ``beam`` of a translation servable.
        sources: any texts.
        beam_width: of the search.
        length_penalty: GNMT's exponent.
        batch_size: sources translated at a time.
        maximum_tokens: what the model reads of a source, ``</s>`` counted.
        progress: told, after each batch, how many sources it had.

    Returns:
        The best translation of each source, in order.

    Raises:
        ValueError: if a source may have more tokens than are read.
    """
    texts = np.array([*sources], object)
    order = np.argsort([len(text) for text in texts], kind="stable")
    translations = np.full(len(texts), "", object)
    for first in range(0, len(texts), batch_size):
        rows = order[first : first + batch_size]
        outputs = search(
            text=tf.constant(texts[rows]),
            beam_width=tf.constant(beam_width),
            length_penalty=tf.constant(length_penalty),
        )
        longest = int(tf.reduce_max(outputs["source_length"]))
        if longest >= maximum_tokens:
            raise ValueError(
                f"sources must have fewer than the {maximum_tokens} tokens that the model reads,"
                f" got {longest} or more"
            )
        translations[rows] = [text.decode() for text in outputs["translation"].numpy()[:, 0]]
        progress(len(rows))
    return translations.tolist()


def score_buckets(
    buckets: Sequence[Any],
    references: Sequence[str],
    translations: Mapping[str, Sequence[str]],
    minimum_sources: int = 1,
    *,
    bleu_tokenizer: str = "13a",
) -> list[dict[str, Any]]:
    """Scores each bucket of sources.

    Args:
        buckets: which one each source is in: a number, or fewest and most.
        references: of each source.
        translations: model -> its translation of each source.
        minimum_sources: buckets with fewer sources are left out.
        bleu_tokenizer: of sacreBLEU, see ``zoo.metrics.translation.choose_bleu_tokenizer``.

    Returns:
        For each bucket, in order, ``bucket`` (its name), ``sources`` (how many), and of each model
        ``bleu`` and ``length_ratio``.

    Raises:
        ValueError: if all buckets are left out.
    """
    found = []
    for bucket in sorted(set(buckets)):
        rows = [row for row, other in enumerate(buckets) if other == bucket]
        if len(rows) < minimum_sources:
            continue
        right = [references[row] for row in rows]
        scores = {
            name: bleu([t[row] for row in rows], right, tokenize=bleu_tokenizer)
            for name, t in translations.items()
        }
        found.append(
            {
                "bucket": "-".join(map(str, bucket)) if isinstance(bucket, tuple) else str(bucket),
                "sources": len(rows),
                "bleu": {name: one.score for name, one in scores.items()},
                "length_ratio": {name: one.length_ratio for name, one in scores.items()},
            }
        )
    if not found:
        raise ValueError(
            f"minimum_sources must be at most the sources of some bucket, got {minimum_sources}"
        )
    return found
