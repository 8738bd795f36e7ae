"""Weights of one row and of all rows, with what happens when features are changed beside them."""

from pathlib import Path
from typing import Any

import numpy as np

from zoo.plots import save_figure
from zoo.plots.importance import importances
from zoo.tasks.tabular.columns import RowCodec
from zoo.tasks.tabular.endpoint import Target
from zoo.tasks.tabular.examples import Answers, Asking, Rows
from zoo.tasks.tabular.importance import Importance, importance_of_row, typical_row

NOTE = "A weight is not a cause: compare it with what happens when the feature is changed."


def draw_importance(
    ask: Asking,
    codec: RowCodec,
    target: Target,
    examples: Rows,
    importance: Importance,
    picture: Path,
) -> str:
    """Draws the features of the first row, and below those of all rows.

    Args:
        ask: the model.
        codec: of the rows.
        target: what is predicted.
        examples: the rows.
        importance: of the features for all of them.
        picture: file to write.

    Returns:
        The model's answer for the first row, for a log.
    """
    row = examples.rows[0]
    alone = importance_of_row(ask, codec, row, typical_row(examples.rows, codec))
    told = told_answer(ask(row[None]), target)
    groups = {"this row": alone, f"{len(examples.rows)} rows": importance}
    figure = importances(
        codec.names,
        {name: one.measures for name, one in groups.items()},
        correlations={name: one.correlations() for name, one in groups.items()},
        title=f"{target.column}: {told}",
        note=NOTE,
    )
    save_figure(figure, picture)
    return told


def told_answer(answers: Answers, target: Target) -> str:
    """Says what the model answers for one row."""
    output: Any = answers.outputs[0]
    if target.labels:
        best = int(np.argmax(output))
        return f"{target.labels[best]} ({output[best]:.2f})"
    return f"{output * target.deviation + target.mean:.4g}"
