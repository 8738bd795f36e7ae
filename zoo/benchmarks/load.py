"""Server under load: correctness, latency and throughput of its answers.

``python -m zoo serve`` runs in a separate process. Each client has one connection, asks one
question after the other, and compares every answer with that of a direct call. In alternating
turns, the same model answers the same questions by direct calls in batches, which is the upper
bound of a server. Clients and server share the machine.
"""

import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

import orjson

from zoo.training.bounds import Count, Positive

if TYPE_CHECKING:
    from zoo.serving.servable import Servable

_TEXTS = 200
_WARM_UP = 3.0  # seconds of asking that are not measured
_TURNS = 3  # a machine that others use too is faster at one time than at another
_SUBJECTS = ("a dog", "two men", "a young woman", "three children", "an old man in a red coat")
_VERBS = ("runs through", "is sitting near", "looks at", "is standing in front of", "walks along")
_PLACES = ("the water", "a small house", "the grass", "a crowded street", "the yellow train")
# The output that is the answer in words, by task.
_ANSWERS = ("translation", "answer")
_NAMES = tuple(name.encode() for name in _ANSWERS)


@dataclass(frozen=True)
class ServerLoad:
    """Table of answers per second of a server with many clients, and of direct calls."""

    models: tuple[str, ...] = ("squad_dcn", "multi30k_transformer_en_de")
    """Translators and readers, measured one after the other."""
    clients: Count = 64
    """Connections, each of which asks one question at a time."""
    seconds: Positive = 60.0
    """Seconds of requests, after three to warm up; direct calls take a third as long."""

    def measure(self) -> dict[str, dict[str, float]]:
        """Returns figures by model and column.

        Raises:
            ValueError: a model is neither a translator nor a reader, or answers nothing, or there
                are no clients.
        """
        if self.clients < 1 or self.seconds <= 0:
            raise ValueError(
                f"clients and seconds must be positive, got {self.clients} and {self.seconds}"
            )
        return {name: measure_model(self, name) for name in self.models}


@dataclass
class _Told:
    """Answers that the clients got."""

    seconds: list[float] = field(default_factory=list)
    """Latency of each answer, from the request to the last byte."""
    elapsed: float = 0.0
    """Time from the first request of each turn to its last answer."""
    wrong: int = 0
    refused: int = 0
    failed: int = 0
    """Requests with another status, or without an answer."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, **counts: int) -> None:
        """Adds to the counts; thread-safe."""
        with self.lock:
            for name, count in counts.items():
                setattr(self, name, getattr(self, name) + count)


def measure_model(settings: ServerLoad, name: str) -> dict[str, float]:
    """Measures one model; returns figures by column."""
    from zoo.serving.servable import Servable

    servable = Servable(name)
    questions = make_questions(servable)
    expected = [_answer(servable, [question])[0] for question in questions]
    told, direct = _Told(), 0.0
    with serving(name) as (port, path):
        _ask_for(_WARM_UP, port, path, questions, expected, settings.clients, _Told())
        for _ in range(_TURNS):
            span = settings.seconds / _TURNS
            direct += direct_speed(servable, questions, span / 3) / _TURNS
            _ask_for(span, port, path, questions, expected, settings.clients, told)
    spans = sorted(told.seconds)
    if not spans:
        raise ValueError(
            f"models: of {name} no question was answered: {told.refused} were refused, "
            f"{told.failed} failed"
        )
    return {
        "answers/s": len(spans) / told.elapsed,
        "direct, batches of 64, answers/s": direct,
        "share of direct": len(spans) / told.elapsed / direct,
        "median, ms": 1000 * spans[len(spans) // 2],
        "99 %, ms": 1000 * spans[int(len(spans) * 0.99)],
        "answers": len(spans),
        "wrong": told.wrong,
        "refused (503)": told.refused,
        "failed": told.failed,
    }


def make_questions(servable: "Servable") -> list[dict[str, str]]:
    """Makes distinct inputs of the signature `serving_default`.

    Raises:
        ValueError: its inputs are neither a translator's nor a reader's.
    """
    generator = random.Random(0)

    def sentence() -> str:
        words = " ".join(generator.choice(part) for part in (_SUBJECTS, _VERBS, _PLACES))
        return f"{words.capitalize()}."

    inputs = set(servable.signatures["serving_default"].inputs)
    if inputs == {"text"}:
        return [{"text": f"{sentence()} {number}"} for number in range(_TEXTS)]
    if inputs == {"question", "context"}:
        contexts = [" ".join(sentence() for _ in range(15)) for _ in range(_TEXTS)]
        questions = [f"What is number {number} near the water?" for number in range(_TEXTS)]
        pairs = zip(questions, contexts, strict=True)
        return [{"question": question, "context": context} for question, context in pairs]
    raise ValueError(
        f"models must be translators or readers, got {servable.folder.name} with {sorted(inputs)}"
    )


def direct_speed(servable: "Servable", questions: list[dict[str, str]], seconds: float) -> float:
    """Measures answers per second of direct calls with 64 questions each."""
    batch = [questions[number % len(questions)] for number in range(64)]
    _answer(servable, batch)
    began, answers = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        answers += len(_answer(servable, batch))
        generator = random.Random(answers)
        batch = generator.choices(questions, k=64)
    return answers / (time.perf_counter() - began)


@contextmanager
def serving(name: str) -> Iterator[tuple[int, str]]:
    """Runs a server of one model; yields its port and the path of predictions, as it prints them.

    Raises:
        ValueError: it does not start; it prints the reason itself.
    """
    command = [sys.executable, "-m", "zoo", "serve", name, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline()
            if not address:
                raise ValueError(f"models: the server of {name} did not start")
            parts = urlsplit(address.strip())
            yield int(parts.netloc.rpartition(":")[2]), parts.path
        finally:
            server.terminate()


def _answer(servable: "Servable", questions: list[dict[str, str]]) -> list[str]:
    columns = {name: [question[name] for question in questions] for name in questions[0]}
    outputs = servable.ask(columns)
    name = next(name for name in _ANSWERS if name in outputs)
    return [one.decode() for one in outputs[name].tolist()]


def _ask_for(
    seconds: float,
    port: int,
    path: str,
    questions: list[dict[str, str]],
    expected: list[str],
    clients: int,
    told: _Told,
) -> None:
    """Runs all clients for a while; pending requests are still answered."""
    began = time.perf_counter()

    def client(seed: int) -> None:
        generator = random.Random(seed)
        while time.perf_counter() < began + seconds:
            try:
                with _Connection(port, path) as connection:
                    while time.perf_counter() < began + seconds:
                        number = generator.randrange(len(questions))
                        _ask(connection, questions[number], expected[number], told)
            except (OSError, ValueError, LookupError):  # no answer, or not HTTP
                told.add(failed=1)

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told.elapsed += time.perf_counter() - began


class _Connection:
    """Minimal HTTP/1.1 client, because clients and server share the machine."""

    def __init__(self, port: int, path: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._file = self._socket.makefile("rb")
        self._head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ".encode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._socket.close()

    def ask(self, body: bytes) -> tuple[int, dict[bytes, bytes], bytes]:
        """Returns status, lower-case headers and body of a response."""
        self._socket.sendall(b"%s%d\r\n\r\n%s" % (self._head, len(body), body))
        status = int(self._file.readline().split()[1])
        headers = {}
        while line := self._file.readline().strip():
            name, _, value = line.partition(b":")
            headers[name.lower()] = value
        return status, headers, self._file.read(int(headers[b"content-length"]))


def _ask(connection: _Connection, question: dict[str, str], expected: str, told: _Told) -> None:
    began = time.perf_counter()
    status, headers, body = connection.ask(orjson.dumps({"instances": [question]}))
    span = time.perf_counter() - began
    if status == 503:
        told.add(refused=1)
        time.sleep(float(headers[b"retry-after"]))
        return
    if status != 200:
        told.add(failed=1)
        return
    told.seconds.append(span)
    # Searched in the bytes, because parsing every answer's maps would slow the server down.
    told.add(wrong=not any(b'"%s":%s' % (name, orjson.dumps(expected)) in body for name in _NAMES))
