"""A generated sample for language models: small, built in, the same on every machine.

Every line names two things and their colours, and then the colour of one of them again:
``the red lamp and the blue boat met : the boat was blue .`` All choices are equally likely, so that
the best perplexity is known; it is reached only by a model that looks back at what was said.
"""

import math

import numpy as np

SAMPLE_LINES = {"train": 4000, "valid": 300, "test": 300}
COLOURS = ("red", "blue", "green", "white", "black", "brown", "grey", "pink")
THINGS = ("lamp", "boat", "dog", "cart", "tree", "stone", "hat", "bell")

_SEED = 2016
_WORDS = 15  # of a line, its end included


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
        raise ValueError(f"split: expected one of {sorted(SAMPLE_LINES)}, got {split!r}")
    generator = np.random.default_rng([_SEED, list(SAMPLE_LINES).index(split)])
    return [_line(generator) for _ in range(SAMPLE_LINES[split])]


def best_perplexity() -> float:
    """The perplexity, ends of lines included, of a model that knows how lines are made."""
    things = math.log(len(THINGS)) + math.log(len(THINGS) - 1)
    choices = 2 * math.log(len(COLOURS)) + things + math.log(2)
    return math.exp(choices / _WORDS)


def _line(generator: np.random.Generator) -> list[str]:
    colours = generator.choice(COLOURS, 2)
    things = generator.choice(THINGS, 2, replace=False)
    chosen = int(generator.integers(2))
    text = (
        f"the {colours[0]} {things[0]} and the {colours[1]} {things[1]} met : "
        f"the {things[chosen]} was {colours[chosen]} ."
    )
    return text.split()
