"""Rows of values between commas without a line of names, as data sets of tables have them."""

import os
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from zoo.data.tables import shown
from zoo.text_files import read_lines


def read_cells(
    path: str | os.PathLike[str],
    columns: Sequence[str],
    target: str,
    labels: Mapping[str, str],
    comment: str = "",
) -> pd.DataFrame:
    """Reads a file whose values hold no commas; empty lines are passed over.

    Args:
        path: the file, compressed if its name ends in `.gz`.
        columns: names of all columns, in the order of the file.
        target: the one with the labels.
        labels: label in the file -> label in the frame.
        comment: lines that begin so are passed over; "": none.

    Returns:
        A column of strings for each name.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is not UTF-8 or has no row, or a line has another number of values or
            another label; names the file and the line.
    """
    rows = []
    place = list(columns).index(target)
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip() or (comment and line.startswith(comment)):
            continue
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(columns):
            raise ValueError(
                f"{path}: line {number} must have {len(columns)} values, got {len(cells)}"
            )
        if cells[place] not in labels:
            known = ", ".join(map(repr, labels))
            raise ValueError(
                f"{path}: line {number}: {target} must be one of {known}, got {shown(cells[place])}"
            )
        cells[place] = labels[cells[place]]
        rows.append(cells)
    if not rows:
        raise ValueError(f"{path} must have a row at least, got none")
    return pd.DataFrame(rows, columns=[*columns], dtype=object)


def divide(
    frame: pd.DataFrame, share: float, seed: int = 0, by: str | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Divides rows at random, the same ones on every machine.

    Args:
        frame: the rows.
        share: of the rows to hold out.
        seed: of the draw.
        by: column of classes, each of which is divided by itself; None: all rows are alike.

    Returns:
        The rows to keep and those held out, both in the order of the frame and with its index. Each
        has a row at least of every class of two, unless the share is 0 or 1.

    Raises:
        ValueError: if the share is not from 0 to 1.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must be from 0 to 1, got {share}")
    order = np.random.default_rng(seed).permutation(len(frame))
    classes = np.zeros(len(frame), int) if by is None else pd.factorize(frame[by])[0]
    shuffled = pd.Series(classes[order])
    place = shuffled.groupby(shuffled).cumcount()
    size = shuffled.map(shuffled.value_counts())
    held = np.zeros(len(frame), bool)
    count = (size * share).round()
    if 0 < share < 1:
        # A class that a part lacks is not measured, or not learned.
        count = count.where(size < 2, count.clip(1, size - 1))
    held[order] = (place < count).to_numpy()
    return frame[~held], frame[held]
