"""Translation of a user's own pairs: two files line by line, or a table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo.tasks.shared.own_settings import OwnDataSettings
from zoo.tasks.translation.recipe import (
    TranslationTask,
    TranslationTrainingSettings,
    refuse_batch_size,
)
from zoo.training.unused import refuse_given

if TYPE_CHECKING:
    import pandas as pd

    from zoo.serving.cards import DataRecord
    from zoo.tasks.shared.own_data import OwnParts

_LEARNING: dict[str, Any] = {
    "batch_size": 64,
    "warmup_steps": 300,
    "ema_decay": 0.999,
    "beam_width": 5,
    "label_smoothing": 0.1,
}
SIZES = ("hidden_dim", "alignment_dim", "maxout_dim", "rank", "model_dim")
"""Arguments of the architectures that are as large as ``hidden_dim``."""
DEFAULTS: dict[str, dict[str, Any]] = {
    "small": _LEARNING
    | {
        "vocabulary": "joint",
        "vocabulary_size": 2_000,
        "embedding_dim": 128,
        "hidden_dim": 128,
        "dropout": 0.3,
        "epochs": 40,
        "batch_size": 32,
        "learning_rate": 4e-3,
        "warmup_steps": 100,
        "ema_decay": 0.99,
    },
    "medium": _LEARNING
    | {
        "vocabulary": "joint",
        "vocabulary_size": 4_000,
        "embedding_dim": 256,
        "hidden_dim": 256,
        "dropout": 0.3,
        "epochs": 24,
        "learning_rate": 2e-3,
    },
    "large": _LEARNING
    | {
        "vocabulary": "joint",
        "vocabulary_size": 10_000,
        "embedding_dim": 512,
        "hidden_dim": 512,
        "dropout": 0.2,
        "epochs": 8,
        "learning_rate": 1e-3,
        "warmup_steps": 2_000,
    },
}
"""Defaults for settings that are None, by amount of data."""


@dataclass(frozen=True)
class OwnTranslationSettings(OwnDataSettings, TranslationTrainingSettings):
    """Settings of the recipe for any pairs. Those given as None depend on the amount of data."""

    train: Path | None = None
    """Table of training pairs, .csv, .tsv or .jsonl, in place of two files."""
    validation: Path | None = None
    """Table of pairs that choose the best weights; by default a share is held out."""
    test: Path | None = None
    """Table of pairs to measure the trained model on."""
    columns: tuple[str, str] = ("source", "target")
    """Names of the tables' columns, or their numbers, from 0, where the first line has no names."""
    train_source: Path | None = None
    """Text to translate from, a sentence a line."""
    train_target: Path | None = None
    """Its translation, line by line."""
    validation_source: Path | None = None
    """As train_source, for the best weights."""
    validation_target: Path | None = None
    """As train_target."""
    test_source: Path | None = None
    """As train_source, to measure the trained model on."""
    test_target: Path | None = None
    """As train_target."""
    target_language: str = "en"
    """Code of the language to translate to, for sacreBLEU's tokeniser."""


class OwnTranslationTask(TranslationTask):
    """Translates what a user's own pairs teach."""

    parts: "OwnParts"

    def resolve(self, settings: Any) -> Any:
        """Reads all pairs, and chooses sizes by their number."""
        from zoo.metrics.translation import choose_bleu_tokenizer
        from zoo.tasks.shared.own_data import (
            by_groups,
            model_of,
            own_parts,
            refuse_ignored,
            resolve_own,
        )

        refuse_batch_size(settings, settings.batch_tokens)
        settings = replace(settings, model=model_of(settings.model, self.name))
        refuse_ignored(settings, {"embedding_dim": ("embedding_dim",), "hidden_dim": SIZES})
        tokenizer = choose_bleu_tokenizer(settings.target_language, settings.bleu_tokenize)
        files = files_of(settings)

        def read(paths: Sequence[Path]) -> "pd.DataFrame":
            return read_pairs(paths, settings.columns)

        self.parts = own_parts(files, read, settings, by_groups("source"))
        count, first = len(self.parts.training), files["train"][0]
        settings = resolve_own(settings, self.recipe, count, first, self.defaults)
        return replace(settings, bleu_tokenize=tokenizer)

    def load(self) -> "DataRecord":
        """Takes the pairs that were read."""
        from zoo.tasks.shared.own_settings import DATA
        from zoo.tasks.translation.data import TranslationData

        parts = self.parts
        parts.log(self.folder.logger)
        frames = (parts.training, parts.validation, parts.test)
        self.data = TranslationData(DATA, *frames, parts.record)
        return parts.record


def files_of(settings: OwnTranslationSettings) -> dict[str, tuple[Path, ...]]:
    """Returns the files of each part: one table, or source and target.

    Raises:
        ValueError: A part is given in both ways, or one of its two files is missing; or there are
            names of columns, and no table.
    """
    files = {}
    for part in ("train", "validation", "test"):
        table = getattr(settings, part)
        pair = [getattr(settings, f"{part}_{side}") for side in ("source", "target")]
        given = [path for path in pair if path is not None]
        if (table is not None and given) or len(given) == 1:
            raise ValueError(
                f"{part} must be a table, or else {part}_source and {part}_target, got "
                f"{', '.join(map(str, filter(None, [table, *given])))}"
            )
        files[part] = (table,) if table is not None else tuple(given)
    if not files["train"]:
        raise ValueError("train must be a table, or else train_source and train_target, got none")
    if not any(len(paths) == 1 for paths in files.values()):
        refuse_given(settings, ("columns",), "without a table")
    return files


def read_pairs(paths: Sequence[Path], columns: tuple[str, str]) -> "pd.DataFrame":
    """Reads pairs: of one file a table, of two those of their lines."""
    from zoo.data.parallel import read_parallel
    from zoo.data.tables import read_table

    if len(paths) == 2:
        return read_parallel(*paths)
    return read_table(paths[0], dict(zip(("source", "target"), columns, strict=True)))
