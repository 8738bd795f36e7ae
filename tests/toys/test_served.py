"""Models that read no text, over HTTP and in pictures."""

import base64

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.contracts.subjects import build
from tests.toys.tasks import TASKS, GlimpsesTask
from zoo.models.core.registry import find_model
from zoo.plots import answer
from zoo.serving.cards import DataRecord, read_card
from zoo.serving.export import describe, export_servable
from zoo.serving.servable import Servable
from zoo.serving.server import make_app


@pytest.fixture(scope="module")
def servables(tmp_path_factory):
    """Both models by task, exported and loaded."""
    folder = tmp_path_factory.mktemp("toys")
    found = {}
    for name, task in TASKS.items():
        model = build(find_model(task.model.__name__))
        endpoints, assets = task.servable(model, folder)
        card = describe(
            model,
            task=name,
            data=DataRecord("sample", training="none", evaluation="none"),
            metrics={},
            seed=0,
            wall_time_seconds=0.0,
        )
        export_servable(folder / name, model, endpoints, assets=assets, card=card)
        found[name] = Servable(folder / name)
    return found


@pytest.fixture(scope="module")
def client(servables):
    with TestClient(make_app(servables)) as client:
        yield client


def asked(client, model, **body):
    answer = client.post(f"/v1/models/{model}:predict", json=body)
    assert answer.status_code == 200, answer.json()
    return answer.json()


def test_signatures_are_those_that_the_models_declare(servables):
    image = servables["glimpses"].signatures["serving_default"].inputs["image"]
    assert (image.dtype, image.shape) == ("float32", (None, 6, 4, 1))
    row = servables["rows"].signatures["serving_default"].inputs["row"]
    assert (row.dtype, row.shape) == ("float32", (None, 4))


def test_the_cards_tell_what_the_axes_are(servables):
    assert read_card(servables["glimpses"].folder).axes == {
        "attention_glimpses": [
            {"kind": "steps", "of": "steps"},
            {"kind": "grid", "of": "image", "cell": 2},
        ]
    }
    assert read_card(servables["rows"].folder).axes == {
        "attention_features": [
            {"kind": "slots", "count": "slots"},
            {"kind": "features", "of": "row"},
        ]
    }


@pytest.mark.parametrize("task", TASKS)
def test_numbers_are_served_row_by_row_and_by_name(servables, client, task):
    inputs = TASKS[task].strings
    expected = servables[task].ask(inputs)
    (name,) = inputs
    by_name = asked(client, task, inputs={name: inputs[name].tolist()})["outputs"]
    by_row = asked(client, task, instances=inputs[name].tolist())["predictions"]
    for output, value in expected.items():
        rows = [one[output] for one in by_row]
        if value.dtype.kind == "O":
            assert by_name[output] == rows == [label.decode() for label in value]
        else:
            np.testing.assert_allclose(by_name[output], value, rtol=1e-5)
            np.testing.assert_allclose(rows, value, rtol=1e-5)


def test_pictures_are_served_from_their_files_in_base64(servables, client):
    images = TASKS["glimpses"].strings["image"]
    expected = servables["glimpses"].ask({"image": images})
    files = [base64.b64encode(GlimpsesTask.file(image)).decode() for image in images]
    body = {"instances": [{"b64": file} for file in files], "signature_name": "encoded"}
    rows = asked(client, "glimpses", **body)["predictions"]
    for output in ("probabilities", "attention_glimpses"):
        np.testing.assert_allclose([one[output] for one in rows], expected[output], rtol=1e-5)


def test_an_image_of_another_size_is_refused(client):
    body = {"inputs": {"image": [[[[0.5]]]]}}
    answer = client.post("/v1/models/glimpses:predict", json=body)
    assert answer.status_code == 400
    assert "Input image: expecting shape [?,6,4,1] but got: [1,1,1,1]" in answer.json()["error"]


def test_both_are_drawn(servables):
    for task, panels in (("glimpses", 3), ("rows", 2)):
        servable, inputs = servables[task], TASKS[task].strings
        figure = answer(servable.ask(inputs), 1, axes=servable.axes, inputs=inputs)
        assert len(figure.axes) == panels
