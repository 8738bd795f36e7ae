"""Classification of a user's own texts, or pairs of texts, in tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo.tasks.classification.recipe import ClassificationSettings, ClassificationTask
from zoo.tasks.shared.own_settings import OwnDataSettings

if TYPE_CHECKING:
    import logging

    import pandas as pd

    from zoo.tasks.classification.data import ClassificationData
    from zoo.tasks.shared.own_data import OwnParts

SIDES = {1: ("text",), 2: ("premise", "hypothesis")}
"""Names of a model's inputs by their number."""

_LEARNING = {"batch_size": 32, "first_epoch_gradient": 1.0}
DEFAULTS: dict[str, dict[str, Any]] = {
    "small": _LEARNING
    | {
        "embedding_dim": 64,
        "hidden_dim": 64,
        "dropout": 0.3,
        "word_dropout": 0.3,
        "epochs": 15,
        "learning_rate": 4e-3,
    },
    "medium": _LEARNING
    | {
        "embedding_dim": 150,
        "hidden_dim": 168,
        "dropout": 0.5,
        "word_dropout": 0.4,
        "epochs": 10,
        "learning_rate": 2e-3,
    },
    "large": _LEARNING
    | {
        "embedding_dim": 300,
        "hidden_dim": 300,
        "dropout": 0.2,
        "word_dropout": 0.2,
        "epochs": 5,
        "learning_rate": 1e-3,
    },
}
"""Defaults for settings that are None, by amount of data."""


@dataclass(frozen=True)
class OwnClassificationSettings(OwnDataSettings, ClassificationSettings):
    """Settings of the recipe for any texts. Those given as None depend on their number."""

    train: Path | None = None
    """Table of training examples, .csv, .tsv or .jsonl."""
    validation: Path | None = None
    """Examples that choose the best weights; by default a share is held out."""
    test: Path | None = None
    """Examples to measure the trained model on."""
    text_columns: tuple[str, ...] = ("text",)
    """Name of the column of texts, or names of two columns, premise and hypothesis, for pairs; or
    numbers, from 0, where the first line has no names."""
    label_column: str = "label"
    """Name, or number, of the column of classes."""


@dataclass
class OwnClassificationTask(ClassificationTask):
    """Tells the classes that a user's own examples have."""

    read: Any = None
    """Set when the examples have been read, before the run begins."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Architecture that is taken where none is named, by task."""

    def resolve(self, settings: Any) -> Any:
        """Reads all examples, and chooses sizes by their number."""
        from zoo.tasks.shared.own_data import by_groups, model_of, own_parts, resolve_own

        self.refuse_unused(settings)
        count = len(settings.text_columns)
        if count not in SIDES:
            raise ValueError(f"text_columns must be one or two names, got {count}")
        sides = SIDES[count]
        task = "classification" if count == 1 else "inference"
        name = settings.model or self.models[task]
        settings = replace(settings, model=model_of(name, task))
        columns = dict(zip(sides, settings.text_columns, strict=True))

        def read(paths: Sequence[Path]) -> "pd.DataFrame":
            from zoo.data.tables import read_table

            frame = read_table(paths[0], columns | {"label": settings.label_column})
            frame["label"] = frame["label"].str.strip()  # "good " is no class of its own
            _check_labels(frame["label"], paths[0], settings.label_column)
            return frame

        files = {
            part: tuple(filter(None, [getattr(settings, part)]))
            for part in ("train", "validation", "test")
        }
        parts = own_parts(files, read, settings, by_groups(sides[0]))
        data = classes_of(parts, sides, held_out=not files["validation"])

        def take(_: Any, logger: "logging.Logger") -> "ClassificationData":
            parts.log(logger)
            if all(map(str.isdecimal, columns.values())):
                logger.info("columns by number: the first line of a table is an example")
            return data

        self.read = take
        examples = len(parts.training)
        return resolve_own(settings, self.recipe, examples, files["train"][0], self.defaults)


def _check_labels(labels: "pd.Series", path: Path, column: str) -> None:
    """Refuses labels that no model card may hold, before anything is trained on them.

    Raises:
        ValueError: there is one; names file, column and row.
    """
    from zoo.serving.strict_json import printable, shown

    for row, label in enumerate(labels, start=1):
        if printable(label) != label:
            raise ValueError(
                f"{path}: {column} of row {row} must have no control characters, got {shown(label)}"
            )


def classes_of(parts: "OwnParts", sides: tuple[str, ...], held_out: bool) -> "ClassificationData":
    """Gives classes of the training part ids, whole numbers in order, words by alphabet.

    Raises:
        ValueError: There is only one class, or a part has one that the training part lacks.
    """
    from zoo.tasks.classification.data import ClassificationData
    from zoo.tasks.shared.class_names import sorted_classes
    from zoo.tasks.shared.own_settings import DATA

    known = {*parts.training["label"]} | ({*parts.validation["label"]} if held_out else set())
    labels = sorted_classes(known)
    if len(labels) < 2:
        raise ValueError(f"train must have two classes at least, got {', '.join(labels)}")
    frames = []
    for part, frame in zip(("train", "validation", "test"), parts[:3], strict=True):
        for number, label in enumerate(frame["label"], start=1):
            if label not in known:
                raise ValueError(
                    f"{part} must have classes of the training part, got {label!r} as the label of"
                    f" example {number}"
                )
        frames.append(frame.assign(label=frame["label"].map(labels.index)))
    train, validation, test = frames
    return ClassificationData(DATA, sides, labels, train, validation, test, parts.record)
