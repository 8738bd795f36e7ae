"""Large bodies and answers share what memory there is, and small ones need none of it."""

import pytest
from starlette.testclient import TestClient

from tests.serving.toy_servable import Echo
from zoo.serving.budget import Budget, BusyError
from zoo.serving.limits import Limits
from zoo.serving.server import make_app

PREDICT = "/v1/models/echo:predict"


def test_bytes_beyond_the_free_ones_are_taken_once_and_given_back():
    budget = Budget(100)
    with budget.holder(10) as first, budget.holder(10) as second:
        first.hold(60)
        first.hold(70)  # in all
        second.hold(50)
        with pytest.raises(BusyError):
            second.hold(51)
        with budget.holder(10) as small:
            small.hold(10)
    with budget.holder(0) as all_of_it:
        all_of_it.hold(100)


def test_large_ones_are_refused_for_a_while_and_small_ones_are_not():
    app = make_app({"echo": Echo()}, Limits(maximum_held_bytes=300_000))
    with TestClient(app) as client:
        large = {"instances": ["a" * 420_000], "outputs": ["answer"]}
        for _ in range(3):  # nothing is kept of what was refused
            answer = client.post(PREDICT, json=large)
            assert answer.status_code == 503
            assert answer.headers["Retry-After"] == "1"
            assert "Too many large requests" in answer.json()["error"]
        fits = {"instances": ["a" * 220_000], "outputs": ["answer"]}
        for _ in range(3):  # body and answer together, and both are given back
            assert client.post(PREDICT, json=fits).status_code == 200
        assert client.post(PREDICT, json={"instances": ["a"]}).status_code == 200
