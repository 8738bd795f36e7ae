"""Pictures of what a servable answered, one function a task, and one that finds the right one."""

from collections.abc import Callable, Mapping
from typing import Any

from matplotlib.figure import Figure

from zoo.plots.attention import alignment, reading, tape
from zoo.plots.documents import cloze
from zoo.plots.figures import pick_row


def translation(result: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws the alignment of a translation: a row a word written, a column a word read.

    Args:
        result: What a translation servable with attention answers, as NumPy arrays or tensors.
        row: Which text of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: `row` is not in the batch, or nothing was read or written.
    """
    picked, read = pick_row(result, row, "source")
    _, written = pick_row(result, row, "target")
    weights = picked["attention_alignment"][:written, :read]
    return alignment(weights, picked["target_tokens"][:written], picked["source_tokens"][:read])


def intra_attention(result: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws which words before it each word of a text was read beside, by the top layer.

    Args:
        result: What a servable answers that reads one text with a tape.
        row: Which text of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: `row` is not in the batch, or its text has no token.
    """
    picked, length = pick_row(result, row, "text")
    columns = [*range(length), -1]
    return tape(picked["attention_intra"][-1][:length, columns], picked["text_tokens"][:length])


def inter_attention(result: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws which words of the premise each word of the hypothesis was read beside.

    Args:
        result: What a servable for pairs of texts answers.
        row: Which pair of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: `row` is not in the batch, or one of its texts has no token.
    """
    picked, rows = pick_row(result, row, "hypothesis")
    _, columns = pick_row(result, row, "premise")
    weights = picked["attention_inter"][:rows, :columns]
    return alignment(
        weights, picked["hypothesis_tokens"][:rows], picked["premise_tokens"][:columns]
    )


# The output that tells the tasks apart -> what draws it.
_DRAWN_BY: dict[str, Callable[..., Figure]] = {
    "attention_context_to_question": reading,
    "attention_document": cloze,
    "attention_alignment": translation,
    "attention_inter": inter_attention,
    "attention_intra": intra_attention,
}


def answer(result: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws what a servable of any task looked at.

    Args:
        result: What its signature `serving_default` answers, as NumPy arrays or tensors.
        row: Which example of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: No attention is among the outputs, `row` is not in the batch, or there is
            nothing to draw.
    """
    for name, draw in _DRAWN_BY.items():
        if name in result:
            return draw(result, row)
    raise ValueError(
        f"result must have one of {', '.join(_DRAWN_BY)}, got {', '.join(sorted(result))}:"
        " a model without attention has no picture"
    )
