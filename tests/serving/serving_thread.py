"""A server in a thread of the test's process, and how it is asked."""

import http.client
import json
import threading
from contextlib import contextmanager

from zoo.serving.running import listen, make_server

PREDICT = "/v1/models/echo:predict"


@contextmanager
def running(app, timeout_seconds=20, **limits):
    """Serves in a thread; gives the server and its port."""
    opened = listen("127.0.0.1", 0)
    server = make_server(app, timeout_seconds=timeout_seconds, **limits)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]}, daemon=True)
    thread.start()
    try:
        yield server, opened.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(30)
        opened.close()
        assert not thread.is_alive()


def post(port, body, path=PREDICT, connection=None):
    """Status and JSON of a request."""
    connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request("POST", path, body)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read()), answer.headers


def received(connection):
    """All that comes until the other side closes."""
    parts = []
    while part := connection.recv(1000):
        parts.append(part)
    return b"".join(parts)
