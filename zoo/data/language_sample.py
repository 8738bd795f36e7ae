"""Generated sample for language models: small, built in, the same on every machine.

Every line names a colour at its beginning and the same colour again at its end: ``the red lamp lay
near the boat ; nobody knew why it was red .`` All choices are equally likely, so the best
perplexity is known. Only a model that looks back at the beginning reaches it.
"""

import math

import numpy as np

SAMPLE_LINES = {"train": 4000, "valid": 300, "test": 300}
COLOURS = ("red", "blue", "green", "white", "black", "brown", "grey", "pink")
THINGS = ("lamp", "boat", "dog", "cart", "tree", "stone", "hat", "bell")

_SEED = 2016
_WORDS = 16  # of a line, its end included


def language_sample(split: str) -> list[list[str]]:
    """Generates one part.

    Args:
        split: ``"train"``, ``"valid"`` or ``"test"``.

    Returns:
        The words of every line.

    Raises:
        ValueError: there is no such split.
    """
    if split not in SAMPLE_LINES:
        raise ValueError(f"split must be one of {sorted(SAMPLE_LINES)}, got {split!r}")
    generator = np.random.default_rng([_SEED, list(SAMPLE_LINES).index(split)])
    return [_line(generator) for _ in range(SAMPLE_LINES[split])]


def best_perplexity() -> float:
    """Computes the perplexity, line ends included, of a model that knows the generator."""
    choices = math.log(len(COLOURS)) + 2 * math.log(len(THINGS))
    return math.exp(choices / _WORDS)


def _line(generator: np.random.Generator) -> list[str]:
    colour = generator.choice(COLOURS)
    thing, other = generator.choice(THINGS, 2)
    return f"the {colour} {thing} lay near the {other} ; nobody knew why it was {colour} .".split()
