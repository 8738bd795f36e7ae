"""Runs a server until it is told to stop."""

import asyncio
import math
import os
import resource
import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from zoo.serving.connections import guarded
from zoo.serving.errors import error_response
from zoo.serving.log_limits import limited_logs

_WAITING = 1024  # connections that wait to be taken up
_AT_ONCE = 8  # connections that are taken up before the first of them can be refused
_OWN_FILES = 64  # of the process at least, and of connections that are being refused
_SPARE_FILES = 32  # beside those that the process has open already
_ENDING = 7  # seconds for requests to be answered once the server was told to stop


@contextmanager
def reserve(host: str, port: int) -> Iterator[int]:
    """Keeps an address for this process, at which nobody is answered or waits yet.

    Inside, `listen` opens it. Whoever watches the port sees it open once models are ready.

    Args:
        host: Name or number of an interface of this machine.
        port: 0 chooses a free one.

    Yields:
        The port.

    Raises:
        ValueError: The address is not one of this machine, or is taken.
    """
    with _bind(host, port) as bound:
        yield bound.getsockname()[1]


def listen(host: str, port: int) -> socket.socket:
    """Opens an address; from then on connections wait until the server takes them up.

    Args:
        host: Name or number of an interface of this machine.
        port: 0 chooses a free one.

    Raises:
        ValueError: The address is not one of this machine, or is taken.
    """
    opened = _bind(host, port)
    try:
        opened.listen(_WAITING)
    except OSError as error:
        opened.close()
        raise _unusable(host, port, error) from error
    return opened


def _bind(host: str, port: int) -> socket.socket:
    """Takes an address that nobody listens at; two of one process may, until one listens."""
    if not 0 <= port < 1 << 16:  # or the system takes its last 16 bits
        raise ValueError(f"port must be from 0 to 65535, got {port}")
    opened = None
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        opened = socket.socket(family, kind, protocol)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
    except OSError as error:
        if opened is not None:
            opened.close()
        raise _unusable(host, port, error) from error
    return opened


def _unusable(host: str, port: int, error: OSError) -> ValueError:
    return ValueError(f"host {host!r} and port {port} cannot be listened at: {error}")


def make_server(
    app: Any,
    *,
    timeout_seconds: float,
    maximum_connections: int = 512,
    maximum_connections_per_address: int = 256,
    count_refusal: Callable[[str], Any] = lambda _: None,
) -> uvicorn.Server:
    """Makes a server; `run(sockets=[...])` serves until SIGINT, SIGTERM or `should_exit`.

    It then takes no more connections, answers the requests that it has, and ends. What goes wrong
    over and over is logged a few times and counted.

    Args:
        app: An ASGI application.
        timeout_seconds: How long a connection is kept on which no request comes, or only a part of
            its head, or whose client does not read its answer; and how long requests may take to
            be answered after the server was stopped, but for seven seconds at most.
        maximum_connections: More are answered with 503 at once, and closed; fewer where the process
            may not open as many files.
        maximum_connections_per_address: The same of one client; fewer in the same measure.
        count_refusal: Is told the reason, a word, when a connection is refused or cut.
    """
    connections = affordable(maximum_connections)
    of_one = max(1, maximum_connections_per_address * connections // maximum_connections)
    config = uvicorn.Config(
        _answered_at_the_end(app),
        http=guarded(timeout_seconds, connections, of_one, count_refusal),
        ws="none",
        lifespan="on",
        # Its own configuration closes the handlers that are there, absl's of TensorFlow among them,
        # and what those write to. Without one, warnings go to standard error.
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        backlog=_AT_ONCE,
        timeout_graceful_shutdown=min(math.ceil(timeout_seconds), _ENDING),
    )
    return _Server(config)


class _Server(uvicorn.Server):
    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        with limited_logs("uvicorn.error", "asyncio"):
            await super().serve(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Lets many connections wait, of which asyncio takes up a few at a time.

        It would take up as many as may wait, without refusing one in between, until no file can be
        opened, and then log an error for each of the others.
        """
        await super().startup(sockets)
        for opened in sockets or []:
            opened.listen(_WAITING)


def affordable(connections: int) -> int:
    """As many connections, or as many as the process may open files for beside its own."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return connections
    own = max(_OWN_FILES, len(os.listdir("/dev/fd")) + _SPARE_FILES)
    return max(1, min(connections, files - own))


def _answered_at_the_end(app: Any) -> Callable[[Any, Any, Any], Coroutine[Any, Any, None]]:
    """An application whose requests are answered when they are given up, and in JSON.

    uvicorn cancels what is not answered by the end, and would say "Internal Server Error".
    """

    async def answered(scope: Any, receive: Any, send: Any) -> None:
        began = False

        async def send_noted(message: Any) -> None:
            nonlocal began
            began = True
            await send(message)

        try:
            await app(scope, receive, send_noted)
        except asyncio.CancelledError:
            if began or scope["type"] != "http":
                raise
            headers = {"Retry-After": "1", "Connection": "close"}
            ending = error_response("The server is ending", 503, headers)
            await ending(scope, receive, send)

    return answered
