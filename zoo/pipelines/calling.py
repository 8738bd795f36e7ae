"""A shipped model as a function of strings."""

import difflib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zoo.pipelines.arguments import given_options, read_count
from zoo.pipelines.questions import Questions, encode, name_picture, read_questions
from zoo.pipelines.tasks import TASKS
from zoo.pipelines.values import Example, split_rows
from zoo.serving.cards import read_card
from zoo.serving.codecs import load_labels
from zoo.serving.known_words import known_words
from zoo.serving.load import resolve
from zoo.serving.options import complete_options
from zoo.serving.servable import DEFAULT_SIGNATURE, Servable

if TYPE_CHECKING:
    from zoo.pipelines.training import TrainedModel


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
        self.folder = resolve(name_or_path).absolute()  # read again by `fit`, perhaps elsewhere
        self.name = self.folder.name
        self.card = read_card(self.folder)
        self.task = self.card.task
        if self.task not in TASKS:
            raise ValueError(
                f"task of {self.folder} must be one of {', '.join(TASKS)}, got {self.task!r}:"
                " zoo.load_servable asks any model"
            )
        self._task = TASKS[self.task]
        self._labels = load_labels(self.folder) if self._task.classes else self.card.labels
        self.servable = Servable(self.folder)
        self._trained: TrainedModel | None = None

    def __call__(self, *texts: Any, batch_size: int = 32, **arguments: Any) -> Any:
        """Answers.

        Args:
            *texts: The inputs of the task in order, each a string or a list of strings: `text`;
                `question`, `context`; `question`, `story`, a sentence a line; `document`, `query`;
                `premise`, `hypothesis`; `image`, the name of a file or its bytes. A string beside
                lists goes with every entry. Of rows a DataFrame or a dict; of learnt algorithms
                `symbols`, or a sequence of vectors, or a list of sequences.
            batch_size: Examples that are asked at a time.
            **arguments: Inputs by name, and options: of translators `beam_width`, `length_penalty`,
                `n_best` and, for the maps of all heads, `heads=True`; of cloze readers
                `candidates`; of language models that write `new_tokens`, `temperature`, `top_k`,
                `top_p`, `seed`, `forbid_unknown`.

        Returns:
            A result, or a list of results for lists; see `zoo.pipelines.results`. With `n_best` a
            list of translations takes the place of each result.

        Raises:
            ValueError: Inputs or options that the model does not take.
        """
        batch_size = read_count("batch_size", batch_size)
        if self.task == "tabular":
            return self._rows(texts, arguments, batch_size)
        self._check_names(arguments)
        if self.task == "algorithms":
            return self._sequences(texts, arguments, batch_size)
        options = {key: arguments.pop(key) for key in sorted(arguments.keys() & _OPTIONS)}
        given = given_options(options)
        signature = self._signature(given)
        candidates = given.pop("candidates", None)
        questions = read_questions(self.name, self._task.inputs, texts, arguments, candidates)
        n_best = given.pop("n_best", None)
        scalars = self._scalars(signature, given, n_best)
        found = list(self._results(questions, signature, scalars, batch_size))
        if signature == "beam":
            found = [one[:n_best] if n_best else one[0] for one in found]
        return found[0] if questions.single else found

    def fit(
        self,
        data: Any,
        *,
        validation_data: Any = None,
        validation_split: float = 0.0,
        epochs: int = 5,
        batch_size: int = 32,
        learning_rate: float = 3e-4,
        patience: int | None = None,
        seed: int = 0,
        progress: bool = True,
    ) -> dict[str, list[float]]:
        """Trains the model on strings; from then on calls are answered with the new weights.

        Args:
            data: A pandas DataFrame or a dict of columns: `source`, `target`; `question`,
                `context`, `answer` and, if need be, `answer_start` in characters; `text`, `label`;
                `premise`, `hypothesis`, `label`; `document`, `query`, `answer` and, if need be,
                `candidates`; `text`; or the columns of a model of rows.
            validation_data: The same, held out: the weights of the best epoch on it are kept.
            validation_split: Share of `data` to hold out instead; rows with the same source,
                context, text, premise or document stay together.
            epochs: Passes over the data, at most.
            batch_size: Examples of a step.
            learning_rate: Adam's.
            patience: Stop after so many epochs without a gain on what is held out; None: never.
            seed: Of the order of examples and of the split.
            progress: Whether to show a progress bar.

        Returns:
            Metric -> its values, one per epoch: `loss`, and `val_...` on what is held out.

        Raises:
            ValueError: A setting is out of range, or the data does not fit; names column and row.
            FloatingPointError: The loss became NaN or infinite; the model is as it was before.
        """
        from zoo.pipelines.training import FitSettings

        settings = FitSettings(epochs, batch_size, learning_rate, patience, seed, progress)
        trained = self._trained_model()
        try:
            return trained.fit(data, validation_data, validation_split, settings)
        finally:
            if trained.fitted:
                self.servable = trained.servable

    def evaluate(self, data: Any) -> dict[str, float]:
        """Scores the model on strings.

        Args:
            data: As in `fit`.

        Returns:
            Metric -> value, those of the model card.

        Raises:
            ValueError: The data does not fit; names column and row.
        """
        return self._trained_model().evaluate(data)

    def save(self, folder: str | Path, *, data: str = "data of its own") -> Path:
        """Ships the trained model: a SavedModel with its card and a picture of its attention.

        `zoo.pipeline` loads it. The picture shows the first example held out, else trained on.

        Args:
            folder: Where to; a SavedModel that is there is replaced.
            data: Name of the data, for the card.

        Returns:
            The absolute folder, which `zoo.pipeline` finds wherever the program goes on.

        Raises:
            ValueError: It was not trained, or the folder holds something else.
        """
        folder = Path(folder).expanduser().absolute()
        if self._trained is None or not self._trained.fitted:
            raise ValueError(
                f"{self.name} has not been trained: fit it first (python -m zoo export {self.name}"
                " copies it as it is)"
            )
        self._trained.save(folder, data, self.name)
        return folder

    def __repr__(self) -> str:
        """Says in one line what the model is for and what not."""
        told = (
            self.card.intended_use,
            self.card.limitations and f"not for {self.card.limitations}",
        )
        return f"{self.name}: {'; '.join(filter(None, told)) or self.task}"

    def _warn_of_unknown_words(self, outputs: Mapping[str, np.ndarray], row: int) -> None:
        """Warns of texts that are mostly unknown to the model as it was shipped."""
        fitted = self._trained is not None and self._trained.fitted
        words = None if fitted else known_words(self.folder)
        for strange in words.strange(outputs) if words else ():
            warnings.warn(f"{self.name}, example {row + 1}: {strange}", stacklevel=4)

    def _trained_model(self) -> "TrainedModel":
        """Makes the Keras model, once."""
        if self._trained is None:
            from zoo.pipelines.training import TrainedModel

            self._trained = TrainedModel(self.folder, self.card)
        return self._trained

    def _check_names(self, names: Iterable[str]) -> None:
        """Refuses mistyped inputs and options; what resembles none of them is refused as an input.

        Raises:
            ValueError: Names what the model takes, and what may have been meant.
        """
        known = [*self._task.inputs, *self._options(), "batch_size"]
        for name in {*names} - {*self._task.inputs} - _OPTIONS:
            if similar := difflib.get_close_matches(name, known, n=1):
                raise ValueError(
                    f"arguments of {self.name} must be out of {', '.join(known)}, got {name}: did"
                    f" you mean {similar[0]}?"
                )

    def _options(self) -> dict[str, str]:
        """Lists the options that the model takes, each with its signature."""
        taken = self._task.options.items()
        return {name: one for name, one in taken if one in self.servable.signatures}

    def _signature(self, options: Mapping[str, Any]) -> str:
        """Finds the signature that takes the options.

        Raises:
            ValueError: There is none.
        """
        known = self._options()
        wrong = sorted(options.keys() - known.keys())
        if wrong:
            takes = f"out of {', '.join(known)}" if known else "none"
            raise ValueError(f"options of {self.name} must be {takes}, got {', '.join(wrong)}")
        signatures = {known[option] for option in options}
        if len(signatures) > 1:
            raise ValueError(f"{', '.join(options)} must not be given together")
        return next(iter(signatures), self._task.signature)

    def _scalars(
        self, signature: str, given: Mapping[str, Any], n_best: int | None
    ) -> dict[str, Any]:
        """Completes the options by those of the model's card."""
        inputs, limits = self.servable.signatures[signature].inputs, dict(self.servable.limits)
        if n_best is not None:
            n_best = read_count("n_best", n_best)
        if signature == "beam":
            limits["beam_width"] = max(int(limits["beam_width"]), n_best or 1)
        names = [name for name, info in inputs.items() if not info.batched]
        options = complete_options(names, given, limits)
        for name in sorted(_COUNTS & options.keys()):
            read_count(name, options[name])
        if n_best is not None and n_best > options["beam_width"]:
            width = options["beam_width"]
            raise ValueError(f"n_best must be at most beam_width, {width}, got {n_best}")
        return options

    def _rows(self, tables: Sequence[Any], columns: Mapping[str, Any], batch_size: int) -> Any:
        """Answers for rows of a table."""
        from zoo.pipelines.rows import read_rows

        questions, inputs = read_rows(self.card.tokenizer, tables, columns)
        found: list[Any] = []
        for first in range(0, questions.examples, batch_size):
            rows = range(questions.examples)[first : first + batch_size]
            asked = {name: column[rows.start : rows.stop] for name, column in inputs.items()}
            found += self._made(self.servable.ask(asked), rows, questions, DEFAULT_SIGNATURE)
        return found[0] if questions.single else found

    def _sequences(
        self, sequences: Sequence[Any], named: Mapping[str, Any], batch_size: int
    ) -> Any:
        """Answers for sequences of vectors."""
        from zoo.pipelines.sequences import read_sequences
        from zoo.serving.sequences import pad_sequences, without_padding

        questions = read_sequences(self.name, sequences, named)
        found: list[Any] = []
        for first in range(0, questions.examples, batch_size):
            rows = range(questions.examples)[first : first + batch_size]
            inputs = pad_sequences(questions.texts["vectors"][rows.start : rows.stop])
            outputs = self.servable.ask(inputs)
            axes = self.servable.axes
            for row, own in zip(rows, split_rows(outputs, len(rows), axes), strict=True):
                vectors = questions.texts["vectors"][row]
                own = without_padding(own, len(vectors), axes)
                example = Example(own, {"vectors": vectors}, axes, DEFAULT_SIGNATURE, ())
                found.append(self._task.make(example))
        return found[0] if questions.single else found

    def _results(
        self, questions: Questions, signature: str, scalars: Mapping[str, Any], batch_size: int
    ) -> Iterator[Any]:
        """Yields the result of each example."""
        for first in range(0, questions.examples, batch_size):
            rows = range(questions.examples)[first : first + batch_size]
            inputs = encode(questions.texts, slice(rows.start, rows.stop))
            try:
                outputs = self.servable.ask({**inputs, **scalars}, signature)
            except ValueError:
                name_picture(self.servable, inputs, scalars, rows.start, signature)
                raise
            yield from self._made(outputs, rows, questions, signature)

    def _made(
        self, outputs: Mapping[str, np.ndarray], rows: range, questions: Questions, signature: str
    ) -> Iterator[Any]:
        """Yields the results of the rows of a batch."""
        axes = self.servable.axes
        for row, own in zip(rows, split_rows(outputs, len(rows), axes), strict=True):
            self._warn_of_unknown_words(own, row)
            texts = {name: column[row] for name, column in questions.texts.items()}
            yield self._task.make(Example(own, texts, axes, signature, self._labels))


_COUNTS = {"beam_width", "new_tokens"}
_OPTIONS = {option for task in TASKS.values() for option in task.options}
