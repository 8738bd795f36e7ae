"""Generated sample of cloze questions: small, built in, the same on every machine.

A document tells who has which thing, and who met whom. The query restates one of the possessions in
other words, with the person or the thing blanked out. A reader has to find the sentence by the
remaining name and then the missing word in it. All parts share people and things, but not who has
what.
"""

import numpy as np
import pandas as pd

from zoo.data.cloze_format import PLACEHOLDER, Question, questions_frame

SAMPLE_QUESTIONS = {"train": 12_000, "valid": 300, "test": 400}

_PEOPLE = "Ada Boris Clara David Emma Felix Greta Henry Ida Jonas Karla Leo"
_THINGS = "anchor basket candle drum engine fiddle garden hammer island jacket kettle lantern"
PEOPLE, THINGS = tuple(_PEOPLE.split()), tuple(_THINGS.split())

_SEEDS = {"train": 2016, "valid": 2017, "test": 2018}
_FACTS = 4
_TELLING = (
    "{person} bought the {thing} last year .",
    "The {thing} was given to {person} .",
    "Everyone knows that {person} has the {thing} .",
    "The {thing} stands before the house of {person} .",
)
_MEETING = ("{one} met {other} at the market .", "Near the river {one} waited for {other} .")
_ASKING = (
    "It is {person} who owns the {thing} .",
    "The {thing} belongs to {person} .",
    "Ask {person} for the {thing} .",
)


def cloze_sample(split: str, questions: int | None = None) -> pd.DataFrame:
    """Generates one part of the sample.

    Args:
        split: "train", "valid" or "test".
        questions: How many; by default `SAMPLE_QUESTIONS[split]`. Fewer are a prefix of more.

    Returns:
        A frame as `zoo.data.cloze_format.read_cbt` returns it, with four candidates per question:
        the people or the things of the document.

    Raises:
        ValueError: There is no such split, or the number of questions is not positive.
    """
    if split not in SAMPLE_QUESTIONS:
        raise ValueError(f"split must be one of {sorted(SAMPLE_QUESTIONS)}, got {split!r}")
    wanted = SAMPLE_QUESTIONS[split] if questions is None else questions
    if wanted < 1:
        raise ValueError(f"questions must be at least 1, got {wanted}")
    generator = np.random.default_rng(_SEEDS[split])
    return questions_frame(_question(generator) for _ in range(wanted))


def _question(generator: np.random.Generator) -> Question:
    """Generates one document and its question."""
    people = generator.choice(PEOPLE, _FACTS, replace=False).tolist()
    things = generator.choice(THINGS, _FACTS, replace=False).tolist()
    sentences = [
        _pick(generator, _TELLING).format(person=person, thing=thing)
        for person, thing in zip(people, things, strict=True)
    ]
    one, other = generator.choice(people, 2, replace=False).tolist()
    sentences.append(_pick(generator, _MEETING).format(one=one, other=other))
    fact = int(generator.integers(_FACTS))
    of_person = bool(generator.integers(2))
    words = {"person": people[fact], "thing": things[fact]}
    asked = "person" if of_person else "thing"
    query = _pick(generator, _ASKING).format(**words | {asked: PLACEHOLDER})
    return Question(
        document="\n".join(generator.permutation(sentences).tolist()),
        query=query,
        answer=words[asked],
        candidates=generator.permutation(people if of_person else things).tolist(),
    )


def _pick(generator: np.random.Generator, choices: tuple[str, ...]) -> str:
    return choices[generator.integers(len(choices))]
