"""A trained cloze reader to a SavedModel with its card, and to a picture drawn from it."""

from collections.abc import Mapping
from pathlib import Path

from zoo.plots import cloze, save_figure
from zoo.serving.cards import DataRecord
from zoo.serving.export import describe, export_servable
from zoo.serving.servable import Servable
from zoo.tasks.cloze.endpoint import ClozeEndpoint


def export_cloze(
    folder: Path,
    endpoint: ClozeEndpoint,
    *,
    data: DataRecord,
    metrics: Mapping[str, float],
    seed: int,
    seconds: float,
) -> None:
    """Writes the SavedModel, strings in and strings out, with its card.

    Args:
        folder: where to; what is there is replaced once the new one is complete.
        endpoint: the trained reader, as it is to be asked.
        data: what it was trained and measured on.
        metrics: measured on the evaluation split.
        seed: seed of the run.
        seconds: wall time of the training.
    """
    card = describe(
        endpoint.model,
        task="cloze",
        data=data,
        metrics=metrics,
        seed=seed,
        wall_time_seconds=seconds,
        limits=endpoint.limits,
        tokenizer=endpoint.get_config(),
    )
    export_servable(
        folder, endpoint.model, endpoint.endpoints(), assets=[endpoint.vocabulary], card=card
    )


def draw_cloze(folder: Path, document: str, query: str, picture: Path) -> str:
    """Asks an exported reader and draws what it attended to.

    Args:
        folder: of the SavedModel.
        document: in words.
        query: in words, the placeholder among them.
        picture: PNG file to write.

    Returns:
        The answer.
    """
    result = Servable(folder).ask({"document": [document], "query": [query]})
    save_figure(cloze(result), picture)
    answer: bytes = result["answer"][0]
    return answer.decode()
