"""Reading of a user's own questions: files in SQuAD's layout, or tables."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo.tasks.reading.recipe import (
    ReadingTask,
    ReadingTrainingSettings,
    refuse_without_vectors,
)
from zoo.tasks.shared.own_settings import OwnDataSettings
from zoo.training.bounds import Rate
from zoo.training.unused import refuse_given

if TYPE_CHECKING:
    import pandas as pd

    from zoo.serving.cards import DataRecord
    from zoo.tasks.shared.own_data import OwnParts

_LEARNING = {"vector_norm": 8.0, "batch_size": 32, "ema_decay": 0.999, "dropout": 0.2}
DEFAULTS: dict[str, dict[str, Any]] = {
    "small": _LEARNING
    | {
        "embedding_dim": 64,
        "hidden_dim": 64,
        "epochs": 20,
        "learning_rate": 2e-3,
        "ema_decay": 0.99,
    },
    "medium": _LEARNING
    | {"embedding_dim": 100, "hidden_dim": 100, "epochs": 6, "learning_rate": 1.5e-3},
    "large": _LEARNING
    | {"embedding_dim": 200, "hidden_dim": 200, "epochs": 4, "learning_rate": 1e-3},
}
"""Defaults for settings that are None, by amount of data."""


@dataclass(frozen=True)
class OwnReadingSettings(OwnDataSettings, ReadingTrainingSettings):
    """Settings of the recipe for any questions. Those given as None depend on their number."""

    train: Path | None = None
    """Training questions: .json in SQuAD's layout, or a table, .csv, .tsv or .jsonl."""
    validation: Path | None = None
    """Questions that choose the best weights; by default a share of the contexts is held out."""
    test: Path | None = None
    """Questions to measure the trained model on."""
    columns: tuple[str, str, str, str] = ("question", "context", "answer", "answer_start")
    """Names of the tables' columns, or their numbers, from 0, where the first line has no names.
    The last one, the answer's first character, may be missing."""
    dropout: Rate | None = None
    """Rate of dropout."""


class OwnReadingTask(ReadingTask):
    """Answers what a user's own questions teach."""

    parts: "OwnParts"

    def resolve(self, settings: Any) -> Any:
        """Reads all questions, and chooses sizes by their number."""
        from zoo.tasks.shared.own_data import by_groups, model_of, own_parts, resolve_own

        refuse_without_vectors(settings)
        if settings.vectors is not None:
            refuse_given(settings, ("embedding_dim",), "with vectors")
        settings = replace(settings, model=model_of(settings.model, self.name))
        files = {
            part: tuple(filter(None, [getattr(settings, part)]))
            for part in ("train", "validation", "test")
        }
        if all(is_squad(path) for paths in files.values() for path in paths):
            refuse_given(settings, ("columns",), "without a table")

        def read(paths: Sequence[Path]) -> "pd.DataFrame":
            return read_questions(paths[0], settings.columns)

        self.parts = own_parts(files, read, settings, by_groups("context"))
        count = len(self.parts.training)
        return resolve_own(settings, self.recipe, count, files["train"][0], self.defaults)

    def load(self) -> "DataRecord":
        """Takes the questions that were read, and reads the word vectors if there are any."""
        from zoo.tasks.reading.data import with_words

        settings, parts, logger = self.settings, self.parts, self.folder.logger
        parts.log(logger)
        if ambiguous := parts.training.attrs.get("ambiguous"):
            logger.info(
                "answers with several places in the context, the first taken: %d", ambiguous
            )
        data = with_words(
            parts.training,
            parts.validation,
            parts.record,
            settings.vectors,
            settings.maximum_vocabulary,
            logger,
            settings.vector_norm,
        )
        self.data = data._replace(test=parts.test)
        return self.data.record

    def learned_dim(self) -> int:
        """Size of a word vector where none are given."""
        return self.settings.embedding_dim


def is_squad(path: Path) -> bool:
    """Tells whether a file is in SQuAD's layout, by its name; others are tables."""
    from zoo.data.tables import ending

    return ending(path) == ".json"


def read_questions(path: Path, columns: tuple[str, ...]) -> "pd.DataFrame":
    """Reads a file in SQuAD's layout, or a table."""
    from zoo.data.reading_table import read_reading_table
    from zoo.data.squad import read_squad

    return read_squad(path) if is_squad(path) else read_reading_table(path, columns)
