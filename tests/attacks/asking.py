"""Requests over plain sockets, so that they may be as wrong, as slow or as many as one likes."""

import json
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

PATIENCE = 90.0  # seconds, after which a server has forgotten somebody


class Answer(NamedTuple):
    """An answer; status 0: the connection was closed without one."""

    status: int
    body: bytes


NONE = Answer(0, b"")


def head_of(path: str, length: int, headers: Mapping[str, str] | None = None) -> bytes:
    """The head of a POST request whose body has a length."""
    lines = {"Host": "127.0.0.1", "Content-Length": str(length), "Connection": "close"}
    lines |= headers or {}
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {path} HTTP/1.1\r\n{text}\r\n".encode()


def request_to(model: str, body: Any, headers: Mapping[str, str] | None = None) -> bytes:
    """A request whole: bytes as they are, all else as JSON."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return head_of(f"/v1/models/{model}:predict", len(body), headers) + body


def connect(port: int, address: str = "127.0.0.1") -> socket.socket:
    """Connects from an address of this machine; the system takes little in for the connection."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    connection.settimeout(PATIENCE)
    try:
        connection.bind((address, 0))
        connection.connect(("127.0.0.1", port))
    except OSError:
        connection.close()
        raise
    return connection


def exchange(port: int, request: bytes, address: str = "127.0.0.1") -> Answer:
    """Sends a request, and reads until the connection is closed."""
    with suppress(ConnectionError), connect(port, address) as connection:
        with suppress(ConnectionError):  # it may be refused before it is written
            connection.sendall(request)
        return read_answer(connection)
    return NONE


def read_answer(connection: socket.socket) -> Answer:
    """Reads until the connection is closed.

    Raises:
        AssertionError: An error is not in JSON, or lets a browser guess its type.
    """
    parts = []
    with suppress(ConnectionError):
        while part := connection.recv(1 << 20):
            parts.append(part)
    head, _, body = b"".join(parts).partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 "):
        return NONE
    status = int(head.split(b" ", 2)[1])
    assert head.lower().count(b"x-content-type-options: nosniff") == 1, head
    assert b"content-type: application/json" in head.lower(), head
    if status != 200:
        assert json.loads(body).keys() == {"error"}, body
    return Answer(status, body)


def together(count: int, ask: Callable[[int], Answer]) -> list[Answer]:
    """Asks from so many threads at once."""
    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(ask, range(count)))
