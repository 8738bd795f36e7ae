"""Generated samples for classification: small, built in, the same on every machine.

A single text praises or blames something, more or less strongly, and a negation reverses its
meaning: ``the film is not very good``. In a pair, the premise says who does what where; the
hypothesis paraphrases it, denies it, or says something that the premise leaves open.
"""

import numpy as np
import pandas as pd

SAMPLE_ROWS = {"train": 3000, "dev": 300, "test": 300}

_SEED = 1906
_THINGS = ("film", "story", "cast", "music", "ending", "plot", "dialogue", "photography")
_FIRST = ("the", "its", "this", "all in all the", "once more the", "and the")
_WORDS = {
    2: ("great", "superb", "brilliant", "wonderful"),
    1: ("good", "nice", "pleasant", "decent"),
    0: ("long", "recent", "foreign", "usual"),
    -1: ("bad", "dull", "weak", "clumsy"),
    -2: ("awful", "terrible", "horrible", "dreadful"),
}
"""Words by strength of praise."""

_PEOPLE = ("man", "woman", "boy", "girl")
_ACTS = {"sleeps": "is asleep", "runs": "is running", "sings": "is singing", "eats": "is eating"}
_PLACES = ("in a park", "on a beach", "near a river", "at home", "in the street")
_MORE = ("with a friend", "for an hour", "after work", "for the first time")


def sentiment_sample(split: str, classes: int = 5) -> pd.DataFrame:
    """Generates one part of the single texts.

    Args:
        split: ``"train"``, ``"dev"`` or ``"test"``.
        classes: 5, from very negative to very positive, or 2: negative and positive.

    Returns:
        ``text`` and ``label``, as `zoo.data.sst.read_sst` gives them.

    Raises:
        ValueError: there is no such split, or `classes` is neither 5 nor 2.
    """
    if classes not in (5, 2):
        raise ValueError(f"classes must be one of [2, 5], got {classes!r}")
    generator = _generator(split, 0)
    rows: list[tuple[str, int]] = []
    while len(rows) < SAMPLE_ROWS[split]:
        text, strength = _opinion(generator)
        if classes == 5:
            rows.append((text, strength + 2))
        elif strength:
            rows.append((text, int(strength > 0)))
    return pd.DataFrame(rows, columns=["text", "label"])


def inference_sample(split: str) -> pd.DataFrame:
    """Generates one part of the pairs.

    Args:
        split: ``"train"``, ``"dev"`` or ``"test"``.

    Returns:
        ``premise``, ``hypothesis`` and ``label``, as `zoo.data.snli.read_snli` gives them.

    Raises:
        ValueError: there is no such split.
    """
    generator = _generator(split, 1)
    rows = [_pair(generator) for _ in range(SAMPLE_ROWS[split])]
    return pd.DataFrame(rows, columns=["premise", "hypothesis", "label"])


def _generator(split: str, kind: int) -> np.random.Generator:
    if split not in SAMPLE_ROWS:
        raise ValueError(f"split must be one of {sorted(SAMPLE_ROWS)}, got {split!r}")
    return np.random.default_rng([_SEED, kind, list(SAMPLE_ROWS).index(split)])


def _opinion(generator: np.random.Generator) -> tuple[str, int]:
    """Generates a sentence and its sentiment, -2 to 2."""
    strength = int(generator.integers(-2, 3))
    negated = bool(strength) and generator.random() < 0.4
    words = [
        str(generator.choice(_FIRST)),
        str(generator.choice(_THINGS)),
        "is not" if negated else "is",
        str(generator.choice(_WORDS[strength])),
    ]
    return " ".join([*words, "."]), -strength if negated else strength


def _pair(generator: np.random.Generator) -> tuple[str, str, int]:
    """Generates premise, hypothesis and label: 0 entailment, 1 neutral, 2 contradiction."""
    person, act = (str(generator.choice(list(words))) for words in (_PEOPLE, _ACTS))
    place, label = str(generator.choice(_PLACES)), int(generator.integers(3))
    if label == 2:
        hypothesis = f"nobody {_ACTS[act]} {place} ."
    elif label == 1:
        hypothesis = f"a {person} {_ACTS[act]} {generator.choice(_MORE)} ."
    else:
        hypothesis = f"a {person} {_ACTS[act]} {place if generator.random() < 0.5 else ''} ."
    return f"{place} a {person} {act} .", " ".join(hypothesis.split()), label
