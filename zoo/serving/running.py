"""Runs a server until it is told to stop."""

import math
import socket
from typing import Any

import uvicorn

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
        timeout_seconds: How long requests may take to be answered after the server was stopped.
    """
    config = uvicorn.Config(
        app,
        http="h11",
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
