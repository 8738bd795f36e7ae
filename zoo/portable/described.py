"""Entries of a manifest: facts about a shipped model that its runner needs besides its graphs."""

from pathlib import Path
from typing import Any

import tensorflow as tf

from zoo.images.encoders import restored_encoder
from zoo.portable.graphs import Graph
from zoo.serving.cards import ModelCard
from zoo.serving.codecs import load_labels
from zoo.serving.weights import read_frozen_weights

_KNOWN = (
    ("cloze", "readings", 1),
    ("translation", "convention", "predicted"),
    ("translation", "dictionary", False),
)
"""Task, key of its card's tokenizer, and the one value that the runner answers by."""


def describe(source: Path, card: ModelCard, model: Any) -> dict[str, Any]:
    """Describes what a model reads and answers, by its task.

    Args:
        source: Folder of the SavedModel.
        card: Its card.
        model: Its model.

    Returns:
        Entries of the manifest: `inputs`, `labels`, and what the functions in `runner/values.py`
        read.

    Raises:
        ValueError: a cloze reader of several readings, or a translator that replaces unknown words
            in another way than the runner.
    """
    for task, name, known in _KNOWN:
        if card.task == task and (given := card.tokenizer.get(name, known)) != known:
            raise ValueError(
                f"{source}: {name} must be {known} in a portable export, got {given}: the runner"
                " knows no other"
            )
    kinds = model.input_kinds()
    if card.task in ("classification", "inference"):
        return {"labels": [*load_labels(source)]}
    if card.task == "images":
        return {"labels": [*load_labels(source)], "image": [*kinds["image"].shape]}
    if card.task == "stories":
        return {"labels": [*load_labels(source)], "memory": model.get_config()["memory"]}
    if card.task == "algorithms":
        return {"inputs": ["vectors"], "dim": kinds["vectors"].dim}
    if card.task == "symbols":
        return {"symbols": dict(card.tokenizer)}
    if card.task == "tabular":
        columns = dict(card.tokenizer)
        return {"columns": columns, "labels": columns["target"]["labels"]}
    if card.task == "captioning":
        encoder = card.tokenizer.get("encoder")
        shape = [*encoder["size"], 3] if encoder else [*kinds["image"].shape]
        return {"inputs": ["image"], "image": shape}
    return {}


def annotator(source: Path, card: ModelCard, batch: int | None) -> list[Graph]:
    """Makes the graph of the network that annotates pictures for a captioner, if it has one.

    Args:
        source: Folder of the SavedModel.
        card: Its card.
        batch: Number of pictures of a call; None: any.

    Returns:
        `annotate`, from `pixels` (B, H, W, 3), from 0 to 255, to `annotations`; or nothing.
    """
    config = dict(card.tokenizer.get("encoder", {}))
    if not config:
        return []
    scale = config.pop("scale", 1.0)
    encoder = restored_encoder(config, read_frozen_weights(source))

    def annotate(pixels: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"annotations": encoder(pixels) * scale}

    pixels = tf.TensorSpec([batch, *encoder.size, 3], tf.float32, name="pixels")
    return [Graph("annotate", annotate, (pixels,))]
