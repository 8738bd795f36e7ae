"""Sentences as vectors, in NumPy: one story, loops over sentences, words and units.

Sukhbaatar et al. 2015 (arXiv 1503.08895), section 4.1.
"""

from collections.abc import Mapping

import numpy as np

from tests.references.recurrent import log_softmax

Weights = Mapping[str, np.ndarray]


def sentence(table: np.ndarray, ids: np.ndarray, encoding: str) -> np.ndarray:
    """Sum of the vectors of a sentence's words, by position or not."""
    words = [word for word in ids if word != 0]
    size = table.shape[1]
    total = np.zeros(size)
    for j, word in enumerate(words, start=1):
        for k in range(1, size + 1):
            place, unit = j / len(words), k / size
            share = (1 - place) - unit * (1 - 2 * place) if encoding == "position" else 1.0
            total[k - 1] += share * table[word, k - 1]
    return total


def sentences(
    weights: Weights,
    name: str,
    story: np.ndarray,
    config: Mapping[str, object],
    words: str = "",
) -> tuple[np.ndarray, list[int]]:
    """Vectors (S, d) of a story's sentences in one memory, and places of those that are read.

    The table of words may be that of another memory.
    """
    table, ages = weights[f"{words or name}/words"], weights.get(f"{name}/ages")
    vectors, read = np.zeros((len(story), table.shape[1])), []
    for i, ids in enumerate(story):
        age = len(story) - 1 - i
        if age < config["memory"]:
            vectors[i] = sentence(table, ids, config["encoding"])
            if ages is not None:
                vectors[i] += ages[age]
            read.append(i)
    return vectors, read


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path, without the layers of tables in the middle."""
    return {path.replace("/words/table", "/words"): value for path, value in values.items()}


def example_loss(
    weights: Weights, outputs: dict[str, np.ndarray], targets: np.ndarray, config: dict
) -> float:
    """Cross entropy of the answer."""
    return float(-log_softmax(outputs["logits"])[targets])
