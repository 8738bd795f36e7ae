"""Metrics of translations: BLEU by sacreBLEU, perplexity and exact match.

BLEU depends on tokenisation, so a figure is meaningful only with its signature: Post, "A Call for
Clarity in Reporting BLEU Scores", WMT 2018. Hypotheses and references are detokenised text, and
sacreBLEU tokenises both alike. WMT's 13a splits at spaces and punctuation. In a language without
spaces a whole sentence would be one token, and BLEU would always be 0.
"""

import math
import operator
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from sacrebleu.metrics import BLEU

_TOKENIZERS = {
    **dict.fromkeys(("zh", "zho", "cmn", "yue"), "zh"),
    # sacreBLEU's ja-mecab and ko-mecab need dictionaries that are not always installed; the result
    # must not depend on that.
    **dict.fromkeys(("ja", "jpn", "ko", "kor"), "char"),
    **dict.fromkeys(("th", "tha", "lo", "lao", "km", "khm", "my", "mya", "bo", "bod"), "char"),
}
DEFAULT_TOKENIZER = "13a"
_ORDER = 4  # BLEU counts n-grams up to this length, if it can


class BleuScore(NamedTuple):
    """BLEU of a corpus, and the figures to quote with it."""

    score: float
    """0 to 100."""
    signature: str
    """sacreBLEU's: references, case, tokens, smoothing and version. A final `order:2` says that
    n-grams up to 2 are counted, not up to 4."""
    precisions: tuple[float, ...]
    """Precisions of 1-grams to 4-grams, or of the n-grams that are counted, in percent."""
    brevity_penalty: float
    """1 if the hypotheses are as long as the references, less if they are shorter."""
    length_ratio: float
    """Tokens of the hypotheses per token of the references."""


def choose_bleu_tokenizer(language: str, chosen: str = "auto") -> str:
    """Chooses sacreBLEU's tokeniser for a language.

    Args:
        language: Code of the target language, such as `de`, `zh` or `zh-Hant`.
        chosen: Name of a tokeniser of sacreBLEU; "auto": `zh` for Chinese, `char` for Japanese,
            Korean, Thai, Lao, Khmer, Burmese and Tibetan, `13a` for all others.

    Returns:
        Its name.

    Raises:
        ValueError: sacreBLEU has no such tokeniser.
        ModuleNotFoundError: The tokeniser needs packages that are not installed.
    """
    if chosen == "auto":
        primary = language.lower().replace("_", "-").split("-")[0]
        chosen = _TOKENIZERS.get(primary, DEFAULT_TOKENIZER)
    _metric(chosen)
    return chosen


def bleu(
    predictions: Sequence[str],
    references: Sequence[str],
    *,
    lowercase: bool = False,
    tokenize: str = DEFAULT_TOKENIZER,
) -> BleuScore:
    """Computes BLEU of a corpus with one reference per sentence, as `sacrebleu` prints it.

    References count as they are written, as in all published results: normalised ones would be
    another test set under the same signature. The tokenizers of models normalise by NFKC, so a
    full-width digit or an ellipsis of one character in a reference is never matched. Spaces of all
    kinds are alike to sacreBLEU.

    If no reference has four tokens, BLEU would be 0 whatever is predicted. In that case n-grams are
    counted up to the longest reference, and the signature says so. sacreBLEU's effective order
    depends on the longest prediction instead, and so may score one word above most of a phrase.

    Args:
        predictions: Translations, detokenised.
        references: One for each prediction, detokenised.
        lowercase: Whether to ignore case (`sacrebleu -lc`).
        tokenize: Tokeniser of sacreBLEU, see `choose_bleu_tokenizer`.

    Returns:
        The score with its signature.

    Raises:
        ValueError: There is no sentence, the numbers differ, or there is no such tokeniser.
        TypeError: A prediction or a reference is not a string.
        ModuleNotFoundError: The tokeniser needs packages that are not installed.
    """
    _check_pairs(predictions, references)
    metric = _metric(tokenize, lowercase)
    metric.max_ngram_order = order = _order(metric, references)
    score = metric.corpus_score(list(predictions), [list(references)])
    return BleuScore(
        score=min(float(score.score), 100.0),  # rounding may exceed 100
        signature=f"{metric.get_signature()}" + (f"|order:{order}" if order < _ORDER else ""),
        precisions=tuple(map(float, score.precisions)),
        brevity_penalty=float(score.bp),
        length_ratio=float(score.sys_len / score.ref_len) if score.ref_len else 0.0,
    )


def exact_match(predictions: Sequence[str], references: Sequence[str]) -> float:
    """Computes the percentage of translations that equal the reference, both NFKC-normalised.

    Tokenizers normalise text, so no model writes a no-break space, an ellipsis of one character or
    a full-width digit.

    Args:
        predictions: Translations.
        references: One for each translation.

    Raises:
        ValueError: There is no sentence, or the numbers differ.
        TypeError: A prediction or a reference is not a string.
    """
    _check_pairs(predictions, references)
    written, known = (
        [unicodedata.normalize("NFKC", text) for text in texts]
        for texts in (predictions, references)
    )
    return 100.0 * sum(map(operator.eq, written, known)) / len(predictions)


def perplexity(total_nll: float, tokens: int) -> float:
    """Computes the perplexity of a corpus, `exp(total_nll / tokens)`.

    Args:
        total_nll: Negative log-likelihood of all tokens, in nats, summed.
        tokens: Number of real tokens, including sentence ends if they were predicted.

    Returns:
        1 or more; infinity if it overflows a float.

    Raises:
        ValueError: `tokens` is not positive, or `total_nll` is negative or not a number.
    """
    if tokens < 1:
        raise ValueError(f"tokens must be at least 1, got {tokens}")
    if not total_nll >= 0:
        raise ValueError(f"total_nll must be at least 0, got {total_nll}")
    try:
        return math.exp(total_nll / tokens)
    except OverflowError:
        return math.inf


def _metric(tokenize: str, lowercase: bool = False) -> BLEU:
    """Makes sacreBLEU's metric; raises ValueError or ModuleNotFoundError, see `bleu`."""
    if tokenize not in BLEU.TOKENIZERS:
        raise ValueError(f"tokenize must be one of {sorted(BLEU.TOKENIZERS)}, got {tokenize!r}")
    try:
        return BLEU(tokenize=tokenize, lowercase=lowercase)
    except RuntimeError as error:
        raise ModuleNotFoundError(
            f"the BLEU tokeniser {tokenize} needs packages that are missing: pip install .[mecab]"
        ) from error


def _order(metric: BLEU, references: Sequence[str]) -> int:
    """Chooses the length of the longest n-grams to count, 1 to 4."""
    longest = 1
    for reference in references:
        longest = max(longest, len(metric.tokenizer(reference).split()))
        if longest >= _ORDER:
            return _ORDER
    return longest


def _check_pairs(predictions: Sequence[str], references: Sequence[str]) -> None:
    """Raises ValueError or TypeError, see `bleu`."""
    for name, texts in (("predictions", predictions), ("references", references)):
        if isinstance(texts, str):
            raise TypeError(f"{name} must be a sequence of strings, got {texts!r}")
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"{name}[{row}] must be a string, got {text!r}")
    if len(predictions) != len(references):
        raise ValueError(
            f"predictions must be one for each of the {len(references)} references, "
            f"got {len(predictions)}"
        )
    if not len(predictions):
        raise ValueError("predictions must be at least one, got none")


def until_failure(prediction: Sequence[int], target: Sequence[int]) -> float:
    """Share of a target's tokens that are right before the first one that is not.

    "Average length to failure" of Grefenstette et al. 2015 (arXiv 1506.02516) and Kim et al. 2017
    (arXiv 1702.00887) is its mean. What a prediction has beyond the target does not count; an end
    that belongs to the target has to be predicted.

    Args:
        prediction: tokens.
        target: tokens that should have been predicted, at least one.

    Returns:
        From 0 to 1.

    Raises:
        ValueError: if the target is empty.
    """
    if not len(target):
        raise ValueError(f"target must have a token, got {target!r}")
    right = 0
    for one, other in zip(prediction, target, strict=False):
        if one != other:
            break
        right += 1
    return right / len(target)
