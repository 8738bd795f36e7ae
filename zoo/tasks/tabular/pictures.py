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
    """Draws the features of a row, and below those of all rows.

    The row is the first one about which the model is less sure than about half of them: where it is
    sure, nothing matters.

    Args:
        ask: the model.
        codec: of the rows.
        target: what is predicted.
        examples: the rows.
        importance: of the features for all of them.
        picture: file to write.

    Returns:
        Number of the row and the model's answer, for a log.
    """
    number = _doubtful(ask(examples.rows))
    row = examples.rows[number]
    alone = importance_of_row(ask, codec, row, typical_row(examples.rows, codec))
    told = told_answer(ask(row[None]), target)
    groups = {f"row {number + 1}": alone, f"all {len(examples.rows)} rows": importance}
    figure = importances(
        codec.names,
        {name: one.measures for name, one in groups.items()},
        correlations={name: one.correlations() for name, one in groups.items()},
        title=f"row {number + 1}: {target.column} {told}",
        note=NOTE,
    )
    save_figure(figure, picture)
    return f"row {number + 1}: {told}"


def _doubtful(answers: Answers) -> int:
    """Number of the first row of no more than middling certainty; 0 for values."""
    if answers.outputs.ndim == 1:
        return 0
    certainty = answers.outputs.max(axis=1)
    return int((certainty <= np.median(certainty)).argmax())


def told_answer(answers: Answers, target: Target) -> str:
    """Says what the model answers for one row."""
    output: Any = answers.outputs[0]
    if target.labels:
        best = int(np.argmax(output))
        return f"{target.labels[best]} ({output[best]:.2f})"
    return f"{output * target.deviation + target.mean:.4g}"
