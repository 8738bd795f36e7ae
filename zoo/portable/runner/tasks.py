"""The function that answers, for every task."""

from collections.abc import Callable
from typing import Any, NamedTuple

from . import answers, values, writing


class Task(NamedTuple):
    """A task of models."""

    answer: Callable[..., dict[str, Any]]
    """Takes the model and its inputs by name."""
    reads_texts: bool = True
    """Whether every input is a text or ids, which are read beforehand."""


TASKS = {
    "algorithms": Task(values.run_algorithm, reads_texts=False),
    "captioning": Task(writing.caption, reads_texts=False),
    "classification": Task(answers.classify),
    "cloze": Task(answers.choose),
    "images": Task(values.classify_picture, reads_texts=False),
    "inference": Task(answers.classify),
    "language_model": Task(answers.predict_words),
    "reading": Task(answers.read),
    "stories": Task(values.answer_story, reads_texts=False),
    "symbols": Task(values.rewrite_symbols, reads_texts=False),
    "tabular": Task(values.read_row, reads_texts=False),
    "translation": Task(writing.translate),
}
