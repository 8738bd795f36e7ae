"""A trained translator to a SavedModel with its card, and to a picture drawn from it."""

from collections.abc import Mapping
from pathlib import Path

import keras

from zoo.plots import save_figure, translation, translation_heads
from zoo.serving.cards import DataRecord
from zoo.serving.export import describe, export_servable
from zoo.serving.servable import Servable
from zoo.tasks.translation.endpoint import TranslationEndpoint
from zoo.text.codecs import TextCodec


def export_translator(
    folder: Path,
    model: keras.Model,
    codecs: tuple[TextCodec, TextCodec],
    *,
    data: DataRecord,
    metrics: Mapping[str, float],
    seed: int,
    seconds: float,
    beam_width: int,
    length_penalty: float,
) -> None:
    """Writes the SavedModel, strings in and strings out, with its card.

    Args:
        folder: where to; what is there is replaced once the new one is complete.
        model: the trained translator.
        codecs: of source and target.
        data: what it was trained and measured on.
        metrics: measured on the evaluation split.
        seed: seed of the run.
        seconds: wall time of the training.
        beam_width: of the default search.
        length_penalty: likewise.
    """
    endpoint = TranslationEndpoint(
        model, *codecs, beam_width=beam_width, length_penalty=length_penalty
    )
    card = describe(
        model,
        task="translation",
        data=data,
        metrics=metrics,
        seed=seed,
        wall_time_seconds=seconds,
        limits=endpoint.limits,
        tokenizer={
            side: {"class": type(codec).__name__, **codec.get_config()}
            for side, codec in zip(("source", "target"), codecs, strict=True)
        },
    )
    export_servable(folder, model, endpoint.endpoints(), assets=endpoint.assets, card=card)


def draw_translation(folder: Path, text: str, picture: Path) -> str:
    """Asks an exported translator, and draws the alignment where the model has one.

    Args:
        folder: of the SavedModel.
        text: to translate.
        picture: PNG file to write.

    Returns:
        The translation.
    """
    result = Servable(folder).ask({"text": [text]})
    if "attention_alignment" in result and result["target_length"][0] > 0:
        save_figure(translation(result), picture)
    translated: bytes = result["translation"][0]
    return translated.decode()


def draw_heads(folder: Path, text: str, picture: Path) -> bool:
    """Draws the attention of all layers and heads, where an exported translator gives it.

    Args:
        folder: of the SavedModel.
        text: to translate.
        picture: PNG file to write.

    Returns:
        Whether there was anything to draw.
    """
    servable = Servable(folder)
    if "heads" not in servable.signatures:
        return False
    result = servable.ask({"text": [text]}, "heads")
    if not (result["source_length"][0] and result["target_length"][0]):
        return False
    save_figure(translation_heads(result), picture)
    return True
