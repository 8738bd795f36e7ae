"""The server over HTTP: addresses, limits, a load under which every answer is checked, its end."""

import gzip
import http.client
import json
import resource
import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.serving.serving_thread import PREDICT, post, received, running
from tests.serving.toy_servable import Echo
from zoo.serving import bodies
from zoo.serving import running as server_runner
from zoo.serving.limits import Limits
from zoo.serving.response import write_response
from zoo.serving.running import listen
from zoo.serving.servable import Servable
from zoo.serving.server import make_app

# What hangs shall be noticed before the suite's limit. It hangs in a thread, for which the end of a
# test waits: only the end of the process helps.
pytestmark = pytest.mark.timeout(60, method="thread")


@pytest.fixture
def echo():
    servable = Echo()
    yield servable
    servable.free.set()


@pytest.fixture
def client(echo):
    with TestClient(make_app({"echo": echo}), raise_server_exceptions=False) as client:
        yield client


def test_both_forms_are_answered_in_kind(client):
    by_row = client.post(PREDICT, json={"instances": ["a b", {"b64": "/w=="}]})
    assert by_row.status_code == 200
    assert by_row.headers["content-type"] == "application/json"
    assert by_row.json()["predictions"] == [
        {"answer": "a b", "text_tokens": ["a", "b"], "text_length": 2},
        {"answer": {"b64": "/w=="}, "text_tokens": [{"b64": "/w=="}, ""], "text_length": 1},
    ]
    inputs = {"text": ["abc"], "beam_width": 2, "length_penalty": 0.5}
    by_name = client.post(PREDICT, json={"inputs": inputs, "signature_name": "beam"})
    assert by_name.json() == {"outputs": [[1.5, 1.5]]}


def test_the_version_may_be_named(client):
    path = "/v1/models/echo/versions/1"
    assert client.post(f"{path}:predict", json={"inputs": ["a"]}).status_code == 200
    for place in ("/v1/models/echo", path):
        assert client.get(place).json() == {
            "model_version_status": [
                {
                    "version": "1",
                    "state": "AVAILABLE",
                    "status": {"error_code": "OK", "error_message": ""},
                }
            ]
        }


def test_metadata_tells_the_signatures(client):
    told = client.get("/v1/models/echo/metadata").json()
    assert told["model_spec"] == {"name": "echo", "signature_name": "", "version": "1"}
    definitions = told["metadata"]["signature_def"]["signature_def"]
    assert definitions.keys() == Echo.signatures.keys()
    beam = definitions["beam"]
    assert beam["inputs"]["beam_width"]["dtype"] == "DT_INT32"
    assert beam["inputs"]["beam_width"]["tensor_shape"] == {"dim": [], "unknown_rank": False}
    assert beam["inputs"]["text"]["tensor_shape"]["dim"] == [{"size": "-1", "name": ""}]
    assert beam["outputs"]["score"]["dtype"] == "DT_FLOAT"
    assert beam["method_name"] == "tensorflow/serving/predict"


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("POST", "/v1/models/other:predict", 404, "Servable not found for request: Latest(other)"),
        ("GET", "/v1/models/other", 404, "Servable not found"),
        ("GET", "/v1/models/other/metadata", 404, "Servable not found"),
        ("POST", "/v1/models/echo/versions/2:predict", 404, "Specific(echo, 2)"),
        ("GET", "/v1/models/echo/versions/x", 404, "Specific(echo, x)"),
        *[(method, PREDICT, 405, f"Malformed request: {method}") for method in ("GET", "PUT")],
        ("GET", "/v1/models/echo/versions/1:predict", 405, "Malformed request: GET"),
        ("POST", "/v1/models/echo:classify", 405, "Malformed request: POST /v1/models/echo:cl"),
        ("POST", "/v1/models/echo", 405, "Malformed request: POST"),
        ("DELETE", "/v1/models/echo", 405, "Malformed request: DELETE"),
        ("GET", "/v1/model", 404, "Malformed request: GET /v1/model"),
        ("GET", "/", 404, "Malformed request: GET /"),
        ("POST", "/v1/models/..%2f..%2fecho:predict", 404, "Malformed request"),
        ("GET", "/v1/models/" + "x" * 5000, 404, "Servable not found"),
    ],
)
def test_other_addresses_are_errors(method, path, status, message, client):
    answer = client.request(method, path, content=b"{}" if method == "POST" else None)
    assert answer.status_code == status
    assert message in answer.json()["error"]
    assert len(answer.json()["error"]) < 300


def malformed(count):
    """Bodies that are no requests, of many kinds, each a little different."""
    generator = np.random.default_rng(0)
    good = json.dumps({"signature_name": "serving_default", "instances": ["a text", "é"]}).encode()
    for number in range(count):
        place = int(generator.integers(1, len(good) - 1))
        yield from (
            good[:place],  # cut off
            good + bytes([97 + number % 26]),
            b'{"instances": [%s]}' % (b"[" * (number + 1) + b"1" + b"]" * (number + 1)),
            b'{"instances": [NaN, %d]}' % number,
            b'{"instances": [%d]}' % number,
            b'{"instances": ["a", %d.5, null]}' % number,
            b'{"inputs": {"text%d": ["a"]}}' % number,
            b'{"inputs": {"text": {"a": %d}}}' % number,
            b'{"signature_name": "s%d", "inputs": ["a"]}' % number,
            b'{"signature_name": "beam", "inputs": {"text": ["a"], "length_penalty": 1,'
            b' "beam_width": %d.25}}' % number,
            bytes(generator.integers(128, 256, 20, dtype=np.uint8)),
        )


def test_malformed_requests_are_all_answered_4xx_and_leave_nothing_behind(echo):
    bodies = list(malformed(910))
    assert len(bodies) > 10_000
    held = []
    with running(make_app({"echo": echo})) as (_, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        for number, body in enumerate(bodies):
            status, told, _ = post(port, body, connection=connection)
            assert 400 <= status < 500, body
            assert told.keys() == {"error"}
            if number in (1_000, len(bodies) - 1):
                held.append(resident_megabytes())
    assert echo.asked == []
    assert held[1] < held[0] + 30


def resident_megabytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def test_errors_of_the_model_are_the_clients_or_the_servers(client):
    bad = client.post(PREDICT, json={"instances": ["bad"]})
    assert (bad.status_code, bad.json()) == (400, {"error": "text must not be bad"})
    broken = client.post(PREDICT, json={"instances": ["broken"]})
    assert (broken.status_code, broken.json()) == (500, {"error": "Internal error: KeyError"})


def test_what_is_too_large_is_refused(echo):
    limits = Limits(maximum_bytes=100, maximum_rows=3, maximum_integer=5)
    with TestClient(make_app({"echo": echo}, limits)) as client:
        assert client.post(PREDICT, json={"instances": ["a" * 100]}).status_code == 413
        parts = iter([b'{"instances": ["', b"a" * 90, b'"]}'])  # of a length not told before
        assert client.post(PREDICT, content=parts).status_code == 413
        assert client.post(PREDICT, json={"instances": ["a"] * 3}).status_code == 200
        answer = client.post(PREDICT, json={"instances": ["a"] * 4})
        assert answer.status_code == 400
        assert "Task size 4 is larger than maximum batch size 3" in answer.json()["error"]
        inputs = {"text": ["a"], "beam_width": 6, "length_penalty": 1}
        answer = client.post(PREDICT, json={"inputs": inputs, "signature_name": "beam"})
        assert answer.json() == {"error": "Input beam_width must be at most 5, got 6"}
    assert echo.asked == [3]


def gzipped(client, body, encoding="gzip"):
    """Status and JSON of a request whose body is sent as it is."""
    answer = client.post(PREDICT, content=body, headers={"Content-Encoding": encoding})
    return answer.status_code, answer.json()


def test_a_gzipped_body_is_inflated_up_to_the_limit_of_a_body(echo):
    body = json.dumps({"instances": ["a" * 500]}).encode()
    packed = gzip.compress(body)
    limits = Limits(maximum_bytes=len(body))
    with TestClient(make_app({"echo": echo}, limits), raise_server_exceptions=False) as client:
        plain = client.post(PREDICT, content=body)
        assert plain.status_code == 200
        for encoding in ("gzip", "x-gzip", "GZIP"):
            assert gzipped(client, packed, encoding) == (200, plain.json())
        assert gzipped(client, body, "identity") == (200, plain.json())
        bomb = gzip.compress(bytes(10 * 2**20))
        status, answer = gzipped(client, bomb[: len(body)])
        assert (status, "at most" in answer["error"]) == (413, True)
        status, answer = gzipped(client, body, "br")
        assert status == 415
        assert answer["error"] == "Content-Encoding must be gzip or identity, got br"
        for broken in (packed[:-1], packed + b"x", packed + packed, body):
            status, answer = gzipped(client, broken)
            assert status == 400
            assert answer["error"].startswith("Request body is not gzip, as it says it is")


def test_outputs_that_are_not_asked_for_are_left_out(client):
    def ask(**more):
        return client.post(PREDICT, json={"instances": ["a b", "c"], **more})

    everything = ask().json()["predictions"]
    assert everything[0].keys() > {"answer", "text_tokens"}
    few = ask(outputs=["text_tokens", "answer", "answer"]).json()["predictions"]
    assert few == [{name: row[name] for name in ("text_tokens", "answer")} for row in everything]
    assert ask(outputs=["answer"]).json() == {"predictions": ["a b", "c"]}
    for wrong in ("answer", [], [1], ["nothing"], ["answer", "nothing"]):
        answer = ask(outputs=wrong)
        assert answer.status_code == 400
        assert "answer, text_tokens" in answer.json()["error"]


def test_an_answer_that_is_too_large_is_refused_with_the_remedy(echo):
    app = make_app({"echo": echo}, Limits(maximum_answer_bytes=2000))
    text = "word " * 200  # 1,000 bytes once, and as many in pieces
    with TestClient(app, raise_server_exceptions=False) as client:
        answer = client.post(PREDICT, json={"instances": [text, text]})
        assert answer.status_code == 413
        assert "'outputs', a list of names" in answer.json()["error"]
        assert client.post(PREDICT, json={"instances": [text]}).status_code == 413
        few = client.post(PREDICT, json={"instances": [text], "outputs": ["answer"]})
        assert few.status_code == 200


def test_rows_are_counted_before_they_are_converted(echo):
    rows = [{"b64": "no base64!"}] * 3  # of which conversion would complain
    limits = Limits(maximum_rows=2)
    with TestClient(make_app({"echo": echo}, limits), raise_server_exceptions=False) as client:
        for body in ({"instances": rows}, {"inputs": rows}, {"inputs": {"text": rows}}):
            answer = client.post(PREDICT, json=body)
            assert answer.status_code == 400
            assert "larger than maximum batch size 2" in answer.json()["error"]


def test_a_search_that_would_take_too_long_is_refused(echo):
    def ask(rows, width, client):
        inputs = {"text": rows, "beam_width": width, "length_penalty": 1.0}
        body = {"signature_name": "beam", "inputs": inputs}
        answer = client.post(PREDICT, json=body)
        return answer.status_code, answer.json().get("error", "")

    with TestClient(make_app({"echo": echo}), raise_server_exceptions=False) as client:
        status, error = ask(["a" * 600] * 16, 64, client)
        assert status == 400
        assert error.startswith(
            "Rows x bytes of the longest x 64 must be at most 100000, got 614400:"
        )
        assert ask(["a"] * 15 + ["a" * 600], 64, client)[0] == 400  # as the others are padded
        assert ask(["a" * 60] * 16, 64, client)[0] == 200
        assert client.post(PREDICT, json={"instances": ["a" * 200_000]}).status_code == 200
    assert sum(echo.asked) == 16 + 1  # in pieces


def test_what_is_queued_for_somebody_who_has_gone_is_not_asked(echo):
    body = json.dumps({"instances": ["a"]}).encode()
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with running(make_app({"echo": echo})) as (_, port), ExitStack() as held:
        echo.free.clear()
        for _ in range(2):  # as many as are answered at a time
            echo.busy.clear()
            connection = socket.create_connection(("127.0.0.1", port), timeout=10)
            held.enter_context(connection).sendall(head + body)
            assert echo.busy.wait(10)
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as leaving:
                leaving.sendall(head + body)
                time.sleep(0.1)
        time.sleep(0.3)
        echo.free.set()
        assert post(port, {"instances": ["b"]})[0] == 200
    assert echo.asked == [1, 1, 1]


def test_the_end_comes_in_time_whatever_is_being_computed(echo, monkeypatch):
    monkeypatch.setattr(server_runner, "_ENDING", 1)
    with running(make_app({"echo": echo})) as (server, port):
        echo.free.clear()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("POST", PREDICT, json.dumps({"inputs": ["late"]}))
        assert echo.busy.wait(20)
        began = time.monotonic()
        server.should_exit = True
    assert time.monotonic() - began < 4
    echo.free.set()


def test_what_is_given_up_at_the_end_is_answered_in_json(echo, monkeypatch):
    monkeypatch.setattr(server_runner, "_ENDING", 1)
    answers = []
    with running(make_app({"echo": echo})) as (server, port):
        echo.free.clear()
        ask = threading.Thread(target=lambda: answers.append(post(port, {"inputs": ["late"]})))
        ask.start()
        assert echo.busy.wait(20)
        server.should_exit = True
        ask.join(20)
        echo.free.set()
    status, told, headers = answers[0]
    assert (status, told) == (503, {"error": "The server is ending"})
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Connection"] == "close"


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "status"),
    [
        ("POST", PREDICT, {}, b'{"inputs": ["broken"]}', 500),
        ("POST", PREDICT, {}, b'{"inputs": ["bad"]}', 400),
        ("POST", PREDICT, {"Content-Encoding": "br"}, b"{}", 415),
        ("POST", PREDICT, {"Content-Length": "99999999"}, b"", 413),
        ("POST", PREDICT, {"Host": "a.example"}, b"{}", 400),
        ("POST", PREDICT, {"Origin": "http://a.example"}, b"{}", 403),
        ("GET", "/nothing", {}, b"", 404),
        ("GET", "//v1/models/echo", {}, b"", 404),
        ("DELETE", "/v1/models/echo", {}, b"", 405),
        ("GET", "/v1/models/echo HTTP/1.1\r\nHost:", {}, b"", 400),
    ],
)
def test_every_error_is_json_and_asks_for_no_guessing(method, path, headers, body, status, echo):
    headers = {"Host": "127.0.0.1", "Content-Length": len(body), "Connection": "close"} | headers
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with connected(make_app({"echo": echo}, hosts=["127.0.0.1"])) as connection:
        connection.sendall(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        head, _, told = received(connection).lower().partition(b"\r\n\r\n")
    assert head.startswith(f"http/1.1 {status} ".encode())
    assert b"content-type: application/json" in head
    assert head.count(b"x-content-type-options: nosniff") == 1
    assert json.loads(told).keys() == {"error"}


def test_when_too_much_is_arriving_the_longest_is_given_up(echo, monkeypatch):
    monkeypatch.setattr(bodies, "_BODIES", 3)
    app = make_app({"echo": echo}, Limits(maximum_bytes=100_000))
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n".encode()
    with running(app) as (_, port), ExitStack() as held:
        arriving = []
        for _ in range(5):
            one = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            one.sendall(head + b" " * 99_990)
            arriving.append(one)
            time.sleep(0.1)
        for given_up in arriving[:2]:
            assert received(given_up).startswith(b"HTTP/1.1 408")
        assert post(port, {"instances": ["a"]})[0] == 200
        arriving[-1].sendall(b" " * 10)
        assert arriving[-1].recv(100).startswith(b"HTTP/1.1 400")  # arrived, but no JSON


@pytest.mark.parametrize("name", ["maximum_bytes", "maximum_requests", "timeout_seconds"])
def test_limits_that_let_nothing_through_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be positive, got 0"):
        Limits(**{name: 0})


def test_a_busy_server_says_so_and_an_idle_one_answers_again(echo):
    app = make_app({"echo": echo}, Limits(maximum_requests=2))
    with running(app) as (_, port):
        echo.free.clear()
        answers = []

        def ask():
            status = 503  # which the other one's question below may cause
            while status == 503:
                status, *_ = post(port, {"instances": ["a"]})
            answers.append(status)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 20
        status, told, headers = post(port, {"inputs": ["b"], "signature_name": "no"})
        while status != 503 and time.monotonic() < deadline:  # until both have arrived
            status, told, headers = post(port, {"inputs": ["b"], "signature_name": "no"})
        assert status == 503
        assert headers["Retry-After"] == "1"
        assert "Too many requests" in told["error"]
        echo.free.set()
        for thread in threads:
            thread.join(20)
        assert answers == [200, 200]
        assert post(port, {"instances": ["a"]})[0] == 200


def test_a_busy_model_is_in_no_other_models_way(echo):
    app = make_app({"echo": echo, "other": Echo()}, Limits(maximum_requests=1))
    with running(app) as (_, port):
        echo.free.clear()
        ask = threading.Thread(target=post, args=(port, {"instances": ["a"]}))
        ask.start()
        assert echo.busy.wait(20)
        assert post(port, {"instances": ["a"]})[0] == 503
        assert post(port, {"instances": ["a"]}, "/v1/models/other:predict")[0] == 200
        echo.free.set()
        ask.join(20)


def test_time_runs_out(echo):
    app = make_app({"echo": echo}, Limits(timeout_seconds=0.3))
    with running(app) as (_, port):
        echo.free.clear()
        status, told, _ = post(port, {"instances": ["a"]})
        assert (status, told["error"]) == (504, "Timed out while the answer was being computed")
        with socket.create_connection(("127.0.0.1", port), timeout=20) as slow:
            head = f"POST {PREDICT} HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n"
            slow.sendall(head.encode() + b'{"instances":')
            assert slow.recv(100).startswith(b"HTTP/1.1 408")
        echo.free.set()
        assert post(port, {"instances": ["a"]})[0] == 200


@pytest.mark.parametrize("begun", [b"", b"POST / HTTP/1.1\r\nHost"], ids=["nothing", "half"])
def test_a_connection_whose_request_does_not_begin_is_closed(begun, echo):
    with running(make_app({"echo": echo}), timeout_seconds=0.4) as (_, port):
        address = ("127.0.0.1", port)
        with socket.create_connection(address, timeout=20) as slow:
            slow.sendall(begun)
            assert slow.recv(100) == b""
        # And after a request that was answered, while an answer may take its time.
        with socket.create_connection(address, timeout=20) as slow:
            head = f"POST {PREDICT} HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n"
            echo.free.clear()
            slow.sendall(head.encode() + b'{"instances": ["a"]}')
            time.sleep(1)
            echo.free.set()
            answer = b""
            while not answer.endswith(b"]}"):
                answer += slow.recv(1000)
            assert answer.startswith(b"HTTP/1.1 200")
            slow.sendall(begun)
            slow.settimeout(4)  # less than what uvicorn itself waits for another request
            if begun:
                assert slow.recv(100) == b""


def test_what_has_been_asked_is_answered_before_the_end(echo):
    with running(make_app({"echo": echo})) as (server, port):
        echo.free.clear()
        answers = []
        thread = threading.Thread(target=lambda: answers.append(post(port, {"inputs": ["late"]})))
        thread.start()
        assert echo.busy.wait(20)
        server.should_exit = True
        time.sleep(0.3)  # for the server to notice
        echo.free.set()
        thread.join(20)
    assert answers[0][0] == 200
    assert answers[0][1]["outputs"]["answer"] == ["late"]
    with pytest.raises(OSError, match="refused"):
        post(port, {"inputs": ["too late"]})


@contextmanager
def connected(app):
    """A connection to a server of its own."""
    with running(app) as (_, port), socket.create_connection(("127.0.0.1", port), timeout=10) as it:
        yield it


def test_a_connection_that_was_answered_before_its_body_came_is_closed(echo):
    head = b"POST /v1/models/nobody:predict HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n"
    with connected(make_app({"echo": echo})) as connection:
        connection.sendall(head + b"{")
        assert received(connection).startswith(b"HTTP/1.1 404")


def test_announced_bodies_that_never_come_are_in_nobodys_way(echo):
    app = make_app({"echo": echo}, Limits(maximum_requests=1))
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n".encode()
    with running(app) as (_, port), ExitStack() as held:
        for _ in range(8):
            connection = socket.create_connection(("127.0.0.1", port), timeout=10)
            held.enter_context(connection).sendall(head)
        time.sleep(0.2)
        assert post(port, {"instances": ["a"]})[0] == 200


def test_connections_beyond_the_limit_are_refused_at_once_and_others_go_on(echo):
    with running(make_app({"echo": echo}), maximum_connections=3) as (_, port):
        address = ("127.0.0.1", port)
        with ExitStack() as held:
            for _ in range(3):
                held.enter_context(socket.create_connection(address, timeout=10))
            time.sleep(0.2)
            with socket.create_connection(address, timeout=10) as refused:
                answer = received(refused)
            assert answer.startswith(b"HTTP/1.1 503 Service Unavailable")
            error = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
            assert error.startswith("Too many connections: 3 are open")
        time.sleep(0.2)
        assert post(port, {"instances": ["a"]})[0] == 200


@pytest.mark.parametrize("nonsense", [b"\x00\x01\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"A" * 70_000])
def test_what_is_no_request_is_answered_in_json(echo, nonsense):
    with connected(make_app({"echo": echo})) as connection:
        connection.sendall(nonsense)
        head, _, body = received(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert b"Content-Type: application/json" in head
    assert json.loads(body)["error"].startswith("Malformed request: ")


def test_an_address_that_is_taken_is_an_error():
    with listen("127.0.0.1", 0) as opened:
        port = opened.getsockname()[1]
        with pytest.raises(ValueError, match=f"port {port} cannot be listened at"):
            listen("127.0.0.1", port)
    with pytest.raises(ValueError, match="port must be from 0 to 65535, got 65536"):
        listen("127.0.0.1", 1 << 16)
    with pytest.raises(ValueError, match="and port 0 cannot be listened at"):
        listen("192.0.2.1", 0)  # of no machine


CLIENTS, SECONDS = 64, 2.0


def test_under_load_every_answer_is_the_one_that_was_asked_for(toy):
    """Each client knows what each of its requests is answered when it is asked directly."""
    texts = [" ".join(["word"] * (number % 7)) + f" {number}" for number in range(200)]
    direct = {text: as_row(toy.ask({"text": [text]})) for text in texts}
    sizes: list[int] = []
    wrong: list[str] = []
    statuses: list[int] = []

    def ask(inputs, signature):
        sizes.append(len(inputs["text"]))
        return toy.ask(inputs, signature)

    def client(seed):
        generator = np.random.default_rng(seed)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        while time.monotonic() < end:
            text = texts[generator.integers(len(texts))]
            status, told, _ = post(
                port, {"instances": [text]}, "/v1/models/toy:predict", connection
            )
            statuses.append(status)
            if status == 200 and told["predictions"] != [direct[text]]:
                wrong.append((text, told))

    served = Echo()
    served.signatures, served.ask = toy.signatures, ask
    with running(make_app({"toy": served})) as (_, port):
        end = time.monotonic() + SECONDS
        threads = [threading.Thread(target=client, args=(seed,)) for seed in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert not wrong
    assert set(statuses) <= {200, 503}
    assert statuses.count(200) == sum(sizes) >= CLIENTS
    assert max(sizes) > 1  # requests did share batches


def as_row(outputs):
    return json.loads(write_response(outputs, by_row=True))["predictions"][0]


def test_a_shipped_model_answers_as_it_does_directly():
    servable = Servable("multi30k_luong_en_de")
    text = "A man in a red shirt is sleeping."
    with TestClient(make_app({"translator": servable})) as client:
        path = "/v1/models/translator:predict"
        row = client.post(path, json={"instances": [text]}).json()["predictions"][0]
        assert row == as_row(servable.ask({"text": [text]}))
        assert row["translation"] == "Ein Mann in einem roten Hemd schläft."
        inputs = {"text": [text], "beam_width": 2, "length_penalty": 1.0}
        best = client.post(path, json={"inputs": inputs, "signature_name": "beam"}).json()
        assert len(best["outputs"]["translation"][0]) == 2
        inputs["beam_width"] = 0
        answer = client.post(path, json={"inputs": inputs, "signature_name": "beam"})
        assert answer.status_code == 400
        assert "beam_width must be at least 1, got 0" in answer.json()["error"]
