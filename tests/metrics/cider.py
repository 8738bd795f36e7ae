"""CIDEr-D after the formulas of the paper, with nothing but Python's numbers.

Vedantam, Zitnick, Parikh: CIDEr: Consensus-based Image Description Evaluation. CVPR 2015, arXiv
1411.5726. Equation 1 is the weight of an n-gram, equation 3 the mean over n, and the formula of
CIDEr-D the clipped cosine with the Gaussian of the lengths, times 10.

The division by the number of n-grams in equation 1 is left out, as in the official script: it
cancels in the cosine of equation 2, but not where counts are clipped.
"""

import math
from collections.abc import Sequence

SIGMA = 6.0
ORDERS = (1, 2, 3, 4)

Corpus = Sequence[Sequence[str]]


def occurrences(gram: str, sentence: str) -> int:
    """h_k(s): how often an n-gram, its words joined by spaces, occurs in a sentence."""
    words, wanted = sentence.split(), gram.split()
    starts = range(len(words) - len(wanted) + 1)
    return sum(words[start : start + len(wanted)] == wanted for start in starts)


def n_grams(order: int, *sentences: str) -> list[str]:
    """All different n-grams of sentences, in alphabetical order."""
    found = set()
    for sentence in sentences:
        words = sentence.split()
        found |= {" ".join(words[i : i + order]) for i in range(len(words) - order + 1)}
    return sorted(found)


def weight(gram: str, sentence: str, corpus: Corpus) -> float:
    """g_k(s): occurrences times the logarithm of the share of pictures, inverted."""
    pictures = sum(min(1, sum(occurrences(gram, one) for one in several)) for several in corpus)
    return occurrences(gram, sentence) * math.log(len(corpus) / max(1, pictures))


def similarity(order: int, candidate: str, reference: str, corpus: Corpus) -> float:
    """The clipped cosine of one candidate and one reference, times the Gaussian of the lengths."""
    grams = n_grams(order, candidate, reference)
    own = [weight(gram, candidate, corpus) for gram in grams]
    other = [weight(gram, reference, corpus) for gram in grams]
    norms = math.sqrt(sum(g * g for g in own)) * math.sqrt(sum(g * g for g in other))
    product = sum(min(c, s) * s for c, s in zip(own, other, strict=True))
    distance = len(candidate.split()) - len(reference.split())
    gaussian = math.exp(-(distance**2) / (2 * SIGMA**2))
    return gaussian * product / norms if norms else 0.0


def cider_d(candidates: Sequence[str], corpus: Corpus) -> float:
    """The mean over the pictures of CIDEr-D."""
    scores = []
    for candidate, references in zip(candidates, corpus, strict=True):
        of_orders = [
            10 / len(references) * sum(similarity(n, candidate, s, corpus) for s in references)
            for n in ORDERS
        ]
        scores.append(sum(of_orders) / len(ORDERS))
    return sum(scores) / len(scores)
