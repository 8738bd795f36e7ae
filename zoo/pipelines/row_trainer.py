"""Trains the model behind a pipeline on rows of a table."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from zoo.pipelines.tables import read_columns
from zoo.pipelines.trainer import Evaluation, Trainer
from zoo.serving.servable import Servable
from zoo.tasks.tabular.columns import as_texts, to_numbers
from zoo.tasks.tabular.examples import Asking, Rows, TabularEvaluator, encode_rows
from zoo.tasks.tabular.importance import importance_of_data
from zoo.tasks.tabular.pictures import draw_importance
from zoo.training.loop import Batches


class TabularTrainer(Trainer):
    """Rows with the target that the model predicts."""

    columns: ClassVar[tuple[str, ...]] = ()  # each model has its own
    monitor = "loss"

    def read(self, data: Any) -> pd.DataFrame:
        """Reads the columns of the model and its target; others are ignored."""
        names = (*self.endpoint.codec.names, self.endpoint.target.column)
        kept = read_columns(data, names)
        frame = pd.DataFrame({name: pd.Series(kept[name]) for name in names})
        self._encode(frame)
        return frame

    def question(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Picks the first row."""
        self._shown = self._encode(frame)
        first, codec = frame.head(1), self.endpoint.codec
        numbers = {one.input: float(to_numbers(first[one.column])[0]) for one in codec.numeric}
        return as_texts(first, codec) | numbers

    def _encode(self, frame: pd.DataFrame) -> Rows:
        return encode_rows(frame, self.endpoint.codec, self.endpoint.target)

    def batches(self, frame: pd.DataFrame, batch_size: int, seed: int) -> Batches:
        """Batches rows."""
        batches: Batches = self._encode(frame).batches(batch_size, seed)
        return batches

    def evaluator(self, frame: pd.DataFrame, *, final: bool) -> Evaluation:
        """Scores answers."""
        return TabularEvaluator(self.model, self._encode(frame), self.endpoint.target)

    def draw(self, servable: Servable, question: Mapping[str, Any], picture: Path) -> None:
        """Draws the weights, and beside them what happens when features are changed."""
        codec, ask, rows = self.endpoint.codec, Asking(self.model), self._shown
        importance = importance_of_data(ask, codec, rows)
        draw_importance(ask, codec, self.endpoint.target, rows, importance, picture)
