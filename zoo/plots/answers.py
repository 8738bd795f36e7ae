"""Pictures of what a servable answered, one function a task, and one that finds the right one."""

from collections.abc import Callable, Mapping
from typing import Any

from matplotlib.figure import Figure

from zoo.plots.attention import alignment, reading, tape
from zoo.plots.documents import cloze
from zoo.plots.figures import pick_row
from zoo.plots.head_grids import Heads, heads

_START = "<s>"  # as `zoo.text.vocabulary` has it, which would load TensorFlow


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


def translation_heads(result: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws the attention of all layers and heads of a translation.

    A row of the target is labelled with the token that was written there, a column with the token
    that had been read, ``<s>`` at first.

    Args:
        result: What the signature `heads` of a translation servable answers.
        row: Which text of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: There is no such attention, `row` is not in the batch, or nothing was read or
            written.
    """
    found = [name for name in _HEADS if f"attention_{name}" in result]
    if not found:
        raise ValueError(f"result must have one of {', '.join(_HEADS)}, got {', '.join(result)}")
    picked, read = pick_row(result, row, "source")
    _, written = pick_row(result, row, "target")
    sources, targets = picked["source_tokens"][:read], picked["target_tokens"][:written]
    queries = {"source": sources, "target": targets}
    keys = {"source": sources, "target": [_START, *targets[:-1]]}
    grids = {}
    for name in found:
        query, key = _HEADS[name]
        weights = picked[f"attention_{name}"][:, :, : len(queries[query]), : len(keys[key])]
        grids[name] = Heads(weights, queries[query], keys[key])
    return heads(grids)


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


# Kind of attention -> whose tokens attend, and whose are attended to.
_HEADS = {
    "encoder": ("source", "source"),
    "decoder": ("target", "target"),
    "cross": ("target", "source"),
}
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
