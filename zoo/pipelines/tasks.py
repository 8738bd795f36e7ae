"""Calls of the models of each task: inputs, options, and the result of an example."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from zoo.pipelines.questions import IMAGE
from zoo.pipelines.values import (
    Example,
    make_answer,
    make_bits,
    make_caption,
    make_filled_blank,
    make_label,
    make_next_words,
    make_row,
    make_story_answer,
    make_symbols,
    make_translation,
)
from zoo.serving.servable import DEFAULT_SIGNATURE


class Task(NamedTuple):
    """Calls of the models of a task."""

    inputs: tuple[str, ...]
    """Names of the inputs, in the order of positional arguments."""
    make: Callable[[Example], Any]
    """Makes the result of an example."""
    options: Mapping[str, str] = {}
    """Option -> the signature that takes it."""
    classes: bool = False
    """Whether the names of classes are needed."""
    signature: str = DEFAULT_SIGNATURE
    """The signature that answers without options."""


_SEARCH = {"beam_width": "beam", "length_penalty": "beam", "n_best": "beam", "heads": "heads"}
_NUMBERS = ("new_tokens", "temperature", "top_k", "top_p", "seed", "forbid_unknown")
_WRITING = dict.fromkeys(_NUMBERS, "generate")
_CAPTION = {"beam_width": "beam", "length_penalty": "beam", "n_best": "beam"}
TASKS: dict[str, Task] = {
    "algorithms": Task(("vectors",), make_bits),
    "captioning": Task(IMAGE, make_caption, _CAPTION),
    "classification": Task(("text",), make_label, classes=True),
    "cloze": Task(("document", "query"), make_filled_blank, {"candidates": "ranked"}),
    "images": Task(IMAGE, make_label, classes=True, signature="encoded"),
    "inference": Task(("premise", "hypothesis"), make_label, classes=True),
    "language_model": Task(("text",), make_next_words, _WRITING),
    "reading": Task(("question", "context"), make_answer),
    "stories": Task(("question", "story"), make_story_answer, classes=True),
    "symbols": Task(("symbols",), make_symbols),
    "tabular": Task((), make_row),
    "translation": Task(("text",), make_translation, _SEARCH),
}
"""Task, as cards name it -> its calls."""
