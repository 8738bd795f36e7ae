"""A small reader, and a toy that only splits texts, exported once for all tests of this folder."""

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.serving.reading import make_endpoint
from tests.serving.toy_servable import save_toy
from zoo.serving.cards import DataRecord, ModelCard
from zoo.serving.export import describe, export_servable
from zoo.serving.servable import Servable
from zoo.tasks.reading.endpoint import ReadingEndpoint


class Exported(NamedTuple):
    """A model and the folder it was exported to."""

    folder: Path
    endpoint: ReadingEndpoint
    card: ModelCard


def export(endpoint: ReadingEndpoint, folder: Path) -> ModelCard:
    card = describe(
        endpoint.model,
        task="reading",
        data=DataRecord("sample", training="train", evaluation="test", remarks="generated"),
        metrics={"exact_match": 12.5, "f1": 20},
        seed=7,
        wall_time_seconds=1.5,
        limits=endpoint.limits,
        tokenizer=endpoint.tokenizer.get_config(),
    )
    return export_servable(
        folder, endpoint.model, endpoint.endpoints(), assets=[endpoint.vocabulary], card=card
    )


@pytest.fixture(scope="session")
def exported(tmp_path_factory) -> Exported:
    """Exported, then moved, and the vocabulary's original file removed. Not to be written to."""
    folder = tmp_path_factory.mktemp("exported")
    endpoint = make_endpoint(folder, maximum_context_tokens=50)
    card = export(endpoint, folder / "here" / "reader")
    (folder / "vocabulary.txt").unlink()
    (folder / "models").mkdir()
    (folder / "here" / "reader").rename(folder / "models" / "tiny_reader")
    return Exported(folder / "models" / "tiny_reader", endpoint, card)


@pytest.fixture(scope="session")
def toy(tmp_path_factory) -> Servable:
    return Servable(save_toy(tmp_path_factory.mktemp("toy") / "toy"))


@pytest.fixture
def models_folder(exported, monkeypatch) -> Path:
    """$ZOO_MODELS holds the exported model, and nothing else is found."""
    monkeypatch.setenv("ZOO_MODELS", str(exported.folder.parent))
    monkeypatch.setattr("zoo.serving.load._CHECKOUT_MODELS", exported.folder / "nowhere")
    return exported.folder.parent
