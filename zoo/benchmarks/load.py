"""A server under load: whether every answer is the right one, how long it takes, and what it costs.

``python -m zoo serve`` runs in a process of its own. Clients with a connection each ask one
question after the other, and compare every answer with that of a direct call. In turns with that,
the same model answers the same questions directly, in batches, with nothing between: what a server
could reach at best. Clients and server share the machine.
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
# The output of a task that is an answer in words.
_ANSWERS = ("translation", "answer")
_NAMES = tuple(name.encode() for name in _ANSWERS)


@dataclass(frozen=True)
class ServerLoad:
    """Answers a second of a server whom many clients ask, beside those of direct calls."""

    models: tuple[str, ...] = ("squad_dcn", "multi30k_transformer_en_de")
    """Translators and readers, one after the other."""
    clients: Count = 64
    """Connections, each of which asks one question at a time."""
    seconds: Positive = 60.0
    """Of asking the server, after a warm-up of three; of direct calls a third as many."""

    def measure(self) -> dict[str, dict[str, float]]:
        """Returns model -> column -> figure.

        Raises:
            ValueError: a model is neither a translator nor a reader, or answers nothing; or there
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
    """Of each answer, from the question to the last byte."""
    elapsed: float = 0.0
    """From the first question of each turn to its last answer."""
    wrong: int = 0
    refused: int = 0
    failed: int = 0
    """Answered with another status, or not at all."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, **counts: int) -> None:
        """Adds to the counts; many threads may."""
        with self.lock:
            for name, count in counts.items():
                setattr(self, name, getattr(self, name) + count)


def measure_model(settings: ServerLoad, name: str) -> dict[str, float]:
    """Measures one model: column -> figure."""
    from zoo.serving.servable import Servable

    servable = Servable(name)
    questions = make_questions(servable)
    expected = [_answer(servable, [question])[0] for question in questions]
    told, direct = _Told(), 0.0
    with serving(name) as port:
        path = f"/v1/models/{name}:predict"
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
    """Inputs of the signature `serving_default`, all different.

    Raises:
        ValueError: it takes other inputs than a translator's or a reader's.
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
        f"models: {servable.folder.name} takes {sorted(inputs)}, expected a translator or a reader"
    )


def direct_speed(servable: "Servable", questions: list[dict[str, str]], seconds: float) -> float:
    """Answers a second of direct calls with 64 questions each."""
    batch = [questions[number % len(questions)] for number in range(64)]
    _answer(servable, batch)
    began, answers = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        answers += len(_answer(servable, batch))
        generator = random.Random(answers)
        batch = generator.choices(questions, k=64)
    return answers / (time.perf_counter() - began)


@contextmanager
def serving(name: str) -> Iterator[int]:
    """Runs a server of one model; gives its port.

    Raises:
        ValueError: it does not start; it says why itself.
    """
    command = [sys.executable, "-m", "zoo", "serve", name, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline()
            if not address:
                raise ValueError(f"models: the server of {name} did not start")
            yield int(address.split("/v1/")[0].rpartition(":")[2])
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
    """Lets all clients ask for a while; what is asked by then is still answered."""
    began = time.perf_counter()

    def client(seed: int) -> None:
        generator = random.Random(seed)
        while time.perf_counter() < began + seconds:
            try:
                with _Connection(port, path) as connection:
                    while time.perf_counter() < began + seconds:
                        number = generator.randrange(len(questions))
                        _ask(connection, questions[number], expected[number], told)
            except (OSError, ValueError, LookupError):  # no answer, or none of HTTP
                told.add(failed=1)

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told.elapsed += time.perf_counter() - began


class _Connection:
    """A client of HTTP/1.1 without anything to spare: clients and server share the machine."""

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
        """Status, headers in lower case, and body of an answer."""
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
    # Looked for in the bytes: to parse the maps of every answer would take the server's time.
    told.add(wrong=not any(b'"%s":%s' % (name, orjson.dumps(expected)) in body for name in _NAMES))
