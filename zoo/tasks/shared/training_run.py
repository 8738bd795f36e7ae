"""One training, from settings to a shipped model: what the recipes of all tasks do, in order.

`run` is the order. A task supplies its own parts (`Task`): data, ids, batches, evaluation, endpoint
and the question of the pictures. A recipe supplies its settings, their defaults, and the function
that builds its model.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from zoo.tasks.shared.records import finite_metrics
from zoo.training.command import next_commands
from zoo.training.settings import (
    build_and_compile,
    fit_warmup,
    open_run,
    refuse_unused,
    train,
)

if TYPE_CHECKING:
    import keras
    import tensorflow as tf
    from matplotlib.figure import Figure

    from zoo.serving.cards import DataRecord
    from zoo.tasks.shared.endpoints import StringEndpoint
    from zoo.training.cluster import Workers
    from zoo.training.loop import Batches
    from zoo.training.runs import RunFolder

Defaults = Mapping[str, Mapping[str, Any]]
"""Data set -> what settings given as None become."""


def run(settings: Any, task: "Task") -> dict[str, Any]:
    """Trains, measures and exports the model of a recipe, and draws what it attends to.

    Args:
        settings: from the command line.
        task: made for this run.

    Returns:
        What ``result.json`` holds: the metrics, the report of the training, and ``data``.
    """
    given, settings = settings, task.resolve(settings)
    task.settings = settings
    refuse_unused(given, getattr(settings, "optimizer", "adam"))
    task.folder, task.workers = folder, workers = open_run(settings)
    with _nothing_left_if_refused(folder):
        record, batches, model = _prepare(task, given.warmup_steps)
        evaluate = task.evaluator(model)
        endpoint = task.endpoint(model)
        _check_card(task, endpoint, record)
    settings = task.settings
    report = train(
        settings,
        model,
        batches,
        folder,
        workers,
        evaluate,
        monitor=task.monitor,
        mode=task.mode,
        ties=task.ties,
        carried=task.carried,
        ask=task.ask(endpoint),
        draw=task.figure,
    )
    task.end(model)
    metrics = finite_metrics(task.measure(endpoint), folder.logger)
    task.export(endpoint, record, metrics, report["seconds"])
    task.draw()
    return _finish(task, {**metrics, **task.notes, **report, "data": record})


def _finish(task: "Task", result: Mapping[str, Any]) -> dict[str, Any]:
    """Writes the result, and tells what to do next."""
    complete = task.folder.finish(result)
    for line in task.next_commands():
        task.folder.logger.info("%s", line)
    return complete


def _prepare(task: "Task", warmup: int | None) -> "tuple[DataRecord, Batches, keras.Model]":
    """Reads the data, and makes batches and model; the user asked for that warm-up, if any."""
    record = task.load()
    task.folder.check_data(record.sha256)
    batches = task.encode()
    steps = batches.steps_per_epoch
    whole = task.settings.epochs * steps
    task.settings = fit_warmup(task.settings, warmup, whole, task.folder)
    model = build_and_compile(task.settings, task.workers, task.build, steps, task.optimizer)
    task.begin(model, batches)
    return record, batches, model


def _check_card(task: "Task", endpoint: "StringEndpoint", record: "DataRecord") -> None:
    """Refuses data that the card could not name after hours of training."""
    from zoo.tasks.shared.endpoints import check_card

    check_card(endpoint, task=task.name, data=record)


@contextmanager
def _nothing_left_if_refused(folder: "RunFolder") -> Iterator[None]:
    """Removes the folder of a new run whose data or settings are refused."""
    try:
        yield
    except (ValueError, OSError):
        folder.discard()
        raise


@dataclass
class Task(ABC):
    """The parts of one run, in the order in which `run` asks for them.

    What a part needs of an earlier one, such as the vocabulary, the instance keeps.
    """

    recipe: str
    """Name of the recipe, for the run folder."""
    make_model: Callable[..., Any]
    """Settings, and what the task says of sizes, to the unbuilt model."""
    defaults: Defaults
    """The recipe's own."""

    settings: Any = field(init=False)
    """Resolved."""
    folder: "RunFolder" = field(init=False)
    workers: "Workers" = field(init=False)
    carried: "Sequence[tf.Variable]" = field(init=False, default=())
    """Variables beside the model's that one step hands to the next, for the checkpoints."""
    notes: Mapping[str, Any] = field(init=False, default_factory=dict)
    """Entries of the result beside the metrics."""
    optimizer: "Callable[[], keras.optimizers.Optimizer] | None" = field(init=False, default=None)
    """Makes the optimizer of the settings; None: it is Adam."""

    monitor: ClassVar[str]
    """The metric that chooses the best weights."""
    mode: ClassVar[str] = "max"
    """``"min"`` if a lower one is better."""
    ties: ClassVar[str | None] = None
    """The loss that chooses among weights with the same metric."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the task, for the card."""

    @abstractmethod
    def resolve(self, settings: Any) -> Any:
        """Gives the settings that depend on the data a value, and refuses contradictions."""

    @abstractmethod
    def load(self) -> "DataRecord":
        """Reads the data, which it keeps; returns what it was read from."""

    @abstractmethod
    def encode(self) -> "Batches":
        """Chooses the vocabulary, unless the folder has one; returns the batches of training."""

    @abstractmethod
    def build(self) -> Any:
        """Makes the model, without its weights."""

    def begin(self, model: Any, batches: "Batches") -> None:  # noqa: B027  # often nothing
        """Prepares a built model for its training, for instance with given word vectors."""

    @abstractmethod
    def evaluator(self, model: Any) -> Callable[[], Mapping[str, float]]:
        """Returns what scores the model during training."""

    @abstractmethod
    def endpoint(self, model: Any) -> "StringEndpoint":
        """Returns what the model is shipped as."""

    def ask(self, endpoint: Any) -> "Callable[[], dict[str, tf.Tensor]] | None":
        """Returns what answers the question for TensorBoard after each epoch; None: nothing."""
        from zoo.tasks.shared.endpoints import asking

        return asking(endpoint.serve, *self.question().values())

    def figure(self, result: Mapping[str, Any]) -> "Figure":
        """Draws an answer that ``ask`` returned."""
        from zoo.plots import answer

        return answer(result)

    @abstractmethod
    def question(self) -> dict[str, Any]:
        """Returns the inputs of the endpoint that the pictures are drawn of, one example."""

    def end(self, model: Any) -> None:  # noqa: B027  # often nothing
        """Takes back what ``begin`` gave the model for its training alone."""

    @abstractmethod
    def measure(self, endpoint: Any) -> dict[str, float]:
        """Scores the trained model, in graphs of its own, and logs the scores."""

    def export(
        self, endpoint: Any, record: "DataRecord", metrics: dict[str, float], seconds: float
    ) -> None:
        """Writes the SavedModel with its card."""
        from zoo.tasks.shared.endpoints import export_endpoint

        export_endpoint(
            self.folder.saved_model,
            endpoint,
            task=self.name,
            data=record,
            metrics=metrics,
            seed=self.settings.seed,
            seconds=seconds,
        )

    def draw(self) -> None:
        """Draws what the exported model attends to; ``told`` says what is logged of its answer."""
        from zoo.serving.servable import Servable
        from zoo.tasks.shared.pictures import draw_answer

        question = self.question()
        servable = Servable(self.folder.saved_model)
        answer = draw_answer(servable, question, self.folder.picture)
        if line := self.told(question, answer):
            self.folder.logger.info("%s", line)

    def next_commands(self) -> list[str]:
        """Returns lines on what to do with the exported model, the first to ask the question."""
        return next_commands(self.folder.saved_model, self.question())

    def told(self, question: Mapping[str, str], answer: Mapping[str, Any]) -> str:
        """Returns a line on an answer, of one row; empty: there is nothing to tell."""
        return ""

    def words_file(self, choose: Callable[[], Sequence[str]]) -> Path:
        """Returns the folder's file of words, which is written if the folder has none."""
        from zoo.text.vocabulary import write_vocabulary

        path = self.folder.vocabulary / "vocabulary.txt"
        if not path.exists():
            write_vocabulary(path, choose())
        return path
