"""A shipped model as a function of strings."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from zoo.pipelines.questions import Questions, encode, read_questions
from zoo.pipelines.values import (
    Example,
    make_answer,
    make_filled_blank,
    make_label,
    make_next_words,
    make_translation,
    split_rows,
)
from zoo.serving.cards import read_card
from zoo.serving.codecs import load_labels
from zoo.serving.load import resolve
from zoo.serving.servable import DEFAULT_SIGNATURE, Servable


class _Task(NamedTuple):
    """Calls of the models of a task."""

    inputs: tuple[str, ...]
    """Names of the texts, in the order of positional arguments."""
    make: Callable[[Example], Any]
    """Makes the result of an example."""
    options: Mapping[str, str] = {}
    """Option -> the signature that takes it."""
    classes: bool = False
    """Whether the names of classes are needed."""


_SEARCH = {"beam_width": "beam", "length_penalty": "beam", "n_best": "beam", "heads": "heads"}
TASKS: dict[str, _Task] = {
    "classification": _Task(("text",), make_label, classes=True),
    "cloze": _Task(("document", "query"), make_filled_blank, {"candidates": "ranked"}),
    "inference": _Task(("premise", "hypothesis"), make_label, classes=True),
    "language_model": _Task(("text",), make_next_words),
    "reading": _Task(("question", "context"), make_answer),
    "translation": _Task(("text",), make_translation, _SEARCH),
}
"""Task, as cards name it -> its calls."""


class Pipeline:
    """Strings in, plain values out, as `zoo.pipeline` makes it.

    Attributes:
        name: Name of the model.
        card: Its model card.
        task: Its task, such as "reading".
        servable: Answers for it.
    """

    def __init__(self, name_or_path: str | Path) -> None:
        """Loads a model, without Keras.

        Args:
            name_or_path: As in `zoo.serving.load.resolve`.

        Raises:
            ValueError: No such model, one without a card, or one of another task.
        """
        self.folder = resolve(name_or_path)
        self.name = self.folder.name
        self.card = read_card(self.folder)
        self.task = self.card.task
        if self.task not in TASKS:
            raise ValueError(
                f"{self.folder}: a pipeline knows the tasks {', '.join(TASKS)}, got {self.task!r};"
                " zoo.load_servable asks any model"
            )
        self._task = TASKS[self.task]
        self._labels = load_labels(self.folder) if self._task.classes else ()
        self.servable = Servable(self.folder)

    def __call__(self, *texts: Any, batch_size: int = 32, **arguments: Any) -> Any:
        """Answers.

        Args:
            *texts: The inputs of the task in order, each a string or a list of strings: `text`;
                `question`, `context`; `document`, `query`; `premise`, `hypothesis`. A string beside
                lists goes with every entry.
            batch_size: Examples that are asked at a time.
            **arguments: Inputs by name, and options: of translators `beam_width`, `length_penalty`,
                `n_best` and, for the maps of all heads, `heads=True`; of cloze readers
                `candidates`.

        Returns:
            A result, or a list of results for lists; see `zoo.pipelines.results`. With `n_best` a
            list of translations takes the place of each result.

        Raises:
            ValueError: Inputs or options that the model does not take.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, got {batch_size}")
        options = {key: arguments.pop(key) for key in sorted(arguments.keys() & _OPTIONS)}
        given = {key: value for key, value in options.items() if value is not None}
        if given.get("heads") is False:
            del given["heads"]
        signature = self._signature(given)
        candidates = given.pop("candidates", None)
        questions = read_questions(self.name, self._task.inputs, texts, arguments, candidates)
        n_best = given.pop("n_best", None)
        scalars = self._search(given, n_best) if signature == "beam" else {}
        found = list(self._results(questions, signature, scalars, batch_size))
        if signature == "beam":
            found = [one[:n_best] if n_best else one[0] for one in found]
        return found[0] if questions.single else found

    def _signature(self, options: Mapping[str, Any]) -> str:
        """Finds the signature that takes the options.

        Raises:
            ValueError: There is none.
        """
        known = {o: s for o, s in self._task.options.items() if s in self.servable.signatures}
        wrong = sorted(options.keys() - known.keys())
        if wrong:
            takes = f"the options {', '.join(known)}" if known else "no options"
            raise ValueError(f"{self.name} takes {takes}, got {', '.join(wrong)}")
        signatures = {known[option] for option in options}
        if len(signatures) > 1:
            raise ValueError(f"{', '.join(options)} must not be given together")
        return next(iter(signatures), DEFAULT_SIGNATURE)

    def _search(self, given: Mapping[str, Any], n_best: int | None) -> dict[str, Any]:
        """Completes the options of a search by those of the model's card."""
        limits = self.servable.limits
        width = given.get("beam_width", max(int(limits["beam_width"]), n_best or 1))
        for name, value in (("beam_width", width), ("n_best", 1 if n_best is None else n_best)):
            if type(value) is not int or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
        if n_best is not None and n_best > width:
            raise ValueError(f"n_best must be at most beam_width, {width}, got {n_best}")
        penalty = given.get("length_penalty", limits["length_penalty"])
        return {"beam_width": width, "length_penalty": penalty}

    def _results(
        self, questions: Questions, signature: str, scalars: Mapping[str, Any], batch_size: int
    ) -> Iterator[Any]:
        """Yields the result of each example."""
        axes = self.servable.axes
        for first in range(0, questions.count, batch_size):
            rows = range(questions.count)[first : first + batch_size]
            inputs = encode(questions.texts, slice(rows.start, rows.stop))
            outputs = self.servable.ask(inputs | scalars, signature)
            for row, own in zip(rows, split_rows(outputs, len(rows), axes), strict=True):
                texts = {name: column[row] for name, column in questions.texts.items()}
                yield self._task.make(Example(own, texts, axes, signature, self._labels))


_OPTIONS = {option for task in TASKS.values() for option in task.options}
