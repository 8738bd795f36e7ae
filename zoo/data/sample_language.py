"""Toy language of the generated reading sample: its words and its stories.

A frame is one kind of event. It has slots for entities, several sentences that tell it, and
questions that mention one slot and ask for another, in words other than the sentences'. A reader
finds the sentence by the entity, and the answer by the meaning of the question.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

_WORDS_SEED = 1901


class Frame(NamedTuple):
    """One kind of event."""

    slots: dict[str, str]
    """Kind of entity, a key of `ENTITY_WORDS`, by slot."""
    sentences: tuple[str, ...]
    """Sentences; each has every slot, in braces, exactly once."""
    questions: tuple[tuple[str, str], ...]
    """Slot asked for, and a question with one other slot in braces."""


FRAMES = (
    Frame(
        {"person": "person", "old": "place", "new": "place", "year": "year"},
        (
            "{person} moved from {old} to {new} in {year}.",
            "In {year}, {person} left {old} and settled in {new}.",
            "{new} has been the home of {person}, once of {old}, since {year}.",
        ),
        (
            ("new", "Where does {person} live now?"),
            ("new", "Which town did {person} choose?"),
            ("old", "Where did {person} live before?"),
            ("old", "Which town did {person} come from?"),
            ("year", "When did {person} go to another town?"),
            ("person", "Who used to live in {old}?"),
            ("person", "Who is a new resident of {new}?"),
        ),
    ),
    Frame(
        {"person": "person", "job": "job", "place": "place"},
        (
            "{person} works as the only {job} in {place}.",
            "The people of {place} know {person} as a good {job}.",
            "For a trained {job} such as {person}, {place} pays well.",
        ),
        (
            ("job", "What is the profession of {person}?"),
            ("job", "What does {person} do for a living?"),
            ("place", "In which town is {person} employed?"),
            ("place", "Where can you hire the {job}?"),
            ("person", "Who is the {job}?"),
            ("person", "Who earns money in {place}?"),
        ),
    ),
    Frame(
        {"person": "person", "animal": "animal", "pet": "pet"},
        (
            "{person} has a tame {animal} called {pet}.",
            "{pet}, the {animal}, sleeps in the kitchen of {person}.",
            "Each morning {person} feeds {pet}, a very old {animal}.",
        ),
        (
            ("pet", "What is the name of the pet of {person}?"),
            ("pet", "How does one call the {animal}?"),
            ("animal", "Which animal does {person} keep?"),
            ("animal", "What kind of animal is {pet}?"),
            ("person", "Who is the owner of {pet}?"),
            ("person", "To whom does the {animal} belong?"),
        ),
    ),
    Frame(
        {"person": "person", "thing": "thing", "place": "place", "year": "year"},
        (
            "In {year}, {person} found a {thing} under a wall in {place}.",
            "The {thing} from {place} was discovered by {person} in {year}.",
        ),
        (
            ("thing", "What did {person} dig up?"),
            ("thing", "What lay in the ground of {place}?"),
            ("place", "Where had the {thing} been hidden?"),
            ("year", "When did the {thing} come to light?"),
            ("year", "In which year was {person} lucky?"),
            ("person", "Who came across the {thing}?"),
        ),
    ),
    Frame(
        {"pupil": "person", "teacher": "person", "place": "place"},
        (
            "{pupil} learned to paint from {teacher} in {place}.",
            "In {place}, {teacher} gave lessons to young {pupil}.",
        ),
        (
            ("teacher", "Who was the teacher of {pupil}?"),
            ("teacher", "Who taught {pupil}?"),
            ("pupil", "Who was the pupil of {teacher}?"),
            ("pupil", "Who studied with {teacher}?"),
            ("place", "In which town did {pupil} study?"),
        ),
    ),
    Frame(
        {"giver": "person", "thing": "thing", "friend": "person"},
        (
            "{giver} sent a {thing} to {friend} as a wedding gift.",
            "{friend} received a {thing} from {giver}, an old friend.",
            "The {thing} of {friend} was a present from {giver}.",
        ),
        (
            ("friend", "Who was given something by {giver}?"),
            ("friend", "Who has the {thing} now?"),
            ("giver", "Who was kind to {friend}?"),
            ("giver", "Who gave the {thing} away?"),
            ("thing", "What did {giver} give away?"),
            ("thing", "What did {friend} get?"),
        ),
    ),
    Frame(
        {"person": "person", "place": "place", "year": "year"},
        (
            "The bridge of {place} was built by {person} in {year}.",
            "In {year}, {person} finished the new bridge of {place}.",
        ),
        (
            ("person", "Which engineer worked for {place}?"),
            ("place", "Which town has a bridge by {person}?"),
            ("year", "When could one first cross the river at {place}?"),
            ("year", "In which year did {person} complete a bridge?"),
        ),
    ),
)

ENTITY_WORDS = {
    "person": (("first", "last"), ("first", "last"), ("first", "last"), ("first", "first", "last")),
    "place": (("place",), ("place",), ("place", "place")),
    "thing": (("material", "object"),),
    "year": (("year",),),
    "job": (("job",),),
    "animal": (("animal",),),
    "pet": (("pet",),),
}
"""Kinds of words that make up each kind of entity; alternatives are equally likely."""

_NAME_STARTS = (
    "Bal Ber Bor Cal Cor Dal Del Dor Fal Fer Gal Gor Hal Hel Jan Jor Kal Kor Lam Lor "
    "Mal Mer Nal Nor Pal Per Ral Rin Sel Sor Tal Tor Ul Val Vel Vor Wal Wen Yor Zel"
)
_NAME_ENDS = {
    "first": "ano da eth ia ima mo nel olo sa una vin wig",
    "last": "berg dahl der enko lund man mer nack ridge sen wick wood",
    "place": "burg by dorf field ford gate ham mouth stead ton ville worth",
    "pet": "bo gy kin ky lie pu tsy xy",
}
_INVENTED = {"first": (320, 80), "last": (320, 80), "place": (360, 90), "pet": (120, 30)}
"""Numbers of words of each invented kind for training and test."""

_EVERYDAY = {
    "job": (
        "actor baker barber brewer builder butcher carpenter clerk cook cooper dancer dentist "
        "doctor driver farmer fisher gardener glazier hunter jeweller judge lawyer mason miller",
        "nurse plumber porter potter printer sailor smith tailor",
    ),
    "animal": (
        "badger bear beaver buzzard camel cat cow crow dog donkey duck falcon fox frog goat goose "
        "hamster hare hen heron horse lamb lizard monkey",
        "mouse owl parrot pig pony rabbit raven squirrel",
    ),
    "material": (
        "amber birch brass bronze canvas clay copper cotton crystal ebony felt flint glass gold "
        "granite iron ivory jade lead leather linen maple marble nickel",
        "oak pearl pine silk silver steel tin walnut",
    ),
    "object": (
        "basket bell belt bottle bowl box brush button candle chain chair clock coin comb cup "
        "dagger doll drum flute hammer helmet key knife ladder",
        "lamp mask mirror needle plate ring spoon vase",
    ),
}


def entity_words(split: str) -> dict[str, list[str]]:
    """Returns the entity words of a split, by kind of word.

    No word belongs to two kinds or to both splits. All are ASCII letters or digits.

    Args:
        split: "train" or "test".
    """
    part = ("train", "test").index(split)
    # One generator for both splits: cutting one shuffled list keeps them disjoint.
    generator = np.random.default_rng(_WORDS_SEED)
    words = {}
    for kind, sizes in _INVENTED.items():
        names = list(map("".join, product(_NAME_STARTS.split(), _NAME_ENDS[kind].split())))
        order = generator.permutation(len(names))[: sum(sizes)]
        chosen = [names[i] for i in order]
        words[kind] = (chosen[: sizes[0]], chosen[sizes[0] :])[part]
    years = generator.permutation(np.arange(1700, 1960))
    words["year"] = [str(year) for year in (years[:200], years[200:])[part]]
    words.update({kind: lists[part].split() for kind, lists in _EVERYDAY.items()})
    return words


def templates() -> Iterator[str]:
    """Yields all sentences and questions of all frames, with their slots in braces."""
    for frame in FRAMES:
        yield from frame.sentences
        for _, question in frame.questions:
            yield question
