"""Runs a server until it is told to stop."""

import asyncio
import json
import math
import resource
import socket
from http import HTTPStatus
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_WAITING = 1024  # connections that wait to be taken up
_ENDING = 7  # seconds for requests to be answered once the server was told to stop
_LINGERING = 2.0  # seconds to read an answer that came before the request was written whole


def listen(host: str, port: int) -> socket.socket:
    """Opens an address; from then on connections wait until the server takes them up.

    Args:
        host: Name or number of an interface of this machine.
        port: 0 chooses a free one.

    Raises:
        ValueError: The address is not one of this machine, or is taken.
    """
    if not 0 <= port < 1 << 16:  # or the system takes its last 16 bits
        raise ValueError(f"port must be from 0 to 65535, got {port}")
    opened = None
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        opened = socket.socket(family, kind, protocol)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen(_WAITING)
    except OSError as error:
        if opened is not None:
            opened.close()
        raise ValueError(f"host {host!r} and port {port} cannot be listened at: {error}") from error
    return opened


def make_server(
    app: Any, *, timeout_seconds: float, maximum_connections: int = 512
) -> uvicorn.Server:
    """Makes a server; `run(sockets=[...])` serves until SIGINT, SIGTERM or `should_exit`.

    It then takes no more connections, answers the requests that it has, and ends.

    Args:
        app: An ASGI application.
        timeout_seconds: How long a connection is kept on which no request comes, or only a part of
            its head; and how long requests may take to be answered after the server was stopped,
            but for seven seconds at most.
        maximum_connections: More are answered with 503 at once, and closed; fewer where the process
            may not open as many files.
    """
    config = uvicorn.Config(
        app,
        http=_guarded(timeout_seconds, _affordable(maximum_connections)),
        ws="none",
        lifespan="on",
        # Its own configuration closes the handlers that are there, absl's of TensorFlow among them,
        # and what those write to. Without one, warnings go to standard error.
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        backlog=_WAITING,
        timeout_graceful_shutdown=min(math.ceil(timeout_seconds), _ENDING),
    )
    return uvicorn.Server(config)


def _affordable(connections: int) -> int:
    """As many connections, or as many as the process may open files for beside its own."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return connections if files == resource.RLIM_INFINITY else max(1, min(connections, files - 64))


def _guarded(seconds: float, most: int) -> type[H11Protocol]:
    """The guarded protocol with these numbers; uvicorn makes one of it for each connection."""
    return type("Guarded", (_Guarded,), {"seconds": seconds, "most": most})


class _Guarded(H11Protocol):
    """The protocol of uvicorn with an end to all that it would wait for without one.

    Attributes:
        seconds: for the head of a request to come.
        most: connections that are open.
    """

    seconds: float
    most: int
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.most:
            error = f"Too many connections: {self.most} are open"
            transport.write(_response(503, error, "Retry-After: 1\r\n"))
            transport.close()
            return
        self._close_after(self.seconds)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:  # the head is there
            self._stop_waiting()
        elif self._waiting is None:
            self._close_after(self.seconds)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:  # answered before its body came
            self._close_after(min(self.seconds, _LINGERING))

    def send_400_response(self, msg: str) -> None:
        self.transport.write(_response(400, f"Malformed request: {msg}"))
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _close_after(self, delay: float) -> None:
        self._stop_waiting()
        self._waiting = self.loop.call_later(delay, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def _response(status: int, error: str, headers: str = "") -> bytes:
    """An answer that no application makes, after which the connection is closed."""
    body = json.dumps({"error": error}).encode()
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json\r\n"
        f"X-Content-Type-Options: nosniff\r\nContent-Length: {len(body)}\r\n"
        f"Connection: close\r\n{headers}\r\n"
    )
    return head.encode() + body
