"""A trained reader to a SavedModel with its card, and to a picture drawn from that SavedModel."""

from collections.abc import Mapping
from pathlib import Path

import keras

from zoo.plots import reading, save_figure
from zoo.serving.cards import DataRecord
from zoo.serving.export import describe, export_servable
from zoo.serving.servable import Servable
from zoo.tasks.reading.endpoint import ReadingEndpoint
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import Vocabulary


def export_reader(
    folder: Path,
    model: keras.Model,
    vocabulary: Vocabulary,
    *,
    data: DataRecord,
    metrics: Mapping[str, float],
    seed: int,
    seconds: float,
    maximum_answer_tokens: int,
) -> None:
    """Writes the SavedModel, strings in and strings out, with its card.

    Args:
        folder: where to; what is there is replaced once the new one is complete.
        model: the trained reader.
        vocabulary: its ids.
        data: what it was trained and measured on.
        metrics: measured on the evaluation split.
        seed: seed of the run.
        seconds: wall time of the training.
        maximum_answer_tokens: longest answer considered.
    """
    tokenizer = WordTokenizer()
    endpoint = ReadingEndpoint(
        model, tokenizer, vocabulary, maximum_answer_tokens=maximum_answer_tokens
    )
    card = describe(
        model,
        task="reading",
        data=data,
        metrics=metrics,
        seed=seed,
        wall_time_seconds=seconds,
        limits=endpoint.limits,
        tokenizer=tokenizer.get_config(),
    )
    export_servable(folder, model, endpoint.endpoints(), assets=[vocabulary], card=card)


def draw_reader(folder: Path, question: str, context: str, picture: Path) -> str:
    """Asks an exported reader and draws what it attended to.

    Args:
        folder: of the SavedModel.
        question: in words.
        context: in words.
        picture: PNG file to write.

    Returns:
        The answer.
    """
    result = Servable(folder).ask({"question": [question], "context": [context]})
    save_figure(reading(result), picture)
    answer: bytes = result["answer"][0]
    return answer.decode()
