"""The data sets of rows, as the recipe takes them."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from zoo.data import adult, known_importance, mushroom, tabular_sample
from zoo.data.choice import choose, sample_reason
from zoo.data.rows import divide
from zoo.data.tables import read_whole_table
from zoo.metrics.ranks import area_under_curve
from zoo.serving.cards import DataRecord
from zoo.serving.strict_json import printable, shown
from zoo.tasks.shared.class_names import sorted_classes
from zoo.tasks.shared.own_data import OwnParts, own_parts
from zoo.tasks.shared.own_settings import DATA
from zoo.tasks.shared.records import record_files
from zoo.tasks.tabular.columns import RowCodec, infer_columns, is_numeric, to_numbers, to_strings
from zoo.tasks.tabular.endpoint import Target
from zoo.tasks.tabular.precision import LARGEST, check_spacing
from zoo.tasks.tabular.spellings import spell_alike

Kind = Literal["auto", "classification", "regression"]

OWN_FILES = "python -m recipes.adult_features --train FILE --target COLUMN"
"""The command for tables of one's own."""
_TEST_SHARE = 0.2  # of the mushrooms
_SEED = 20160206  # of the rows held out, the same whatever seed a training has
_MOST_CLASSES = 20  # more different numbers are values


class TabularData(NamedTuple):
    """Rows of three parts, and what is predicted of them."""

    name: str
    target: Target
    features: tuple[str, ...]
    training: pd.DataFrame
    validation: pd.DataFrame
    test: pd.DataFrame
    record: DataRecord

    @property
    def known(self) -> bool:
        """Whether it is known which features are behind each target."""
        return self.name in known_importance.NAMES

    def relevant(self) -> np.ndarray:
        """Marks the features behind each target of the test part: bool (N, F)."""
        return known_importance.relevant(self.name, self.test[[*self.features]].to_numpy())

    def best_auc(self) -> float:
        """Area under the curve of the true probabilities of the test part: nobody does better."""
        x = self.test[[*self.features]].to_numpy()
        ones = (self.test[self.target.column] == self.target.labels[1]).to_numpy()
        return area_under_curve(known_importance.probability(self.name, x), ones)

    def codec(
        self, categorical: Sequence[str], minimum_count: int
    ) -> tuple[RowCodec, tuple[str, ...]]:
        """Finds scales and categories in the training part: see `infer_columns`."""
        options: dict[str, Any] = {"categorical": categorical, "minimum_count": minimum_count}
        return infer_columns(self.training, self.features, **options)


def resolve_data(name: str, data_dir: Path | None) -> str:
    """Returns what ``auto`` stands for: Adult where it lies, or the sample.

    Raises:
        FileNotFoundError: ``auto``, and the folder lacks a file; see `zoo.data.choice.choose`.
    """
    return name if name != "auto" else choose([adult.DATA_SET], data_dir, own=OWN_FILES)


def load_table(
    name: str, data_dir: Path | None, held_out: float, features: int, logger: logging.Logger
) -> TabularData:
    """Reads or generates a data set; a share of its training part is held out for validation.

    Args:
        name: ``"adult"``, ``"mushroom"``, ``"sample"`` or one of `known_importance.NAMES`.
        data_dir: folder of the data sets; None: `$ZOO_DATA`, then the Keras cache.
        held_out: share of the training part that chooses the weights.
        features: number of features of generated rows with known importance.
        logger: gets a line on what is read.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is malformed, or no row is left for a part.
    """
    if name == "sample":
        return _sample(logger)
    if name in known_importance.NAMES:
        training, test = (
            known_importance.generate(name, part, features) for part in known_importance.ROWS
        )
        known = known_importance.TARGET, known_importance.LABELS
        record = DataRecord(name, "train", "test", remarks=f"generated rows, {features} features")
        columns = tuple(str(column) for column in training if column != known[0])
    elif name == "mushroom":
        path = mushroom.find_mushroom(data_dir)
        known, columns = (mushroom.TARGET, mushroom.LABELS), mushroom.FEATURES
        frame = mushroom.read_mushroom(path)
        training, test = divide(frame, _TEST_SHARE, by=mushroom.TARGET)
        parts = f"{1 - _TEST_SHARE:.0%}", f"{_TEST_SHARE:.0%}, stratified, drawn with seed 0"
        record = record_files("Mushroom", parts, [path], mushroom.PUBLISHED, logger)
    else:
        paths = [adult.find_adult(split, data_dir) for split in adult.SPLITS]
        known, columns = (adult.TARGET, adult.LABELS), adult.FEATURES
        training, test = map(adult.read_adult, paths)
        record = record_files("Adult", ("train", "test"), paths, adult.PUBLISHED, logger)
    training, validation = divide(training, held_out, _SEED, by=known[0])
    for part, frame in (("training", training), ("validation", validation)):
        if not len(frame):
            raise ValueError(f"held_out must leave a row for each part, got {held_out}: no {part}")
    counts = len(training), len(validation), len(test)
    logger.info("%s: %d rows to train on, %d held out, %d to test on", record.name, *counts)
    return TabularData(name, Target(*known), columns, training, validation, test, record)


def _sample(logger: logging.Logger) -> TabularData:
    reason = sample_reason([adult.DATA_SET])
    logger.info("data: the generated sample%s; --data adult reads the real one", reason)
    train, dev, test = map(tabular_sample.tabular_sample, tabular_sample.SAMPLE_ROWS)
    record = DataRecord("sample", "train", "test", remarks="generated rows")
    target = Target(tabular_sample.TARGET, tabular_sample.LABELS)
    return TabularData("sample", target, tabular_sample.FEATURES, train, dev, test, record)


def own_table(files: dict[str, tuple[Path, ...]], settings: Any) -> tuple[TabularData, OwnParts]:
    """Reads tables of one's own.

    Args:
        files: part -> its one file, or none.
        settings: with the ``target``, its ``kind``, and the share ``held_out`` of the training rows
            where there is no validation file.

    Returns:
        The data, and the parts as they were read, whose `log` tells of them. The index of a part
        counts the rows of its file, from 1.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is malformed or lacks a column, or a target is missing or cannot be
            predicted; names file, column and row.
    """
    column, kind = settings.target, settings.kind

    def read(paths: Sequence[Path]) -> pd.DataFrame:
        frame = read_whole_table(paths[0])
        frame.index = pd.RangeIndex(1, len(frame) + 1)
        try:
            _check_own(frame, column, kind)
        except ValueError as error:
            raise ValueError(f"{paths[0]}: {error}") from None
        return frame

    def hold_out(frame: pd.DataFrame, held: float) -> tuple[pd.DataFrame, pd.DataFrame]:
        if not _is_class(frame[column], kind):
            return divide(frame, held, _SEED)
        labels = spell_alike(to_strings(frame[column]))  # else 1 and 1.0 are divided apart
        return divide(frame.assign(**{column: labels}), held, _SEED, by=column)

    parts = own_parts(files, read, settings, hold_out)
    frames = parts[:3]
    features = tuple(str(name) for name in frames[0] if name != column)
    for part, frame in zip(("validation", "test"), frames[1:], strict=True):
        if absent := [name for name in features if name not in frame]:
            raise ValueError(f"{part} must have the columns of train, got no {absent[0]}")
    target = _own_target(frames[0][column], frames[1][column], kind)
    record = parts.record
    return TabularData(DATA, target, features, *frames, record), parts


def _own_target(training: pd.Series, validation: pd.Series, kind: Kind) -> Target:
    """Finds the classes of both parts, or the scale of the values to train on."""
    together = pd.concat([training, validation])
    if _is_class(together, kind):
        return make_target(together, "classification")
    return make_target(training, "regression")


def _check_own(frame: pd.DataFrame, column: str, kind: Kind) -> None:
    """Checks names and targets of a table before anything is trained on them.

    Raises:
        ValueError: there is no such target, a row lacks it or has none that can be predicted, or a
            name is one that no model card may hold.
    """
    if odd := [name for name in map(str, frame) if printable(name) != name]:
        raise ValueError(f"names of columns must have no control characters, got {shown(odd[0])}")
    if column not in frame:
        raise ValueError(f"target must be one of {[*frame]}, got {column!r}")
    strings = to_strings(frame[column])
    if strings.isna().any():
        raise ValueError(f"row {strings.isna().idxmax()} must have a {column}")
    if kind == "regression" or (kind == "auto" and is_numeric(strings)):
        _finite(strings)
        return
    for row, label in strings.items():
        if printable(label) != label:
            raise ValueError(
                f"{column} of row {row} must have no control characters, got {shown(label)}"
            )


def _finite(column: pd.Series) -> np.ndarray:
    """Reads targets as numbers.

    Raises:
        ValueError: one is no number, infinite or beyond float32; names column and row.
    """
    values = to_numbers(column)
    wrong = ~(np.abs(values) <= LARGEST)
    if wrong.any():
        row = int(wrong.argmax())
        held = "" if np.isnan(values[row]) else f", at most {LARGEST:.3g} in size"
        raise ValueError(
            f"{column.name} of row {column.index[row]} must be a finite number{held}, got"
            f" {column.iloc[row]!r}"
        )
    return values


def make_target(column: pd.Series, kind: Kind) -> Target:
    """Finds the classes of a column, or the scale of its values.

    Raises:
        ValueError: there are fewer than two classes, a value is not finite or beyond float32, or
            all are equal or differ by less than float32 can tell.
    """
    if not _is_class(column, kind):
        values = _finite(column)
        if values.min() == values.max() or not np.float32(values.std()) > 0:
            raise ValueError(f"{column.name} must have different values, got {values[0]}")
        check_spacing(str(column.name), values)  # answers are float32
        return Target(str(column.name), (), float(values.mean()), float(values.std()))
    labels = sorted_classes({*spell_alike(to_strings(column))})
    if len(labels) < 2:
        raise ValueError(f"{column.name} must have two classes at least, got {', '.join(labels)}")
    return Target(str(column.name), labels)


def _is_class(column: pd.Series, kind: Kind) -> bool:
    if kind != "auto":
        return kind == "classification"
    if not is_numeric(column):
        return True
    values = np.unique(to_numbers(column))
    return len(values) <= _MOST_CLASSES and bool((values == np.round(values)).all())
