"""Columns of a table as features: numbers are standardised, categories are numbered.

`RowCodec` makes rows of floats of pandas frames, and in the graph of a SavedModel of one tensor a
column. A missing value is NaN in the row, and so is a category that training did not know: the
model gives both weight 0.
"""

import dataclasses
import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import tensorflow as tf

from zoo.serving.strict_json import printable
from zoo.tasks.tabular.input_names import input_names
from zoo.tasks.tabular.numeric_texts import MISSING
from zoo.tasks.tabular.precision import LARGEST, check_size, check_spacing
from zoo.tasks.tabular.spellings import (
    all_strange,
    refuse_misspelt,
    refuse_no_text,
    spell_alike,
    spell_as,
    spell_in_graph,
    spelled,
)
from zoo.text.white_space import strip


class NumericColumn(NamedTuple):
    """A column of numbers."""

    column: str
    """Its name in tables."""
    input: str
    """Its name in signatures."""
    mean: float
    deviation: float


class CategoricalColumn(NamedTuple):
    """A column of strings."""

    column: str
    input: str
    categories: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class RowCodec:
    """Rows of features, the numeric ones first.

    Raises:
        ValueError: there is no column, or two have the same name.
    """

    numeric: tuple[NumericColumn, ...]
    categorical: tuple[CategoricalColumn, ...]

    def __post_init__(self) -> None:
        """Checks the names."""
        for kind, names in (("columns", self.names), ("inputs", self.inputs)):
            if len(set(names)) != len(names) or not names:
                raise ValueError(f"{kind} must have different names, got {list(names)}")

    @property
    def columns(self) -> list[NumericColumn | CategoricalColumn]:
        """All columns, in the order of the features."""
        found: list[NumericColumn | CategoricalColumn] = list(self.numeric)
        return found + list(self.categorical)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns in tables, in the order of the features."""
        return tuple(one.column for one in self.columns)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the columns in signatures, in the order of the features."""
        return tuple(one.input for one in self.columns)

    @property
    def sizes(self) -> dict[str, Any]:
        """Arguments of the model that reads such rows."""
        categories = tuple(len(one.categories) for one in self.categorical)
        return {"numeric": len(self.numeric), "categorical": categories}

    def get_config(self) -> dict[str, Any]:
        """Describes the columns, ready for JSON; `from_config` reads it."""
        numeric = [one._asdict() for one in self.numeric]
        categorical = [
            one._asdict() | {"categories": [*one.categories]} for one in self.categorical
        ]
        return {"class": type(self).__name__, "numeric": numeric, "categorical": categorical}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "RowCodec":
        """Reads what `get_config` gave."""
        categorical = [one | {"categories": tuple(one["categories"])} for one in _list(config)]
        return cls(
            tuple(NumericColumn(**one) for one in config["numeric"]),
            tuple(CategoricalColumn(**one) for one in categorical),
        )

    def encode(self, table: pd.DataFrame) -> np.ndarray:
        """Encodes the rows of a table: float32 (rows, F), NaN where missing, unknown or too large.

        Raises:
            ValueError: a column is missing, or has something other than a finite number; names the
                row as the table's index does.
        """
        if absent := [name for name in self.names if name not in table]:
            raise ValueError(
                f"table must have the columns {', '.join(self.names)}; {absent[0]} is missing"
            )
        columns: list[Any] = [
            (to_finite(table[one.column]) - one.mean) / one.deviation for one in self.numeric
        ]
        for category in self.categorical:
            ids = {name: float(number) for number, name in enumerate(category.categories)}
            strings = to_categories(table[category.column], category.categories)
            if strange := all_strange(strings, category.categories):
                warnings.warn(strange, stacklevel=2)
            columns.append(strings.map(ids).to_numpy("float64"))
        rows = np.stack(columns, axis=1)
        return np.where(np.abs(rows) <= LARGEST, rows, np.nan).astype("float32")

    def specs(self) -> list[tf.TensorSpec]:
        """The inputs of a signature: one tensor a column."""
        kinds = [tf.float32] * len(self.numeric) + [tf.string] * len(self.categorical)
        return [
            tf.TensorSpec([None], kind, name=name)
            for name, kind in zip(self.inputs, kinds, strict=True)
        ]

    def read(self, *columns: tf.Tensor) -> tf.Tensor:
        """Encodes columns in the graph.

        Args:
            *columns: (batch,) float32 or float64 for numbers, NaN being missing, and strings for
                categories, in the order of the features.

        Returns:
            float32 (batch, F), as `encode`.
        """
        features = []
        for one, values in zip(self.numeric, columns, strict=False):
            wide = tf.cast(values, tf.float64)  # else numbers far from zero would be rounded
            scaled = tf.cast((wide - one.mean) / one.deviation, tf.float32)
            features.append(tf.where(tf.math.is_finite(scaled), scaled, float("nan")))
        for category, names in zip(self.categorical, columns[len(self.numeric) :], strict=True):
            texts = spell_in_graph(strip(names), category.categories)
            same = texts[:, None] == tf.constant(category.categories)[None]
            ids = tf.cast(tf.argmax(same, axis=1), tf.float32)
            features.append(tf.where(tf.reduce_any(same, axis=1), ids, float("nan")))
        return tf.stack(features, axis=1)


def _list(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [dict(one) for one in config["categorical"]]


def to_numbers(column: pd.Series) -> np.ndarray:
    """Reads a column as float64; missing and infinite values become NaN.

    Raises:
        ValueError: a value is no number; names column and row, as the column's index does.
    """
    values = _numbers(column)
    return np.where(np.isfinite(values), values, np.nan)


def to_finite(column: pd.Series) -> np.ndarray:
    """Reads a column as `to_numbers`, and refuses infinite values.

    Raises:
        ValueError: a value is no number or infinite; names column and row, as the column's index
            does.
    """
    values = _numbers(column)
    wrong = np.isinf(values)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{column.name} of row {column.index[row]} must be a finite number, got"
            f" {column.iloc[row]!r}"
        )
    return values


def _numbers(column: pd.Series) -> np.ndarray:
    """Reads a column as float64, of which missing values are NaN."""
    if pd.api.types.is_complex_dtype(column.dtype):
        column = column.astype(object)  # NumPy would drop the imaginary parts
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy("float64", na_value=np.nan)
    strings = to_strings(column)
    numbers = pd.to_numeric(strings, errors="coerce").to_numpy("float64", na_value=np.nan)
    wrong = np.isnan(numbers) & strings.notna().to_numpy()
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{column.name} of row {column.index[row]} must be a number, got {strings.iloc[row]!r}"
        )
    return numbers


def to_strings(column: pd.Series) -> pd.Series:
    """Reads a column as strings without white space around them, missing where there is none."""
    texts = column.astype(object).where(column.notna(), None)
    refuse_no_text(texts)
    texts = texts.map(lambda value: None if value is None else str(value).strip())
    return texts.where(~texts.isin(MISSING), None)


def to_categories(column: pd.Series, categories: Collection[str]) -> pd.Series:
    """Reads a column as `to_strings`, numbers and truth values in the spelling of the categories.

    Those come from text, which may have ``true`` or ``True``. Where all of them are numbers,
    ``3.0`` is read as ``3``.
    """
    known = frozenset(categories)
    strings = to_strings(column.astype(object).map(lambda value: spelled(value, known)))
    return spell_as(strings, known)


def unprintable(column: pd.Series) -> list[str]:
    """Finds strings with control characters: no model card holds them, so they are no categories.

    Returns:
        The strings in their order.
    """
    return sorted(name for name in {*to_strings(column).dropna()} if printable(name) != name)


def is_numeric(column: pd.Series) -> bool:
    """Tells whether a column is one of numbers: by its type, or since all its strings are."""
    if pd.api.types.is_bool_dtype(column.dtype):
        return False
    if pd.api.types.is_numeric_dtype(column.dtype):
        return True
    strings = to_strings(column).dropna()
    return bool(len(strings)) and bool(pd.to_numeric(strings, errors="coerce").notna().all())


def infer_columns(
    table: pd.DataFrame,
    columns: Sequence[str],
    *,
    categorical: Sequence[str] = (),
    minimum_count: int = 1,
    maximum_categories: int = 1000,
) -> tuple[RowCodec, tuple[str, ...]]:
    """Finds the kind, the scale and the categories of columns in a training part.

    Args:
        table: the training part.
        columns: names of the features.
        categorical: those that are categories although all their values are numbers.
        minimum_count: categories with fewer rows are not known.
        maximum_categories: how many of the most frequent categories of a column are known.

    Returns:
        The codec, and the names of columns that say nothing: those of one value, and those without
        a category that is frequent enough.

    Raises:
        ValueError: a name is that of no column, nothing is left, numbers are infinite, beyond
            float32 or differ by less than it can tell, or nearly all values of a column are numbers
            and some are not.
    """
    if other := [name for name in categorical if name not in columns]:
        raise ValueError(f"categorical must be names of {list(columns)}, got {other[0]!r}")
    inputs = dict(zip(columns, input_names(columns), strict=True))
    numbers: list[NumericColumn] = []
    strings: list[CategoricalColumn] = []
    left_out = []
    for name in columns:
        found: NumericColumn | CategoricalColumn | None
        if name not in categorical and is_numeric(table[name]):
            found = _numeric_column(name, inputs[name], to_finite(table[name]))
        else:
            texts = spell_alike(to_strings(table[name]))
            if name not in categorical:
                refuse_misspelt(texts)
            found = _categorical_column(inputs[name], texts, minimum_count, maximum_categories)
        if isinstance(found, NumericColumn):
            numbers.append(found)
        elif found is not None:
            strings.append(found)
        else:
            left_out.append(name)
    if not numbers and not strings:
        raise ValueError(f"columns must have one with different values, got {list(columns)}")
    return RowCodec(tuple(numbers), tuple(strings)), tuple(left_out)


def _numeric_column(name: str, own_input: str, values: np.ndarray) -> NumericColumn | None:
    """Finds the scale of a column; None: all its values are the same."""
    known = values[~np.isnan(values)]
    if not len(known) or known.min() == known.max():  # whose deviation may round to more than 0
        return None
    check_size(name, known)
    check_spacing(name, known)
    return NumericColumn(name, own_input, float(known.mean()), float(known.std()))


def _categorical_column(
    own_input: str, strings: pd.Series, minimum_count: int, maximum: int
) -> CategoricalColumn | None:
    """Finds the categories of a column; None: they do not tell rows apart."""
    counts = strings.value_counts()
    frequent = counts[counts >= minimum_count].index[:maximum]
    known = tuple(sorted(name for name in frequent if printable(name) == name))
    # One known category tells rows with it from the others.
    if len(known) > 1 or 0 < counts[[*known]].sum() < len(strings):
        return CategoricalColumn(str(strings.name), own_input, known)
    return None


def as_texts(table: pd.DataFrame, codec: RowCodec) -> dict[str, str]:
    """Returns the first row as the signature of strings takes it: input -> text, "" if missing."""
    first = table.head(1)
    texts = {one.input: to_strings(first[one.column]).iloc[0] for one in codec.numeric}
    for one in codec.categorical:
        texts[one.input] = to_categories(first[one.column], one.categories).iloc[0]
    return {name: "" if pd.isna(text) else str(text) for name, text in texts.items()}
