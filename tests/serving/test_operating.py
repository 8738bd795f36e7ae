"""The addresses for those who operate a server, its access log, and its start."""

import io
import json
import re
import socket
import time

import pytest
from starlette.testclient import TestClient

from tests.serving.serving_thread import PREDICT, post, received, running
from tests.serving.toy_servable import Echo
from zoo.serving.limits import Limits
from zoo.serving.metrics import Metrics
from zoo.serving.running import listen, reserve
from zoo.serving.server import make_app
from zoo.serving.watching import AccessLog

pytestmark = pytest.mark.timeout(60, method="thread")


@pytest.fixture
def log():
    return io.StringIO()


@pytest.fixture
def client(log):
    app = make_app(
        {"echo": Echo(), "other": Echo()},
        Limits(maximum_bytes=500),
        hosts=["testserver"],
        access_log=AccessLog(log),
    )
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def counts(client):
    """Series with its labels -> value, as Prometheus reads them."""
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {series: float(value) for series, _, value in (one.rpartition(" ") for one in lines)}


def lines(log):
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_models_are_listed_with_their_states(client):
    signatures = list(Echo.signatures)
    assert client.get("/v1/models").json() == {
        "models": [
            {"name": name, "version": "1", "state": "AVAILABLE", "signatures": signatures}
            for name in ("echo", "other")
        ]
    }


def test_it_tells_that_it_is_well(client):
    assert client.get("/healthz").json() == {"status": "ok", "models": 2}


@pytest.mark.parametrize("path", ["/v1/models", "/healthz", "/metrics", "/openapi.json"])
def test_operators_are_guarded_as_others_are(client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["x-content-type-options"] == "nosniff"
    foreign = (
        {"Host": "a.example"},
        {"Origin": "http://a.example"},
        {"Sec-Fetch-Site": "cross-site"},
    )
    assert [client.get(path, headers=one).status_code for one in foreign] == [400, 403, 403]
    wrong = client.post(path, json={})
    assert (wrong.status_code, wrong.json().keys()) == (405, {"error"})


def test_requests_are_counted_by_model_and_status_and_timed(client):
    for texts in (["a"], ["a", "b", "c"], [1]):
        client.post(PREDICT, json={"instances": texts})
    client.post("/v1/models/nobody:predict", json={"instances": ["a"]})
    client.get("/healthz")
    found = counts(client)
    assert found['zoo_requests_total{model="echo",status="200"}'] == 2
    assert found['zoo_requests_total{model="echo",status="400"}'] == 1
    assert found['zoo_requests_total{model="",status="404"}'] == 1  # no series of its own
    assert found['zoo_requests_total{model="",status="200"}'] == 1
    assert found['zoo_request_seconds_count{model="echo"}'] == 3
    assert 0 < found['zoo_request_seconds_sum{model="echo"}'] < 10
    assert found['zoo_request_seconds_count{model="other"}'] == 0
    assert found['zoo_batch_rows_sum{model="echo"}'] == 4
    assert found['zoo_batch_rows_bucket{le="2.0",model="echo"}'] == 1
    assert found['zoo_batch_seconds_count{model="echo"}'] == 2
    assert found['zoo_waiting_rows{model="echo"}'] == 0
    assert found['zoo_requests_in_progress{model="echo"}'] == 0
    assert found["process_resident_memory_bytes"] > 1e6
    assert not [series for series in found if "nobody" in series]


def test_refusals_are_counted_by_reason(client):
    for headers in ({"Host": "a.example"}, {"Origin": "http://a.example"}):
        client.post(PREDICT, json={"instances": ["a"]}, headers=headers)
    client.post(PREDICT, json={"instances": ["a" * 600]})
    client.post(PREDICT, content=b"{}", headers={"Content-Encoding": "br"})
    client.post(PREDICT, json={"instances": ["broken"]})
    client.get("/nothing")
    client.delete("/v1/models")
    found = counts(client)
    reasons = ("host", "origin", "too_large", "media_type", "failure", "not_found", "method")
    assert {
        re.sub(r'.*reason="(\w+)".*', r"\1", series): value
        for series, value in found.items()
        if series.startswith("zoo_refusals_total")
    } == dict.fromkeys(reasons, 1)
    assert found['zoo_requests_total{model="echo",status="500"}'] == 1


def test_what_waits_is_told_and_so_is_who_leaves():
    echo, metrics = Echo(), Metrics()
    app = make_app({"echo": echo}, metrics=metrics)
    body = json.dumps({"instances": ["a", "b"]})
    request = f"POST {PREDICT} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    waiting = 'zoo_waiting_rows{model="echo"} 2.0'
    with running(app) as (_, port):
        echo.free.clear()
        address = ("127.0.0.1", port)
        asking = [socket.create_connection(address, timeout=10) for _ in range(3)]
        for one in asking:
            one.sendall(request.encode())
        wait_for(lambda: waiting in text_of(metrics))  # of three, two are being answered
        assert 'zoo_requests_in_progress{model="echo"} 3.0' in text_of(metrics)
        for one in asking:
            one.close()
        wait_for(lambda: 'zoo_refusals_total{reason="client_gone"} 3.0' in text_of(metrics))
        echo.free.set()
    assert 'zoo_requests_in_progress{model="echo"} 0.0' in text_of(metrics)


def test_connections_that_are_refused_are_counted():
    metrics = Metrics()
    app = make_app({"echo": Echo()}, metrics=metrics)
    options = {"maximum_connections": 1, "count_refusal": metrics.count_refusal}
    with running(app, **options) as (_, port):
        address = ("127.0.0.1", port)
        with socket.create_connection(address, timeout=10) as first:
            with socket.create_connection(address, timeout=10) as second:
                assert received(second).startswith(b"HTTP/1.1 503")
            first.sendall(b"nonsense\r\n\r\n")
            assert received(first).startswith(b"HTTP/1.1 400")
    assert 'zoo_refusals_total{reason="connections"} 1.0' in text_of(metrics)
    assert 'zoo_refusals_total{reason="no_http"} 1.0' in text_of(metrics)


def text_of(metrics):
    return metrics.write(None)[0].decode()


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_request_is_a_line_of_the_log(client, log):
    answer = client.post(PREDICT, json={"instances": ["a"]})
    client.get("/v1/models/x%0a%22y?query=secret")
    client.get("/" + "z" * 5000, headers={"Host": "a.example"})
    asked, wrong, foreign = lines(log)
    assert asked["time"].endswith("+00:00")
    assert 0 < asked["seconds"] < 10
    del asked["time"], asked["seconds"]
    assert asked == {
        "client": "testclient",
        "method": "POST",
        "path": PREDICT,
        "model": "echo",
        "status": 200,
        "bytes": len(answer.content),
        "reason": "",
    }
    assert (wrong["path"], wrong["status"], wrong["model"]) == ('/v1/models/x\n"y', 404, "")
    assert (foreign["status"], foreign["reason"], len(foreign["path"])) == (400, "host", 200)


def test_every_request_is_logged_however_many_are_alike(client, log):
    for _ in range(50):
        client.get("/nothing")
    assert [one["reason"] for one in lines(log)] == ["not_found"] * 50


def test_answers_go_on_when_nobody_reads_the_log(capsys):
    class Broken(io.StringIO):
        def write(self, _):
            raise BrokenPipeError("broken")

    app = make_app({"echo": Echo()}, access_log=AccessLog(Broken()))
    with TestClient(app) as client:
        for _ in range(3):
            assert client.get("/healthz").status_code == 200
    assert capsys.readouterr().err == "the access log ends: broken\n"


def test_a_request_that_is_given_up_at_the_end_is_counted(monkeypatch):
    monkeypatch.setattr("zoo.serving.running._ENDING", 1)
    echo, log = Echo(), io.StringIO()
    with running(make_app({"echo": echo}, access_log=AccessLog(log))) as (server, port):
        echo.free.clear()
        with socket.create_connection(("127.0.0.1", port), timeout=10) as asking:
            body = b'{"inputs": ["late"]}'
            head = f"POST {PREDICT} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            asking.sendall(head.encode() + body)
            assert echo.busy.wait(20)
            server.should_exit = True
            assert received(asking).startswith(b"HTTP/1.1 503")
        echo.free.set()
    (line,) = lines(log)
    assert (line["status"], line["reason"], line["model"]) == (503, "ending", "echo")


def test_a_reserved_port_is_closed_until_it_is_listened_at():
    with reserve("127.0.0.1", 0) as port:
        with pytest.raises(ConnectionRefusedError):
            post(port, {})
        with listen("127.0.0.1", port) as opened:
            assert opened.getsockname()[1] == port
            socket.create_connection(("127.0.0.1", port), timeout=10).close()
            with pytest.raises(ValueError, match=f"port {port} cannot be listened at"):
                reserve("127.0.0.1", port).__enter__()
