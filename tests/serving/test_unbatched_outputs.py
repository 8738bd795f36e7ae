"""Outputs that are of all rows together, as SavedModels of others may have them."""

import threading

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.serving.test_openapi import agrees, schemas
from zoo.serving.batching import Batcher
from zoo.serving.servable import Signature, TensorInfo
from zoo.serving.server import make_app

PATH = "/v1/models/summary:predict"


class Summary:
    """Doubles numbers, and gives their mean and two names beside them; can be held up."""

    axes = None
    signatures = {  # noqa: RUF012
        "serving_default": Signature(
            {"numbers": TensorInfo("float32", (None,))},
            {
                "double": TensorInfo("float32", (None,)),
                "mean": TensorInfo("float32", ()),
                "names": TensorInfo("string", (2,)),
            },
        )
    }

    def __init__(self):
        self.free, self.busy = threading.Event(), threading.Event()
        self.free.set()

    def ask(self, inputs, signature="serving_default"):
        self.busy.set()
        assert self.free.wait(20)
        numbers = inputs["numbers"]
        names = np.array([b"low", b"high"], object)
        return {"double": 2 * numbers, "mean": numbers.mean(dtype="float32"), "names": names}


@pytest.fixture(scope="module")
def client():
    with TestClient(make_app({"summary": Summary()})) as client:
        yield client


def test_they_are_given_whole(client):
    answer = client.post(PATH, json={"inputs": {"numbers": [1, 2, 6]}})
    outputs = {"double": [2.0, 4.0, 12.0], "mean": 3.0, "names": ["low", "high"]}
    assert answer.json() == {"outputs": outputs}


def test_rows_have_none_of_them(client):
    answer = client.post(PATH, json={"instances": [1, 2]})
    assert answer.status_code == 400
    assert answer.json()["error"] == (
        "'instances' gives every output an axis of rows, but mean, names has none: use 'inputs'"
    )
    answer = client.post(PATH, json={"instances": [1, 2], "outputs": ["double"]})
    assert answer.json() == {"predictions": [2.0, 4.0]}


def test_they_are_described(client):
    described = client.get("/openapi.json").json()
    body = {"inputs": {"numbers": [1.0, 2.0]}}
    request, answer = schemas(described, PATH)
    assert agrees(body, request, described)
    assert agrees(client.post(PATH, json=body).json(), answer, described)
    assert not agrees({"instances": [1.0, 2.0]}, request, described)


def test_requests_that_wait_together_are_asked_alone():
    """Two rows of two requests would be taken for the two names."""
    summary = Summary()
    batcher = Batcher(summary.ask, maximum_rows=6, workers=1)
    summary.free.clear()
    batcher.submit("serving_default", {"numbers": np.zeros(1, "float32")}, alone=True)
    assert summary.busy.wait(20)
    asked = [np.array([value], "float32") for value in (1, 5)]
    waiting = [batcher.submit("serving_default", {"numbers": x}, alone=True) for x in asked]
    summary.free.set()
    answers = [one.result(20) for one in waiting]
    batcher.close()
    assert [float(answer["mean"]) for answer in answers] == [1, 5]
    assert [answer["names"].tolist() for answer in answers] == [[b"low", b"high"]] * 2


def test_they_are_not_divided():
    """A request whose rows cost much is divided, but for these outputs."""
    rows = []

    def ask(inputs, signature):
        rows.append(len(inputs["numbers"]))
        return Summary().ask(inputs, signature)

    batcher = Batcher(ask, maximum_rows=6, workers=1, maximum_cost=1.0)
    numbers = {"numbers": np.array([1, 2, 6], "float32")}
    costs = np.ones(3)
    answer = batcher.submit("serving_default", numbers, costs=costs, alone=True).result(20)
    batcher.close()
    assert (rows, float(answer["mean"])) == ([3], 3)
