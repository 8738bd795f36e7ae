"""Pictures of what a model attends to."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoo.plots import answer, save_figure
from zoo.serving.servable import Servable


def draw_answer(servable: Servable, question: Mapping[str, Any], picture: Path) -> dict[str, Any]:
    """Asks a model, and draws what it attended to where there is anything to draw.

    There is nothing of a model without attention, and of an answer or a text without words.

    Args:
        servable: of the model.
        question: name of an input -> its text, or array.
        picture: PNG file to write.

    Returns:
        Its answer, one row.
    """
    inputs = {name: [value] for name, value in question.items()}
    result = servable.ask(inputs)
    lengths = [value for name, value in result.items() if name.endswith("_length")]
    attends = any(name.startswith("attention_") for name in result)
    if attends and all(length[0] for length in lengths):
        save_figure(answer(result, axes=servable.axes, inputs=inputs), picture)
    return result
