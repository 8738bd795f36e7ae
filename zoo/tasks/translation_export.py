"""A trained translator to a SavedModel with its card, and to a picture drawn from it."""

from collections.abc import Mapping
from pathlib import Path

import keras
import tensorflow as tf

from zoo.models.sequence_to_sequence import SequenceToSequenceModel
from zoo.plots import Heads, heads, save_figure, translation
from zoo.serving.cards import DataRecord
from zoo.serving.export import describe, export_servable
from zoo.serving.servable import Servable
from zoo.tasks.translation import search
from zoo.tasks.translation_endpoint import TranslationEndpoint
from zoo.text.codecs import TextCodec
from zoo.text.vocabulary import END, SPECIAL_WORDS, START


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


def draw_heads(
    model: SequenceToSequenceModel,
    codecs: tuple[TextCodec, TextCodec],
    text: str,
    picture: Path,
    *,
    beam_width: int = 5,
    length_penalty: float = 1.0,
) -> bool:
    """Translates a text and draws the attention of all layers and heads, where a model has it.

    A row of the target is labelled with the token that was written there, a column with the token
    that was read.

    Args:
        model: a built translator.
        codecs: of source and target.
        text: to translate.
        picture: PNG file to write.
        beam_width: of the search.
        length_penalty: likewise.

    Returns:
        Whether there was anything to draw.
    """
    kinds = {name: axes for name, axes in model.ATTENTION.items() if axes.stacked}
    strings = tf.constant([text])
    source = tf.concat([codecs[0].encode(strings).to_tensor(), [[END]]], axis=1)
    found = search(model, model.encode({"source": source}), beam_width, length_penalty)
    written = found.tokens[0, :1, : found.lengths[0, 0]]  # (1, T)
    if not kinds or not tf.size(written):
        return False
    read = tf.concat([[[START]], written[:, :-1]], axis=1)
    maps = model({"source": source, "target": read})["attention"]
    sources = [*codecs[0].tokens(strings)[0].numpy(), SPECIAL_WORDS[END]]
    targets = codecs[1].pieces(written)[0].numpy().tolist()
    queries = {"source": sources, "target": targets}
    keys = {"source": sources, "target": [SPECIAL_WORDS[START], *targets[:-1]]}
    grids = {
        name: Heads(maps[name].numpy()[0], queries[axes.queries], keys[axes.keys])
        for name, axes in kinds.items()
    }
    save_figure(heads(grids), picture)
    return True
