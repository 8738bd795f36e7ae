"""The attacks. Each takes a server and a number of cases, and gives the answers that it got."""

import base64
import gzip
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

import numpy as np

from tests.attacks.asking import (
    NONE,
    Answer,
    connect,
    exchange,
    head_of,
    read_answer,
    request_to,
    together,
)
from tests.attacks.server import ATTACKED, Server

Run = Callable[[Server, int], list[Answer]]
PREDICT = f"/v1/models/{ATTACKED}:predict"
BODY = 3_800_000  # bytes, a little below the limit
SENTENCE = "A man in a red shirt is sleeping beside a very large brown dog. "


class Attack(NamedTuple):
    """An attack, its sizes, and the statuses that it may be answered with; 0: with none."""

    run: Run
    small: int
    whole: int
    statuses: frozenset[int]

    @property
    def name(self) -> str:
        """As it is chosen on the command line."""
        return self.run.__name__

    @property
    def description(self) -> str:
        """One line."""
        return (self.run.__doc__ or "").partition("\n")[0].rstrip(".")


ATTACKS: list[Attack] = []


def attack(small: int, whole: int, *statuses: int) -> Callable[[Run], Run]:
    """Adds an attack to the list.

    Args:
        small: Cases in the tests.
        whole: Cases for the table.
        statuses: That it may be answered with; 0: the connection is closed without an answer.
    """

    def add(run: Run) -> Run:
        ATTACKS.append(Attack(run, small, whole, frozenset(statuses)))
        return run

    return add


def beam(rows: int, characters: int) -> bytes:
    """A request for the widest beam that is allowed."""
    text = (SENTENCE * (1 + characters // len(SENTENCE)))[:characters]
    inputs = {"text": [text] * rows, "beam_width": 64, "length_penalty": 1.0}
    return request_to(ATTACKED, {"signature_name": "beam", "inputs": inputs})


def heads(rows: int, characters: int) -> bytes:
    """A request for all attention maps."""
    text = (SENTENCE * (1 + characters // len(SENTENCE)))[:characters]
    return request_to(ATTACKED, {"signature_name": "heads", "instances": [text] * rows})


@contextmanager
def held(server: Server, count: int, request: bytes) -> Iterator[list[socket.socket]]:
    """As many connections that have sent something, and read nothing."""
    with ExitStack() as stack:
        connections = []
        for _ in range(count):
            with suppress(ConnectionError):
                connections.append(stack.enter_context(connect(server.port)))
                connections[-1].sendall(request)
        yield connections


def answers_to(server: Server, count: int, request: bytes) -> list[Answer]:
    """Answers to connections that send something and wait until the server closes them."""
    with held(server, count, request) as connections:
        return [read_answer(connection) for connection in connections]


@attack(2, 32, 0)
def wide_beams_of_clients_who_leave(server: Server, cases: int) -> list[Answer]:
    """The widest searches that are allowed, whose clients leave."""
    for _ in range(cases):
        with connect(server.port) as leaving:
            leaving.sendall(beam(16, 97))
            time.sleep(0.05)
    return [NONE] * cases


@attack(2, 16, 400, 413)
def too_wide_beams(server: Server, cases: int) -> list[Answer]:
    """16 texts of 600 bytes in a beam of 64: a search of minutes."""
    return together(cases, lambda _: exchange(server.port, beam(16, 600)))


@attack(1, 8, 0, 200, 400, 413, 503, 504)
def many_long_texts(server: Server, cases: int) -> list[Answer]:
    """64 texts as long as the model reads, in the beam that it has by itself."""
    request = request_to(ATTACKED, {"instances": [SENTENCE * 20] * 64, "outputs": ["score"]})
    return together(cases, lambda _: exchange(server.port, request))


@attack(2, 8, 400, 413, 504)
def answers_that_are_too_large(server: Server, cases: int) -> list[Answer]:
    """All attention maps of 8 long texts: 5 KB in, 360 MB out."""
    return together(cases, lambda _: exchange(server.port, heads(8, 600)))


@attack(4, 32, 0, 200, 504)
def large_answers_that_nobody_reads(server: Server, cases: int) -> list[Answer]:
    """Answers of several megabytes that nobody reads."""
    before = server.files() + 2  # of those who ask innocently
    with held(server, cases, heads(1, 500)) as connections:
        deadline = time.monotonic() + 2 * server.timeout_seconds + 30  # the answers take their time
        while server.files() > before:
            assert time.monotonic() < deadline, "clients that do not read are not dropped"
            time.sleep(0.05)
        return [read_answer(connection) for connection in connections]


@attack(2, 8, 400, 413)
def large_bodies_that_are_refused(server: Server, cases: int) -> list[Answer]:
    """Bodies of 3.8 MB with a million rows, at once."""
    body = b'{"instances": [' + b'"a",' * (BODY // 4) + b'"a"]}'
    request = request_to(ATTACKED, body)
    return together(cases, lambda _: exchange(server.port, request))


@attack(16, 128, 404)
def one_byte_after_a_404(server: Server, cases: int) -> list[Answer]:
    """A model that is not there, and one byte of the body; then silence."""
    head = head_of("/v1/models/nobody:predict", 20, {"Connection": "keep-alive"})
    return answers_to(server, cases, head + b"{")


@attack(32, 128, 408)
def bodies_that_never_come(server: Server, cases: int) -> list[Answer]:
    """Announced bodies that never come."""
    return answers_to(server, cases, head_of(PREDICT, 1000))


@attack(8, 128, 408, 503)
def bodies_without_their_last_byte(server: Server, cases: int) -> list[Answer]:
    """Bodies of 3.8 MB whose last byte never comes."""
    return answers_to(server, cases, head_of(PREDICT, BODY) + b" " * (BODY - 1))


@attack(16, 128, 0)
def slow_heads(server: Server, cases: int) -> list[Answer]:
    """Heads of which a line comes now and then."""
    with held(server, cases, f"POST {PREDICT} HTTP/1.1\r\nHost: x\r\n".encode()) as connections:
        deadline = time.monotonic() + server.timeout_seconds - 1
        while time.monotonic() < deadline:
            for connection in connections:
                with suppress(ConnectionError):
                    connection.sendall(b"X-A: b\r\n")
            time.sleep(server.timeout_seconds / 10)
        return [read_answer(connection) for connection in connections]


@attack(120, 2000, 0, 200, 400, 404, 405, 413, 415)
def malformed_http(server: Server, cases: int) -> list[Answer]:
    """Raw bytes that are nearly HTTP."""
    generator = np.random.default_rng(0)
    good = request_to(ATTACKED, QUESTION)
    head = len(good) - len(json.dumps(QUESTION))
    answers = []
    for _ in range(cases):
        bad = bytearray(good)
        for place in generator.integers(0, head, generator.integers(1, 6)):
            bad[place] = generator.integers(0, 256)
        cut = generator.integers(1, head) if generator.random() < 0.2 else len(bad)
        with suppress(ConnectionError), connect(server.port) as connection:
            connection.sendall(bytes(bad[:cut]))
            connection.shutdown(socket.SHUT_WR)
            answers.append(read_answer(connection))
    return answers


QUESTION = {"instances": ["A dog."], "outputs": ["score"]}


@attack(120, 2000, 200, 400)
def malformed_json(server: Server, cases: int) -> list[Answer]:
    """JSON with a wrong byte, cut off, nested deeply, or of other types and names."""
    generator = np.random.default_rng(1)
    good = json.dumps({"signature_name": "serving_default", **QUESTION}).encode()
    kinds: list[Callable[[int], bytes]] = [
        lambda place: good[:place],
        lambda place: good[:place] + b"\xff" + good[place + 1 :],
        lambda place: good[:place] + b'"' + good[place:],
        lambda place: b"[" * place * 1000,
        lambda place: b'{"instances": [' + b"1" * place * 50 + b"]}",
        lambda place: b'{"inputs": {"text": ["a"], "text%d": ["a"]}}' % place,
        lambda place: b'{"instances": ["a"], "outputs": [%s1]}' % (b'"score",' * place),
    ]
    answers = []
    for number in range(cases):
        body = kinds[number % len(kinds)](int(generator.integers(1, len(good) - 1)))
        answers.append(exchange(server.port, request_to(ATTACKED, body)))
    return answers


@attack(24, 400, 400, 403, 415)
def requests_of_foreign_pages(server: Server, cases: int) -> list[Answer]:
    """Other hosts, origins and sites, as pages in a browser would send them."""
    kinds = [
        {"Host": "rebound.example"},
        {"Host": "127.0.0.1.example"},
        {"Origin": "http://page.example"},
        {"Origin": "null", "Content-Type": "text/plain"},
        {"Origin": "http://127.0.0.1", "Content-Type": "text/plain"},
        {"Sec-Fetch-Site": "cross-site"},
    ]
    requests = [request_to(ATTACKED, QUESTION, headers) for headers in kinds]
    return [exchange(server.port, requests[case % len(requests)]) for case in range(cases)]


@attack(4, 16, 413)
def gzip_bombs(server: Server, cases: int) -> list[Answer]:
    """300 MB of zeros in a body of 300 KB, and smaller ones."""
    bombs = [gzip.compress(bytes(megabytes * 10**6), 9) for megabytes in (10, 300)]
    headers = {"Content-Encoding": "gzip"}
    requests = [request_to(ATTACKED, bomb, headers) for bomb in bombs]
    return together(cases, lambda case: exchange(server.port, requests[case % 2]))


@attack(24, 150, 200, 503)
def more_requests_than_are_answered_at_a_time(server: Server, cases: int) -> list[Answer]:
    """Ordinary requests to one model, many at once."""
    request = request_to(ATTACKED, {"instances": [SENTENCE] * 4, "outputs": ["translation"]})
    return together(cases, lambda _: exchange(server.port, request))


@attack(300, 2000, 0, 503)
def more_connections_than_files(server: Server, cases: int) -> list[Answer]:
    """Far more connections than the server may have files."""
    with ExitStack() as stack:
        connections = []
        for _ in range(cases):
            with suppress(ConnectionError):
                connections.append(stack.enter_context(connect(server.port)))
        return [read_answer(connection) for connection in connections]


@attack(3, 12, 200, 413, 504)
def texts_of_unknown_bytes(server: Server, cases: int) -> list[Answer]:
    """Texts of 2.8 to 3.8 MB: invalid bytes, unknown characters, and one word."""
    packed = base64.b64encode(b"\xff" * (BODY * 3 // 4)).decode()
    texts = [{"b64": packed}, "龘" * (BODY // 3), "a" * BODY]
    bodies = [
        json.dumps({"instances": [text], "outputs": ["score"]}, ensure_ascii=False).encode()
        for text in texts
    ]
    requests = [request_to(ATTACKED, body) for body in bodies]
    return [exchange(server.port, requests[case % len(requests)]) for case in range(cases)]
