"""The picture of the LSTMN's paper: which words before it each word was read beside."""

from pathlib import Path

import tensorflow as tf

from zoo.plots import alignment, save_figure
from zoo.serving.load import load_servable

BEFORE = "(before)"
"""Label of the column of all that stands before the text."""


def draw_intra_attention(folder: Path, text: str, picture: Path) -> bool:
    """Asks a SavedModel about a text and draws the map of its top layer.

    Args:
        folder: of the SavedModel, which takes ``text`` and gives ``attention_intra``.
        text: what is read.
        picture: PNG file to write.

    Returns:
        Whether the text has a word, and so there was anything to draw.
    """
    signature = load_servable(folder).signatures["serving_default"]
    outputs = signature(text=tf.constant([text]))
    result = {name: value.numpy()[0] for name, value in outputs.items()}
    length = int(result["text_length"])
    if not length:
        return False
    tokens = result["text_tokens"][:length].tolist()
    weights = result["attention_intra"][-1][:length, [*range(length), -1]]  # (T, T + 1)
    save_figure(alignment(weights, tokens, [*tokens, BEFORE]), picture)
    return True


def draw_inter_attention(folder: Path, premise: str, hypothesis: str, picture: Path) -> bool:
    """Asks a SavedModel about a pair and draws which words of the premise the hypothesis read.

    Args:
        folder: of the SavedModel, which gives ``attention_inter``.
        premise: the first text.
        hypothesis: the second one.
        picture: PNG file to write.

    Returns:
        Whether both texts have a word, and so there was anything to draw.
    """
    signature = load_servable(folder).signatures["serving_default"]
    outputs = signature(premise=tf.constant([premise]), hypothesis=tf.constant([hypothesis]))
    result = {name: value.numpy()[0] for name, value in outputs.items()}
    sides = [
        result[f"{side}_tokens"][: result[f"{side}_length"]].tolist()
        for side in ("hypothesis", "premise")
    ]
    if not all(sides):
        return False
    weights = result["attention_inter"][: len(sides[0]), : len(sides[1])]
    save_figure(alignment(weights, *sides), picture)
    return True
