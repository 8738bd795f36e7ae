"""Rows of tables as a servable takes them: a tensor a column, by its name in tables or its own."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from zoo.pipelines.arguments import is_list, is_misleading, no_list
from zoo.pipelines.questions import Questions
from zoo.pipelines.tables import check_once, check_rows, has_encoding
from zoo.tasks.tabular.columns import (
    NumericColumn,
    RowCodec,
    all_strange,
    to_categories,
    to_finite,
)


def read_rows(
    config: Mapping[str, Any], positional: Sequence[Any], named: Mapping[str, Any]
) -> tuple[Questions, dict[str, np.ndarray]]:
    """Reads the rows of a call.

    Args:
        config: of the model's `RowCodec`, as its card has it.
        positional: one table, a DataFrame or a dict of columns or of the values of one row; or
            nothing. A value beside columns goes with every row.
        named: otherwise the columns, or the values of one row, by name.

    Returns:
        The values by input, and the arrays that the servable takes. A value that is None, NaN or
        "" is missing.

    Raises:
        ValueError: a column is missing, unknown or there twice, columns have different lengths, a
            number is none or infinite, or text is not what UTF-8 can hold; names column and row.
    """
    codec = RowCodec.from_config(config)
    if len(positional) + bool(named) != 1:
        raise ValueError(
            f"rows must be one table or columns by name, got {len(positional)} and {sorted(named)}"
        )
    given = positional[0] if positional else named
    single = False
    if not isinstance(given, pd.DataFrame):
        if not isinstance(given, Mapping):
            raise ValueError(
                f"rows must be a pandas DataFrame or a dict of columns, got {type(given).__name__}"
            )
        given, single = _listed(given)
    table = pd.DataFrame(given)
    if positional:  # may have more columns, such as the target
        kept = [name for name in table if name in {*codec.names, *codec.inputs}]
        check_once("rows", table, kept)
        table = table[kept]
    columns = _columns(codec, table)
    texts = {name: [*column] for name, column in columns.items()}
    return Questions(texts, single), columns


def _listed(given: Mapping[str, Any]) -> tuple[dict[str, list[Any]], bool]:
    """Makes columns of values and columns, and tells whether there was no column among them."""
    for name, value in given.items():
        if is_misleading(value):
            raise no_list(name, "a value or a list", value)
    columns = {name: [*value] for name, value in given.items() if is_list(value)}
    lengths = {name: len(column) for name, column in columns.items()}
    if len({*lengths.values()}) > 1:
        raise ValueError(f"columns must have the same length, got {lengths}")
    rows = next(iter(lengths.values()), 1)
    return {name: columns.get(name, [value] * rows) for name, value in given.items()}, not columns


def _columns(codec: RowCodec, table: pd.DataFrame) -> dict[str, np.ndarray]:
    columns: dict[str, np.ndarray] = {}
    used = set()
    names = _names_in({*table}, codec)
    for one in codec.columns:
        name = names[one.column]
        if name not in table:
            raise ValueError(
                f"columns must be {', '.join(codec.names)}, got {', '.join(map(str, table))}:"
                f" {one.column} is missing"
            )
        used.add(name)
        column = table[name].reset_index(drop=True)
        if isinstance(one, NumericColumn):
            if pd.api.types.is_bool_dtype(column.dtype):
                column = column.astype(object)  # to be refused: a question's `True` is a mistake
            columns[one.input] = to_finite(column).astype("float32")
        else:
            strings = to_categories(column, one.categories)
            columns[one.input] = strings.where(strings.notna(), "").to_numpy(object)
            check_rows(one.column, columns[one.input], has_encoding, "text that UTF-8 can hold")
            if strange := all_strange(strings, one.categories):
                warnings.warn(strange, stacklevel=5)
    if other := [name for name in table if name not in used]:
        raise ValueError(f"columns must be {', '.join(codec.names)}, got {other[0]} too")
    return columns


def _names_in(given: set[str], codec: RowCodec) -> dict[str, str]:
    """Finds what each column is called: by its name in tables, or by that of its input.

    The input of a column, such as a_b of "a b", may be another column's name in tables. It stands
    for its own column only where all columns are called by their inputs.
    """
    if {*codec.inputs} <= given and not {*codec.names} <= given:
        return dict(zip(codec.names, codec.inputs, strict=True))
    usable = given.intersection(codec.inputs).difference(codec.names)
    return {
        one.column: one.input if one.column not in given and one.input in usable else one.column
        for one in codec.columns
    }
