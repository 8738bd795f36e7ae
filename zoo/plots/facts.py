"""Pictures of supporting facts: a story line by line, and the weights of its sentences per hop."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from zoo.plots.colors import PAPER, WEIGHTS
from zoo.plots.figures import LONGEST_TITLE, add_title
from zoo.plots.text import as_text, drawable_text

_LINE_INCHES = 0.28
_HOP_INCHES = 0.75
_TEXT_INCHES = 4.2
_LONGEST_SENTENCE = 60  # characters
_DARK = 0.6  # of a cell whose number is written in white


def facts(result: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws a story, a sentence a line, and beside it a column of weights for each hop.

    Args:
        result: Outputs of a servable of stories, as NumPy arrays or tensors.
        row: Which example of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: `row` is not in the batch, or the story is empty.
    """
    lengths = np.asarray(result["story_length"])
    if not 0 <= row < len(lengths):
        raise ValueError(f"row must be in a batch of {len(lengths)}, got {row}")
    length = int(lengths[row])
    if not length:
        raise ValueError(f"story must have a sentence, got none in row {row}")
    weights = np.asarray(result["attention_facts"], np.float64)[row, :, :length].T  # (S, K)
    sentences = [as_text(one) for one in np.asarray(result["story_sentences"])[row, :length]]
    size = (_TEXT_INCHES + _HOP_INCHES * weights.shape[1], 1.2 + _LINE_INCHES * length)
    figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
    panel = figure.subplots()
    largest = max(float(weights.max()), 1e-9)
    panel.imshow(weights, cmap=WEIGHTS, vmin=0, vmax=largest, aspect="auto")
    names = [drawable_text(f"{n} {s}", _LONGEST_SENTENCE) for n, s in enumerate(sentences, 1)]
    panel.set_yticks(range(length), names)
    panel.set_xticks(range(weights.shape[1]), [f"hop {n + 1}" for n in range(weights.shape[1])])
    panel.xaxis.tick_top()
    panel.tick_params(length=0)
    for (line, hop), weight in np.ndenumerate(weights):
        if weight >= 0.005:
            color = "white" if weight > _DARK * largest else "black"
            panel.text(hop, line, f"{weight:.2f}", ha="center", va="center", color=color)
    add_title(figure, _said(result, row))
    return figure


def _said(result: Mapping[str, Any], row: int) -> str:
    """Makes the title: the question, the answer and its probability."""
    length = int(np.asarray(result["question_length"])[row])
    words = [as_text(one) for one in np.asarray(result["question_tokens"])[row, :length]]
    answer = as_text(np.asarray(result["answer"])[row])
    chance = float(np.max(np.asarray(result["probabilities"])[row]))
    lines = [f"{' '.join(words)}?", f"→ {answer} ({chance:.2f})"]
    return "\n".join(drawable_text(line, LONGEST_TITLE) for line in lines)
