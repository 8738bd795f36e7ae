"""Base of what trains the model behind a pipeline.

A `Trainer` stands between a table of strings and the model behind an endpoint: it checks the table,
and makes batches and evaluations of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from zoo.pipelines.tables import read_table
from zoo.serving.servable import DEFAULT_SIGNATURE, Servable
from zoo.tasks.shared.pictures import draw_answer
from zoo.training.loop import Batches

Evaluation = Callable[[], Mapping[str, float]]


class Trainer(ABC):
    """Examples and evaluation of one task.

    Args:
        endpoint: Of the model that is trained, with its tokenizers.
    """

    columns: ClassVar[tuple[str, ...]]
    """Columns of strings that a table must have; first the inputs of the endpoint, in its order."""
    optional: ClassVar[tuple[str, ...]] = ()
    """Further columns that are used where they are there."""
    together: ClassVar[str | None] = None
    """Column of which rows with the same text are held out together; None: there is none."""
    monitor: ClassVar[str]
    """The metric by which the best weights are chosen; lower is better."""

    def __init__(self, endpoint: Any) -> None:
        self.endpoint = endpoint
        self.model = endpoint.model

    def read(self, data: Any) -> pd.DataFrame:
        """Reads and checks a table.

        Raises:
            ValueError: It has other columns, no row, or values that cannot be used; names them.
        """
        return self.checked(read_table(data, self.columns, self.optional))

    def checked(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Makes the task's own columns of those of strings."""
        return frame

    def question(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Picks what to draw the attention of: the first row with words in all of its inputs.

        Returns:
            Input of the endpoint -> text; of the first row if no row has words.
        """
        inputs = [spec.name for spec in self.endpoint.endpoints()[DEFAULT_SIGNATURE].signature]
        texts = frame[[*self.columns[: len(inputs)]]].set_axis(inputs, axis="columns")
        worded = texts.map(lambda text: bool(text.strip())).all(axis="columns")
        return dict(texts.iloc[int(worded.to_numpy().argmax())])

    @abstractmethod
    def batches(self, frame: pd.DataFrame, batch_size: int, seed: int) -> Batches:
        """Makes batches to train on, of what `read` returned."""

    @abstractmethod
    def evaluator(self, frame: pd.DataFrame, *, final: bool) -> Evaluation:
        """Makes what scores the model on a table.

        Args:
            frame: As `read` returned it.
            final: Whether to answer as the model does when it is served, or in less time.
        """

    @contextmanager
    def training(self, batches: Batches) -> Iterator[None]:
        """Prepares the model for the batches, within the block."""
        yield

    def draw(self, servable: Servable, question: Mapping[str, Any], picture: Path) -> None:
        """Draws what the model attends to, where there is anything to draw."""
        draw_answer(servable, question, picture)
