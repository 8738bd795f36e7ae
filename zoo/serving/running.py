"""Runs a server until it is told to stop."""

import asyncio
import math
import socket
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_WAITING = 1024  # connections that wait to be taken up


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


def make_server(app: Any, *, timeout_seconds: float) -> uvicorn.Server:
    """Makes a server; `run(sockets=[...])` serves until SIGINT, SIGTERM or `should_exit`.

    It then takes no more connections, answers the requests that it has, and ends.

    Args:
        app: An ASGI application.
        timeout_seconds: How long requests may take to be answered after the server was stopped, and
            how long a connection is kept on which no request comes, or only a part of its head.
    """
    config = uvicorn.Config(
        app,
        http=_with_timed_heads(timeout_seconds),
        ws="none",
        lifespan="on",
        # Its own configuration closes the handlers that are there, absl's of TensorFlow among them,
        # and what those write to. Without one, warnings go to standard error.
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        backlog=_WAITING,
        timeout_graceful_shutdown=math.ceil(timeout_seconds),
    )
    return uvicorn.Server(config)


def _with_timed_heads(seconds: float) -> type[H11Protocol]:
    """The protocol of uvicorn, which itself waits forever for the end of a request's head."""

    class TimedHeads(H11Protocol):
        _waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._waiting = self.loop.call_later(seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:  # the head is there
                self._stop_waiting()
            elif self._waiting is None:
                self._waiting = self.loop.call_later(seconds, self.transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _stop_waiting(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

    return TimedHeads
