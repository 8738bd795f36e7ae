"""Scores of translations: BLEU through sacreBLEU, perplexity and exact match.

BLEU depends on how text is cut into tokens, so a figure means something only beside the signature
that says how: Post, "A Call for Clarity in Reporting BLEU Scores", WMT 2018. Hypotheses and
references are detokenised text; sacreBLEU cuts both in the same way (13a, that of WMT).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from sacrebleu.metrics import BLEU


class BleuScore(NamedTuple):
    """BLEU of a corpus, and what to quote beside it."""

    score: float
    """0 to 100."""
    signature: str
    """Of sacreBLEU: references, case, tokens, smoothing and version."""
    precisions: tuple[float, ...]
    """Of 1-grams to 4-grams, in percent."""
    brevity_penalty: float
    """1 if the hypotheses are as long as the references, less if they are shorter."""
    length_ratio: float
    """Tokens of the hypotheses per token of the references."""


def bleu(
    predictions: Sequence[str], references: Sequence[str], *, lowercase: bool = False
) -> BleuScore:
    """BLEU of a corpus with one reference a sentence, as `sacrebleu` prints it.

    Args:
        predictions: Translations, detokenised.
        references: As many, detokenised; row i is the reference of prediction i.
        lowercase: Whether case counts not (`sacrebleu -lc`).

    Returns:
        The score with its signature.

    Raises:
        ValueError: There is no sentence, or the numbers differ.
        TypeError: A prediction or a reference is not a string.
    """
    _check_pairs(predictions, references)
    metric = BLEU(tokenize="13a", lowercase=lowercase)
    score = metric.corpus_score(list(predictions), [list(references)])
    return BleuScore(
        score=min(float(score.score), 100.0),  # which rounding may exceed
        signature=str(metric.get_signature()),
        precisions=tuple(map(float, score.precisions)),
        brevity_penalty=float(score.bp),
        length_ratio=float(score.sys_len / score.ref_len) if score.ref_len else 0.0,
    )


def exact_match(predictions: Sequence[str], references: Sequence[str]) -> float:
    """Percentage of the translations that are the reference, character for character.

    Args:
        predictions: Translations.
        references: As many.

    Raises:
        ValueError: There is no sentence, or the numbers differ.
        TypeError: A prediction or a reference is not a string.
    """
    _check_pairs(predictions, references)
    equal = sum(p == r for p, r in zip(predictions, references, strict=True))
    return 100.0 * equal / len(predictions)


def perplexity(total_nll: float, tokens: int) -> float:
    """Perplexity of a corpus, `exp(total_nll / tokens)`.

    Args:
        total_nll: Negative log-likelihood of all tokens, in nats, summed.
        tokens: How many real tokens that is, ends of sentences included if they were predicted.

    Returns:
        1 or more; infinity where it is too large for a float.

    Raises:
        ValueError: `tokens` is not positive, or `total_nll` is negative or not a number.
    """
    if tokens < 1:
        raise ValueError(f"tokens: expected at least 1, got {tokens}")
    if not total_nll >= 0:
        raise ValueError(f"total_nll: expected 0 or more, got {total_nll}")
    try:
        return math.exp(total_nll / tokens)
    except OverflowError:
        return math.inf


def _check_pairs(predictions: Sequence[str], references: Sequence[str]) -> None:
    """Raises ValueError or TypeError, see `bleu`."""
    for name, texts in (("predictions", predictions), ("references", references)):
        if isinstance(texts, str):
            raise TypeError(f"{name}: expected a sequence of strings, got {texts!r}")
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"{name}[{row}]: expected a string, got {text!r}")
    if len(predictions) != len(references):
        raise ValueError(
            f"predictions: expected one for each of the {len(references)} references, "
            f"got {len(predictions)}"
        )
    if not len(predictions):
        raise ValueError("predictions: expected at least one, got none")
