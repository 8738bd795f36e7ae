"""Exact match and F1 of SQuAD 1.1, equal to the official evaluation script's.

Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text", EMNLP 2016,
section 6.1. Both scores compare normalised strings and take, for each question, the maximum over
its gold answers; the corpus score is the mean over all questions, in percent.
"""

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize_answer(text: str) -> str:
    """Lower-cases, removes ASCII punctuation and English articles, and normalises spaces.

    As in the official script, removed punctuation leaves no gap ("U.S." becomes "us"), and removed
    articles leave one. Other punctuation, such as typographic quotes, stays.
    """
    without_punctuation = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", without_punctuation).split())


def exact_match(prediction: str, golds: Sequence[str]) -> float:
    """Returns 1.0 if the prediction equals a gold answer after normalisation, else 0.0.

    Raises:
        ValueError: There is no gold answer.
        TypeError: The prediction is not a string.
    """
    return _scores(prediction, golds)[0]


def f1(prediction: str, golds: Sequence[str]) -> float:
    """Computes the best F1, 0 to 1, between bags of words of prediction and gold answers.

    An empty bag on either side scores 0, even against an empty gold answer.

    Raises:
        ValueError: There is no gold answer.
        TypeError: The prediction is not a string.
    """
    return _scores(prediction, golds)[1]


def evaluate_squad(predictions: Mapping[str, str], frame: pd.DataFrame) -> dict[str, float]:
    """Scores predictions against a data set.

    Args:
        predictions: Answers by question id. A question without an answer scores 0; ids that are not
            in the frame are ignored.
        frame: One row per question with `id` (string) and `answers` (list of strings), as
            `zoo.data.squad.read_squad` returns it.

    Returns:
        `exact_match` and `f1` in percent, over all rows of the frame.

    Raises:
        ValueError: The frame has no rows, an id is not a string, or a question has no gold answer.
        TypeError: A prediction is not a string.
    """
    if frame.empty:
        raise ValueError("frame must hold at least one question, got none")
    matches = overlaps = 0.0
    for identifier, golds in zip(frame["id"], frame["answers"], strict=True):
        if not isinstance(identifier, str):
            raise ValueError(f"frame must have ids that are strings, got {identifier!r}")
        if identifier in predictions:
            match, overlap = _scores(predictions[identifier], golds)
            matches += match
            overlaps += overlap
    return {"exact_match": 100.0 * matches / len(frame), "f1": 100.0 * overlaps / len(frame)}


def _scores(prediction: str, golds: Sequence[str]) -> tuple[float, float]:
    """Computes exact match and F1 of one question, each the maximum over the gold answers."""
    if not isinstance(prediction, str):
        raise TypeError(f"prediction must be a string, got {prediction!r}")
    if isinstance(golds, str) or not len(golds):  # an array has no truth value
        raise ValueError(f"golds must be a list of at least one answer, got {golds!r}")
    predicted = normalize_answer(prediction)
    # Gold answers mostly agree, so score each distinct one once.
    references = {normalize_answer(gold) for gold in golds}
    match = float(predicted in references)
    return match, max(_bag_f1(predicted, reference) for reference in references)


def _bag_f1(predicted: str, reference: str) -> float:
    """Computes the harmonic mean of word precision and recall of normalised strings."""
    predicted_words, reference_words = predicted.split(), reference.split()
    common = (Counter(predicted_words) & Counter(reference_words)).total()
    if common == 0:
        return 0.0
    precision = common / len(predicted_words)
    recall = common / len(reference_words)
    return 2 * precision * recall / (precision + recall)
