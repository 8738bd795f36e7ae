"""SupportingFactsReader in NumPy: one question; every sequence of K sentences is weighed.

Kim, Denton, Hoang and Rush 2017 (arXiv 1702.00887), section 4.3. Nothing is computed recursively.
"""

import itertools

import numpy as np

from tests.references.stories import Weights, example_loss, named_weights, sentence, sentences
from tests.references.structured import distribution

__all__ = ["OPTIONS", "example_loss", "named_weights", "predict"]

OPTIONS = {
    "attention": ("binary", "unary"),
    "queries": ("linear", "memory"),
    "counting": ("once", "pairs", "edges"),
    "normalisation": ("sequences", "transitions"),
    "linear": (False, True),
    "shared_keys": (False, True),
    "hops": (2, 1, 3),
    "encoding": ("position", "bag"),
    "temporal": (True, False),
    "memory": (5, 2),
}
INTERACTING = (
    ("attention", "queries"),
    ("attention", "counting", "hops"),
    ("attention", "linear", "hops"),
    ("attention", "normalisation", "hops"),
    ("shared_keys", "hops"),
    ("encoding",),
    ("temporal", "memory"),
)


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    story, hops = inputs["story"], config["hops"]
    words = "keys_1" if config["shared_keys"] else ""
    keys = [sentences(weights, f"keys_{k + 1}", story, config, words)[0] for k in range(hops)]
    read = sentences(weights, "keys_1", story, config)[1]
    question = sentence(weights["keys_1/words"], inputs["question"], config["encoding"])
    queries = all_queries(weights, question, keys, read, config)
    facts = np.zeros((hops, len(story)))
    if config["linear"]:
        facts = linear_weights(keys, queries, read, config)
    elif read:
        chains = list(itertools.product(read, repeat=hops))
        if config["normalisation"] == "transitions":
            probabilities = [followed(z, keys, queries, read, config) for z in chains]
        else:
            scores = [potential(z, keys, queries, config) for z in chains]
            probabilities, _ = distribution(scores)
        for z, probability in zip(chains, probabilities, strict=True):
            for k in range(hops):
                facts[k, z[k]] += probability
    context = np.zeros(len(question))
    for k in range(hops):
        values, _ = sentences(weights, f"values_{k + 1}", story, config)
        context += facts[k] @ values
    logits = (context + queries[-1]) @ weights["output/kernel"]
    return {"logits": logits, "attention/facts": facts}


def all_queries(
    weights: Weights,
    question: np.ndarray,
    keys: list[np.ndarray],
    read: list[int],
    config: dict,
) -> list[np.ndarray]:
    """q^1 .. q^K."""
    queries = [question]
    for k in range(config["hops"] - 1):
        if config["queries"] == "linear":
            kernel, bias = weights[f"update_{k + 1}/kernel"], weights[f"update_{k + 1}/bias"]
            queries.append(queries[-1] @ kernel + bias)
        else:
            following = np.zeros(len(question))
            for i in read:
                following += (keys[k][i] @ queries[-1]) * keys[k + 1][i]
            queries.append(following)
    return queries


def potential(
    z: tuple[int, ...],
    keys: list[np.ndarray],
    queries: list[np.ndarray],
    config: dict,
) -> float:
    """Log potential of a sequence of sentences: the sum over its pairs, and over its ends."""
    hops = len(z)
    if hops == 1:
        return keys[0][z[0]] @ queries[0]

    def pair(k: int, i: int, j: int) -> float:
        """Potential of sentences i and j in hops k and k + 1, with what is counted there."""
        total = keys[k][i] @ keys[k + 1][j] if config["attention"] == "binary" else 0.0
        both = config["counting"] in ("pairs", "edges")
        if both or k == 0:  # else the pair before has counted it
            total += keys[k][i] @ queries[k]
        return total + keys[k + 1][j] @ queries[k + 1]

    total = 0.0
    for k in range(hops - 1):
        total += pair(k, z[k], z[k + 1])
    if config["counting"] == "edges":
        total += keys[0][z[0]] @ queries[0]
        total += keys[-1][z[-1]] @ queries[-1]
    return total


def followed(
    z: tuple[int, ...],
    keys: list[np.ndarray],
    queries: list[np.ndarray],
    read: list[int],
    config: dict,
) -> float:
    """Probability of a sequence of sentences, each of which chooses the next one."""
    probability = 1.0
    for k in range(len(z)):
        scores = []
        for j in read:
            scores.append(keys[k][j] @ queries[k])
            if k > 0 and config["attention"] == "binary":
                scores[-1] += keys[k - 1][z[k - 1]] @ keys[k][j]
        probability *= distribution(scores)[0][read.index(z[k])]
    return probability


def linear_weights(
    keys: list[np.ndarray], queries: list[np.ndarray], read: list[int], config: dict
) -> np.ndarray:
    """Weights of the linear start."""
    hops = len(keys)
    weights = np.zeros((hops, len(keys[0])))
    for k in range(hops):
        for j in read:
            weights[k, j] = keys[k][j] @ queries[k]
            if k > 0 and config["attention"] == "binary":
                for i in read:
                    weights[k, j] += weights[k - 1, i] * (keys[k - 1][i] @ keys[k][j])
    return weights
