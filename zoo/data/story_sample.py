"""Generated stories with two supporting facts: small, built in, the same on every machine.

People go to places and take things along. Where a thing is follows from who took it and where that
person went last.
"""

import numpy as np
import pandas as pd

from zoo.data.babi import COLUMNS

SAMPLE_STORIES = {"train": 1000, "dev": 150, "test": 300}

_SEED = 1502
_PEOPLE = ("Ada", "Ben", "Cleo")
_THINGS = ("lamp", "letter", "coin")
_PLACES = ("attic", "cellar", "garden", "library")
_GOES = ("went to", "walked to", "ran to")
_TAKES = ("took", "picked up")


def story_sample(split: str) -> pd.DataFrame:
    """Generates one part.

    Args:
        split: ``"train"``, ``"dev"`` or ``"test"``.

    Returns:
        A question for each story, as `zoo.data.babi.parse` gives them.

    Raises:
        ValueError: there is no such split.
    """
    if split not in SAMPLE_STORIES:
        raise ValueError(f"split must be one of {list(SAMPLE_STORIES)}, got {split!r}")
    generator = np.random.default_rng([_SEED, list(SAMPLE_STORIES).index(split)])
    rows = [(*_story(generator), number) for number in range(SAMPLE_STORIES[split])]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _story(generator: np.random.Generator) -> tuple[tuple[str, ...], str, str, tuple[int, int]]:
    """Story, question, answer and facts."""
    holder = {thing: int(who) for thing, who in enumerate(generator.permutation(len(_PEOPLE)))}
    sentences: list[str] = []
    takes: dict[int, int] = {}
    moves: dict[int, tuple[int, str]] = {}
    acts = [("go", p) for p in range(len(_PEOPLE))] + [("take", t) for t in holder]
    acts += [("go", int(generator.integers(len(_PEOPLE)))) for _ in range(2)]
    for kind, which in (acts[i] for i in generator.permutation(len(acts))):
        if kind == "go":
            place = _PLACES[generator.integers(len(_PLACES))]
            moves[which] = (len(sentences), place)
            sentences.append(f"{_PEOPLE[which]} {generator.choice(_GOES)} the {place}.")
        else:
            takes[which] = len(sentences)
            who = _PEOPLE[holder[which]]
            sentences.append(f"{who} {generator.choice(_TAKES)} the {_THINGS[which]}.")
    asked = int(generator.integers(len(_THINGS)))
    at, place = moves[holder[asked]]
    return tuple(sentences), f"Where is the {_THINGS[asked]}?", place, (takes[asked], at)
