"""Generated sample for reading comprehension: small, built in, the same on every machine.

Each paragraph tells of a few events that involve many people, towns, years and things; each
question names one of them and asks for another. Contexts have about 60 tokens, answers one to
three. No word of a test entity occurs in training. A reader can still answer, because
`sample_vectors` stands in for pretrained vectors: it covers all words, and words of one kind are
similar. So a reader has to learn to match words and to understand the questions; remembering names
does not help.
"""

import re
from typing import NamedTuple

import numpy as np
import pandas as pd

from zoo.data.sample_language import ENTITY_WORDS, FRAMES, Frame, entity_words, templates

SAMPLE_QUESTIONS = {"train": 16_000, "test": 400}
VECTOR_DIM = 40

_SEEDS = {"train": 1947, "test": 1989}
_VECTORS_SEED = 2016
_SENTENCES = (4, 5)
_QUESTIONS_PER_PARAGRAPH = 3
_MEAN_NORM = 8.0


class _Event(NamedTuple):
    """One sentence of a paragraph."""

    frame: Frame
    fillers: dict[str, str]
    sentence: str


def reading_sample(split: str, questions: int | None = None) -> pd.DataFrame:
    """Generates one part of the sample.

    Args:
        split: "train" or "test".
        questions: How many; by default `SAMPLE_QUESTIONS[split]`. Fewer are a prefix of more.

    Returns:
        A frame as `zoo.data.squad.read_squad` returns it, with ids such as "sample-train-00001".
        Each question has one answer, which occurs exactly once in its context.

    Raises:
        ValueError: There is no such split, or the number of questions is not positive.
    """
    if split not in SAMPLE_QUESTIONS:
        raise ValueError(f"split must be one of {sorted(SAMPLE_QUESTIONS)}, got {split!r}")
    wanted = SAMPLE_QUESTIONS[split] if questions is None else questions
    if wanted < 1:
        raise ValueError(f"questions must be at least 1, got {wanted}")
    generator = np.random.default_rng(_SEEDS[split])
    words = entity_words(split)
    rows: list[dict[str, object]] = []
    story = 0
    while len(rows) < wanted:
        story += 1
        events = _events(generator, words)
        context = " ".join(event.sentence for event in events)
        for question, answer in _questions(generator, events, context):
            rows.append(
                {
                    "id": f"sample-{split}-{len(rows) + 1:05d}",
                    "title": f"Story {story}",
                    "context": context,
                    "question": question,
                    "answers": [answer],
                    "answer_starts": [context.index(answer)],
                }
            )
    frame = pd.DataFrame(rows[:wanted])
    frame.attrs["wrong_answer_starts"] = 0
    return frame


def sample_vectors() -> tuple[list[str], np.ndarray]:
    """Makes vectors for all words of the sample, in place of pretrained ones.

    The vector of an entity word is the sum of a direction shared by its kind and one of its own.
    Any other word has a direction of its own.

    Returns:
        The words (folded: lower case; punctuation marks are words) and a float32 matrix
        (words, VECTOR_DIM), row i for word i.
    """
    kinds: dict[str, str] = {}
    for template in templates():
        text = re.sub(r"{\w+}", " ", template).lower()
        kinds.update({word: word for word in re.findall(r"\w+|[^\w\s]", text)})
    for split in SAMPLE_QUESTIONS:
        for kind, words in entity_words(split).items():
            kinds.update({word.lower(): f"<{kind}>" for word in words})
    words = sorted(kinds)
    groups = sorted(set(kinds.values()))
    generator = np.random.default_rng(_VECTORS_SEED)
    shared = generator.standard_normal((len(groups), VECTOR_DIM))
    own = generator.standard_normal((len(words), VECTOR_DIM))
    matrix = shared[[groups.index(kinds[word]) for word in words]] + own
    matrix *= _MEAN_NORM / np.linalg.norm(matrix, axis=1).mean()
    return words, matrix.astype(np.float32)


def _events(generator: np.random.Generator, words: dict[str, list[str]]) -> list[_Event]:
    """Generates the events of one paragraph; no entity word occurs in two of them."""
    number = _SENTENCES[generator.integers(len(_SENTENCES))]
    pools = {kind: iter(generator.permutation(pool).tolist()) for kind, pool in words.items()}
    events = []
    for _ in range(number):
        frame = FRAMES[generator.integers(len(FRAMES))]
        fillers = {}
        for slot, kind in frame.slots.items():
            ways = ENTITY_WORDS[kind]
            way = ways[generator.integers(len(ways))]
            fillers[slot] = " ".join(next(pools[part]) for part in way)
        template = frame.sentences[generator.integers(len(frame.sentences))]
        events.append(_Event(frame, fillers, template.format(**fillers)))
    return events


def _questions(
    generator: np.random.Generator, events: list[_Event], context: str
) -> list[tuple[str, str]]:
    """Generates a few questions on a paragraph, with answers; no two ask for the same."""
    asked: dict[str, str] = {}
    for _ in range(_QUESTIONS_PER_PARAGRAPH):
        event = events[generator.integers(len(events))]
        choices = event.frame.questions
        slot, template = choices[generator.integers(len(choices))]
        answer = event.fillers[slot]
        # A short name may be a prefix of a longer one, which would make its place ambiguous.
        if answer not in asked and context.count(answer) == 1:
            asked[answer] = template.format(**event.fillers)
    return [(question, answer) for answer, question in asked.items()]
