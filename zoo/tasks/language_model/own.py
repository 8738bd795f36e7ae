"""Language models of a user's own texts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo.tasks.language_model.recipe import LanguageModelTask, LanguageModelTrainingSettings
from zoo.tasks.shared.own_settings import OwnDataSettings
from zoo.training.bounds import Count, Rate

if TYPE_CHECKING:
    import pandas as pd

    from zoo.serving.cards import DataRecord
    from zoo.tasks.shared.own_data import OwnParts

_WORDS_AN_EXAMPLE = 20  # so that amounts of text are told apart like those of sentences
_LEARNING = {"optimizer": "adam", "segment_length": 35, "carried_slots": 10, "batch_size": 40}
DEFAULTS: dict[str, dict[str, Any]] = {
    "small": _LEARNING
    | {
        "embedding_dim": 64,
        "hidden_dim": 96,
        "dropout": 0.4,
        "epochs": 15,
        "batch_size": 20,
        "segment_length": 20,
    },
    "medium": _LEARNING | {"embedding_dim": 150, "hidden_dim": 300, "dropout": 0.3, "epochs": 6},
    "large": _LEARNING | {"embedding_dim": 200, "hidden_dim": 400, "dropout": 0.1, "epochs": 2},
}
"""Defaults for settings that are None, by amount of data."""


@dataclass(frozen=True)
class OwnLanguageModelSettings(OwnDataSettings, LanguageModelTrainingSettings):
    """Settings of the recipe for any text. Those given as None depend on its length."""

    train: tuple[Path, ...] = ()
    """Training texts: words between spaces, a sentence or paragraph a line."""
    validation: tuple[Path, ...] = ()
    """Texts that choose the best weights; by default the last lines are held out."""
    test: tuple[Path, ...] = ()
    """Texts to measure the trained model on."""
    vocabulary_size: Count | None = None
    """Words kept, the most frequent ones; None: those that occur twice at least."""
    dropout: Rate | None = None
    """Rate of dropout."""


class OwnLanguageModelTask(LanguageModelTask):
    """Predicts the next word of a user's own texts."""

    parts: "OwnParts"

    def resolve(self, settings: Any) -> Any:
        """Reads all texts, and chooses sizes by their length.

        Raises:
            ValueError: as of `own_parts`, or the lines held out, or all others, are empty.
        """
        from zoo.tasks.shared.own_data import at_the_end, model_of, own_parts, resolve_own

        settings = replace(settings, model=model_of(settings.model, self.name))
        files = {part: getattr(settings, part) for part in ("train", "validation", "test")}
        parts = own_parts(files, read_texts, settings, at_the_end)
        lines = parts.training["line"]
        if not any(lines) or not any(parts.validation["line"]):
            raise ValueError(
                f"held_out must leave lines with words for both parts, got {settings.held_out}"
            )
        count = sum(map(len, lines)) + len(lines)
        examples, notes = -(-count // _WORDS_AN_EXAMPLE), list(parts.notes)
        sized = resolve_own(settings, self.recipe, examples, files["train"][0], self.defaults)
        if sized.vocabulary_size is None:
            often = sum(n > 1 for n in Counter(w for line in lines for w in line).values())
            sized = replace(sized, vocabulary_size=max(1, often))
            notes.append(f"vocabulary_size: {often} words occur twice or more")
        rows = max(1, count // sized.segment_length)
        if settings.batch_size is None and rows < sized.batch_size:
            notes.append(f"batch_size: {rows} instead of {sized.batch_size}, for {count} words")
            sized = replace(sized, batch_size=rows)
        self.parts = parts._replace(notes=tuple(notes))
        return self.with_rate(sized)

    def load(self) -> "DataRecord":
        """Takes the texts that were read."""
        from zoo.tasks.language_model.data import LanguageModelData
        from zoo.tasks.shared.own_settings import DATA

        parts = self.parts
        parts.log(self.folder.logger)
        train, validation, test = ([*frame["line"]] for frame in parts[:3])
        self.data = LanguageModelData(DATA, train, validation, test, parts.record)
        return parts.record


def read_texts(paths: Sequence[Path]) -> "pd.DataFrame":
    """Reads the lines of texts, one file after the other: a column ``line`` of lists of words."""
    import pandas as pd

    from zoo.data.language_text import read_language_text

    return pd.DataFrame(
        {"line": [line for path in paths for line in read_language_text(path).lines]}
    )
