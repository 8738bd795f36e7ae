"""Exports shipped models again: weights and vocabularies as they are, graphs of today's code.

A SavedModel answers as the code did that exported it. What is mended since in tokenizers, endpoints
or searches reaches it by exporting it again, which takes a minute and no training.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras

from zoo.images.encoders import restored_encoder
from zoo.serving.cards import ModelCard
from zoo.serving.codecs import load_codecs, load_labels
from zoo.serving.export import export_servable, renewed
from zoo.serving.folders import PICTURE_FILE, check_free, model_folder
from zoo.serving.load import load, load_card, load_vocabulary, resolve, resolve_or_path
from zoo.serving.weights import order_of_use, read_frozen_weights
from zoo.tasks.algorithms.endpoint import AlgorithmEndpoint
from zoo.tasks.captioning.endpoint import CaptionEndpoint
from zoo.tasks.classification.endpoint import ClassificationEndpoint
from zoo.tasks.cloze.endpoint import ClozeEndpoint
from zoo.tasks.images.endpoint import ImageEndpoint
from zoo.tasks.language_model.endpoint import LanguageModelEndpoint
from zoo.tasks.reading.endpoint import ReadingEndpoint
from zoo.tasks.stories.endpoint import StoryEndpoint
from zoo.tasks.symbols.endpoint import SymbolEndpoint
from zoo.tasks.tabular.endpoint import TabularEndpoint
from zoo.tasks.translation.endpoint import (
    BLEU_TOKENIZER,
    CONVENTION,
    DICTIONARY,
    TranslationEndpoint,
)
from zoo.text.symbols import SymbolCodec
from zoo.text.tokenizer import WordTokenizer


def export_again(name_or_path: str | Path, folder: str | Path) -> ModelCard:
    """Builds the SavedModel of a shipped model anew, from what it holds itself.

    The card keeps what it says of data, metrics and training, and has the date, the versions and
    the checksums of the new export. The picture is copied, and the files of the weights are the
    same, byte for byte, unless the signatures use other weights than before.

    Args:
        name_or_path: As in `zoo.serving.load.resolve`, or the folder of a finished run.
        folder: Where to; a SavedModel that is there is replaced as a whole, the same one too.

    Returns:
        The card as written.

    Raises:
        ValueError: No such model, one that is broken, or one that does not hold all that it was
            exported from: a task of one's own, or a cloze reader of several readings; `folder`
            holds something other than a SavedModel.
    """
    given, folder = resolve_or_path(name_or_path), Path(folder).expanduser().absolute()
    source = resolve(model_folder(given))
    card = load_card(source)
    if card.task not in ENDPOINTS:
        raise ValueError(f"{source}: task must be one of {sorted(ENDPOINTS)}, got {card.task!r}")
    check_free(folder)
    model = load(source)
    try:
        endpoint, assets = ENDPOINTS[card.task](source, card, model)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{source}: the card's limits or tokenizer do not fit: {error}") from error
    picture = given / PICTURE_FILE  # in the folder of a run, it lies beside the SavedModel
    return export_servable(
        folder,
        model,
        endpoint.endpoints(),
        assets=assets,
        order=order_of_use(source),
        picture=picture if picture.is_file() else None,
        card=renewed(card),
    )


def _limits(card: ModelCard) -> dict[str, Any]:
    """Arguments of an endpoint, which checks them itself."""
    return dict(card.limits)


def _translator(source: Path, card: ModelCard, model: keras.Model) -> tuple[Any, list[Any]]:
    if card.tokenizer.get(DICTIONARY):
        raise ValueError(
            f"{source}: must have no dictionary of unknown words: only its graphs hold the words"
        )
    names = (BLEU_TOKENIZER, CONVENTION)
    options = {name: card.tokenizer[name] for name in names if name in card.tokenizer}
    first, second = load_codecs(source)
    endpoint = TranslationEndpoint(model, first, second, **_limits(card), **options)
    return endpoint, endpoint.assets


def _reader(source: Path, card: ModelCard, model: keras.Model) -> tuple[Any, list[Any]]:
    vocabulary = load_vocabulary(source)
    tokenizer = WordTokenizer(**card.tokenizer)
    return ReadingEndpoint(model, tokenizer, vocabulary, **_limits(card)), [vocabulary]


def _cloze_reader(source: Path, card: ModelCard, model: keras.Model) -> tuple[Any, list[Any]]:
    if card.tokenizer["readings"] != 1:
        raise ValueError(
            f"{source}: readings must be 1, got {card.tokenizer['readings']}: which words it"
            " hides is not in the SavedModel"
        )
    vocabulary = load_vocabulary(source)
    slots = card.tokenizer["unknown_slots"]
    return ClozeEndpoint(model, vocabulary, slots, **_limits(card)), [vocabulary]


def _classifier(source: Path, card: ModelCard, model: keras.Model) -> tuple[Any, list[Any]]:
    (codec,), labels = load_codecs(source), load_labels(source)
    sides = ("text",) if card.task == "classification" else ("premise", "hypothesis")
    endpoint = ClassificationEndpoint(model, codec, labels, sides=sides, **_limits(card))
    return endpoint, endpoint.assets


def _language_model(source: Path, card: ModelCard, model: keras.Model) -> tuple[Any, list[Any]]:
    (codec,) = load_codecs(source)
    endpoint = LanguageModelEndpoint(model, codec, **_limits(card))
    return endpoint, endpoint.assets


def _image_classifier(source: Path, card: ModelCard, model: Any) -> tuple[Any, list[Any]]:
    endpoint = ImageEndpoint(model, load_labels(source))
    return endpoint, endpoint.assets


def _story_reader(source: Path, card: ModelCard, model: Any) -> tuple[Any, list[Any]]:
    (codec,), labels = load_codecs(source), load_labels(source)
    endpoint = StoryEndpoint(model, codec, labels, **_limits(card))
    return endpoint, endpoint.assets


def _tabular(source: Path, card: ModelCard, model: keras.Model) -> tuple[Any, list[Any]]:
    endpoint = TabularEndpoint.from_config(model, card.tokenizer)
    return endpoint, endpoint.assets


def _captioner(source: Path, card: ModelCard, model: Any) -> tuple[Any, list[Any]]:
    (codec,) = load_codecs(source)
    config = dict(card.tokenizer.get("encoder", {}))
    scale = config.pop("scale", 1.0)
    encoder = restored_encoder(config, read_frozen_weights(source)) if config else None
    endpoint = CaptionEndpoint(model, codec, encoder, scale=scale, **_limits(card))
    return endpoint, endpoint.assets


def _algorithm(source: Path, card: ModelCard, model: Any) -> tuple[Any, list[Any]]:
    endpoint = AlgorithmEndpoint(model)
    return endpoint, endpoint.assets


def _symbols(source: Path, card: ModelCard, model: Any) -> tuple[Any, list[Any]]:
    endpoint = SymbolEndpoint(model, SymbolCodec(**card.tokenizer))
    return endpoint, endpoint.assets


ENDPOINTS: dict[str, Callable[[Path, ModelCard, keras.Model], tuple[Any, list[Any]]]] = {
    "captioning": _captioner,
    "algorithms": _algorithm,
    "classification": _classifier,
    "cloze": _cloze_reader,
    "images": _image_classifier,
    "inference": _classifier,
    "language_model": _language_model,
    "reading": _reader,
    "stories": _story_reader,
    "symbols": _symbols,
    "tabular": _tabular,
    "translation": _translator,
}
